"""The full-text leg where words are common: searched for beside others, and it says so.

The constant is lowered for most of these tests: what it counts is the same.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

import pytest

from prism_memory.models import Record
from prism_memory.recall.candidates.places import forget_sizes
from prism_memory.types import Entry, Kind, Lineage, Scope
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    remember,
)
from tests.recall.bulk import analyze
from tests.recall.worded import (
    HERE,
    STRANGERS,
    common_beyond,
    count_of,
    recall_plan,
    say,
    texts,
)

pytestmark = pytest.mark.django_db

LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
LATER = LONG_AGO + dt.timedelta(days=1)


@pytest.fixture
def few() -> Iterator[None]:
    """A word in more than 20 rows is common."""
    with common_beyond(20):
        yield


@pytest.fixture
def many() -> Iterator[None]:
    """A word in more than 150 rows is common: more than any leg gives."""
    with common_beyond(150):
        yield


@pytest.mark.parametrize(("rows", "bounded"), [(1_000, False), (1_001, True)])
def test_a_word_in_more_than_1_000_rows_is_common(rows: int, *, bounded: bool) -> None:
    """A cap that is reached is told."""
    say({"delta": rows})

    found = make_memory().recall("delta", 32, legs="text")

    assert len(found) == 32
    assert found.bounded is bounded
    assert make_memory().recall("delta", 32, legs="text").bounded is bounded


@pytest.mark.usefixtures("few")
def test_an_answer_is_bounded_by_its_own_words_alone() -> None:
    """Also once it is known that others are common."""
    say({"delta": 60, "zulu": 5})

    assert make_memory().recall("delta", legs="text").bounded
    assert not make_memory().recall("zulu", legs="text").bounded
    assert make_memory().recall("zulu delta", legs="text").bounded
    assert not make_memory().recall("delta", legs="vector").bounded
    assert make_memory().recall("delta").bounded


@pytest.mark.usefixtures("few")
def test_all_rows_of_the_rare_words_are_found_and_come_first() -> None:
    say({"delta": 200, "zulu": 20})

    found = make_memory().recall("delta zulu", 32, legs="text")

    assert len(found) == 32
    assert all(text.startswith("zulu") for text in texts(found)[:20])
    assert all(text.startswith("delta") for text in texts(found)[20:])


@pytest.mark.usefixtures("few")
def test_a_rare_word_beside_a_common_one_counts_both() -> None:
    say({"echo": 200, "delta": 200, "zulu": 10, "zulu delta": 4})

    found = make_memory().recall("delta zulu", 14, legs="text")

    assert all(text.startswith("zulu delta") for text in texts(found)[:4])
    assert all(text.startswith("zulu ") for text in texts(found)[4:])


@pytest.mark.usefixtures("few")
def test_rows_of_two_common_words_come_before_those_of_one() -> None:
    """However few they are among thousands."""
    say({"delta": 1_500, "echo": 1_500, "echo and delta": 3})

    found = make_memory().recall("delta echo", 20, legs="text")

    assert found.bounded
    assert {text.rsplit(" ", 1)[0] for text in texts(found)[:3]} == {"echo and delta"}
    assert len(found) == 20


@pytest.mark.usefixtures("few")
def test_a_question_of_common_words_alone_has_all_their_pairs() -> None:
    words = ["bravo", "delta", "echo", "kilo"]
    say({**dict.fromkeys(words, 60), "kilo echo": 2, "delta bravo kilo": 2})

    found = make_memory().recall(" ".join(words), 10, legs="text")

    assert [text.rsplit(" ", 1)[0] for text in texts(found)[:4]] == [
        *["delta bravo kilo"] * 2,
        *["kilo echo"] * 2,
    ]


@pytest.mark.usefixtures("many")
def test_of_a_common_word_the_rows_that_say_it_most_are_taken() -> None:
    """Of those looked at, which are more than a leg gives."""
    say({"delta delta": 50, "delta": 250})

    found = make_memory().recall("delta", 5, legs="text")

    assert found.bounded
    assert all(text.startswith("delta delta") for text in texts(found))


@pytest.mark.usefixtures("few")
def test_the_common_word_that_fewer_rows_hold_weighs_more() -> None:
    """Estimated from the newest; both are beyond what is counted."""
    say({"delta": 900, "echo": 60})

    found = make_memory().recall("delta echo", 20, legs="text")

    assert all(text.startswith("echo") for text in texts(found))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("question", ["delta", "delta zulu", "delta echo", "zulu"])
def test_the_same_question_has_the_same_answer(question: str) -> None:
    """Scores and order, also from a process that knows nothing yet."""
    say({"delta": 200, "echo": 200, "zulu": 7, "zulu delta": 3})
    first = make_memory().recall(question, 32, legs="text")

    for _ in range(3):
        assert make_memory().recall(question, 32, legs="text").hits == first.hits
    forget_sizes()
    assert make_memory().recall(question, 32, legs="text").hits == first.hits


@pytest.mark.usefixtures("few")
def test_it_is_learnt_by_one_statement_more_and_once() -> None:
    """B128: also where a question of rare words comes between."""
    say({"delta": 60, "zulu": 3})
    memory = make_memory()

    assert count_of(lambda: memory.recall("delta")) == 2
    assert count_of(lambda: memory.recall("delta")) == 1
    assert count_of(lambda: memory.recall("zulu", legs="text")) == 1
    assert count_of(lambda: memory.recall("delta zulu", legs="text")) == 1
    assert count_of(lambda: memory.recall("delta", kinds=[Kind.NOTE])) == 1
    assert count_of(lambda: memory.recall("delta")) == 1
    assert count_of(lambda: make_memory(make_scope(owner="eve")).recall("delta")) == 1


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("legs", ["text", "hybrid"])
def test_a_page_is_full_with_thousands_of_invisible_rows_in_the_way(legs: str) -> None:
    """B13, B131."""
    say({"delta delta": 3_000}, visible=False)
    say({"delta": 40})

    for _ in range(2):
        found = make_memory().recall("delta", 32, legs=legs)
        assert len(found) == 32
        assert not any(text.startswith("delta delta") for text in texts(found))


HIDDEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("consent", {"visible": None}, {"require_consent": True}),
    ("gate", {"gate": "quarantined"}, {"include_superseded": True}),
    ("validity", {"valid_to": LONG_AGO}, {"include_quarantined": True}),
    ("as_of", {"valid_to": LONG_AGO}, {"as_of": LATER}),
    ("known_at", {"created_at": NOON}, {"known_at": LATER}),
    ("kinds", {"kind": "note"}, {"kinds": ["entry"]}),
    ("tiers", {"tier": "episodic"}, {"tiers": [""]}),
    ("namespaces", {"namespace": "other"}, {"namespaces": [""]}),
    ("partition", {"partition": "other"}, {"partition": ""}),
    ("tags", {"metadata": {"tags": ["food"]}}, {"tags": ["drinks"]}),
    ("equality", {"metadata": {"n": 2}}, {"filter": {"n": 1}}),
    ("range", {"metadata": {"n": 2}}, {"filter": {"n": {"lt": 2}}}),
]
"""A clause; columns of the rows that it hides; what the reader asks for."""


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("columns", "asked"),
    [pytest.param(*given, id=clause) for clause, *given in HIDDEN],
)
def test_a_page_is_full_under_every_clause(
    columns: dict[str, Any], asked: dict[str, Any]
) -> None:
    """B13, B131, B375, B382: of rows in sight, all hold the word."""
    say({"delta delta": 1_200}, **columns)
    open_to_all: dict[str, Any] = {
        "created_at": LONG_AGO,
        "metadata": {"n": 1, "tags": ["drinks"]},
    }
    say({"delta": 180}, **open_to_all)

    for _ in range(2):  # as a process that knows nothing, and as one that does
        found = make_memory().recall("delta", 32, legs="text", **asked)
        assert len(found) == 32
        assert not any(text.startswith("delta delta") for text in texts(found))
        assert found.bounded


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_a_strangers_rows_are_not_seen_and_weigh_nothing(stranger: Scope) -> None:
    """B4, B5, B18: neither of the words nor of their pairs."""
    say({"delta": 60, "echo": 60, "echo delta": 2})
    before = make_memory().recall("delta echo", 32, legs="text")
    say({"delta": 60, "echo": 60, "echo delta delta": 60}, stranger)

    found = make_memory().recall("delta echo", 32, legs="text")

    assert found.bounded
    assert {hit.scope for hit in found} == {HERE}
    assert found.hits == before.hits


WITHHELD: dict[str, dict[str, Any]] = {
    "revoked": {"revoked_at": NOON},
    "hidden": {"visible": False},
    "quarantined": {"gate": "quarantined"},
    "expired": {"expires_at": NOON},
    "retired": {"retired_at": NOON},
    "not valid any more": {"valid_to": NOON},
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("columns", WITHHELD.values(), ids=WITHHELD.keys())
def test_a_score_does_not_tell_what_a_withheld_text_holds(
    columns: dict[str, Any],
) -> None:
    """B134: neither for a rare word nor for a common one, whose rows are estimated."""
    say({"delta": 90, "echo": 40})
    remember("guess hunter2", "guess hunter3")
    secret = make_record("the code is hunter2 and echo", **columns)
    assert secret.text

    right, wrong = (
        make_memory().recall(f"{word} delta echo", 32, legs="text")
        for word in ("hunter2", "hunter3")
    )

    assert right.bounded
    assert right[0].text == "guess hunter2"
    assert wrong[0].text == "guess hunter3"
    assert [hit.bm25 for hit in right] == [hit.bm25 for hit in wrong]
    Record.objects.filter(tenant="acme", id=secret.id).update(text="zulu")
    again = make_memory().recall("hunter2 delta echo", 32, legs="text")
    assert [hit.bm25 for hit in again] == [hit.bm25 for hit in right]


@pytest.mark.usefixtures("few")
def test_a_score_does_not_tell_what_was_derived_from_a_revoked_text() -> None:
    """B134: what is derived from it is withheld with it."""
    say({"delta": 90, "echo": 40})
    plan = remember("the plan", key="plan")[0]
    lineage = Lineage(("plan",))
    derived = remember(*(f"step {n}" for n in range(40)), lineage=lineage)
    make_memory().set_consent(plan, visible=False)
    rows = Record.objects.filter(tenant="acme", id__in=derived)
    assert rows.update(text="bravo zulu") == 40
    before = make_memory().recall("delta echo", 32, legs="text")

    rows.update(text="bravo echo")

    found = make_memory().recall("delta echo", 32, legs="text")
    assert not any("bravo" in text for text in texts(found))
    assert [hit.bm25 for hit in found] == [hit.bm25 for hit in before]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("words", [9, 20, 64])
def test_a_question_of_many_common_words_is_answered(words: int) -> None:
    """Pairs are made of the rarest alone: 64 words would have 2,016."""
    names = [f"word{'abcdefghij'[n // 10]}{'klmnopqrst'[n % 10]}" for n in range(words)]
    make_memory().remember(
        [Entry(f"{' '.join(names)} {n}", key=f"{n}") for n in range(50)]
    )

    found = make_memory().recall(" ".join(names), 10, legs="text")

    assert len(found) == 10
    assert found.bounded


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("word", ["it's", r"back\slash", "a'b''c", "x:*", "12.5", "-7"])
def test_a_common_word_with_signs_is_a_word(word: str) -> None:
    """B284: words become queries again, quoted."""
    make_memory().remember(
        [Entry(f"{word} delta {n}", key=f"{n}") for n in range(50)], wait=False
    )

    found = make_memory().recall(f"{word} delta", 10, legs="text")

    assert len(found) == 10
    assert found.bounded


def test_1_000_and_more_rows_between_10_000_foreign_ones_give_a_full_page() -> None:
    """B131, B166: with the constant as it is. Words of its own: an index keeps those of
    rows that tests before it rolled back.
    """
    say({"kilo lima": 5_000}, make_scope(owner="bob"))
    say({"kilo lima": 5_000}, make_scope(tenant="globex"))
    say({"kilo": 1_100, "lima": 1_100, "lima kilo": 3})
    analyze()

    found = make_memory().recall("kilo lima", 32, legs="text")

    assert len(found) == 32
    assert {hit.scope for hit in found} == {HERE}
    assert all(text.startswith("lima kilo") for text in texts(found)[:3])

    plan = recall_plan(lambda: make_memory().recall("kilo lima", 32, legs="text"))
    read = re.findall(r"prism_memory_record_search .*rows=([\d.]+)", plan)
    assert read
    assert max(map(float, read)) <= 3_000, f"words or pairs of others: {plan}"
