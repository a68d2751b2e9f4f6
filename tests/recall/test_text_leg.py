"""The full-text leg while no word is common: BM25 over what is in sight."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from prism_memory.models import Record
from prism_memory.recall.candidates import BM25_B, BM25_K1
from prism_memory.recall.candidates.places import forget_sizes
from prism_memory.recall.candidates.text import SMALL_ROWS
from prism_memory.types import Recalled, Scope
from tests.capture import captured
from tests.db.asking import ask
from tests.factories import NOON, make_memory, make_scope, remember
from tests.recall.bulk import analyze
from tests.recall.worded import (
    HERE,
    STRANGERS,
    explained,
    recall_statements,
    say,
    texts,
)

pytestmark = pytest.mark.django_db

WORDS = ["bravo", "delta", "echo", "kilo", "lima", "tango", "zulu"]
"""Which no language's stemmer changes."""


def damped(count: int) -> float:
    """The frequency of a word that a text holds so often, as ts_rank damps it."""
    return sum(1 / place**2 for place in range(1, count + 1))


def bm25(corpus: Sequence[str], question: str) -> dict[str, float]:
    """The textbook's formula, of which only this is ours: what a frequency is, that a
    length is the number of different words and the scope's mark, that the mean is of
    what the words were found in, and that the count of records is rounded up to a power
    of two.

    Source: Robertson & Zaragoza, FnTIR 3 (2009), with Lucene's idf.
    """
    counted = {text: Counter(text.split()) for text in corpus}
    words = {*question.split()}
    found = [(w, t) for w in words for t in corpus if counted[t][w]]
    if not found:
        return {}
    mean = sum(len(counted[text]) + 1 for _, text in found) / len(found)
    rows = Counter(word for word, _ in found)
    among = 1 << (len(corpus) - 1).bit_length()
    scores: defaultdict[str, float] = defaultdict(float)
    for word, text in found:
        idf = math.log(1 + (among - rows[word] + 0.5) / (rows[word] + 0.5))
        often = damped(counted[text][word])
        length = (len(counted[text]) + 1) / mean
        norm = often + BM25_K1 * (1 - BM25_B + BM25_B * length)
        scores[text] += idf * often * (BM25_K1 + 1) / norm
    return dict(scores)


def scores(found: Recalled) -> dict[str, float | None]:
    return {hit.text: hit.bm25 for hit in found}


@pytest.mark.parametrize("number", range(12))
def test_a_score_is_that_of_the_textbook(number: int) -> None:
    """B367: against a naive model, over random corpora."""
    chance = random.Random(number)  # noqa: S311 - no secret
    corpus = [
        *{
            " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))
            for _ in range(chance.randint(2, 25))
        }
    ]
    remember(*corpus)
    for _ in range(4):
        question = " ".join(chance.sample(WORDS, chance.randint(1, 4)))
        expected = bm25(corpus, question)
        found = make_memory().recall(question, 32, legs="text")
        assert scores(found) == pytest.approx(expected, rel=1e-4)
        order = [expected[text] for text in texts(found)]
        assert order == pytest.approx(sorted(order, reverse=True), rel=1e-4)


HIDDEN: Mapping[str, dict[str, Any]] = {
    "revoked": {"revoked_at": NOON, "visible": False},
    "hidden": {"visible": False},
    "quarantined": {"gate": "quarantined"},
    "expired": {"expires_at": NOON},
    "retired": {"retired_at": NOON},
    "not valid any more": {"valid_to": NOON},
    "of another generation": {"generation": 7},
}


@pytest.mark.parametrize("columns", HIDDEN.values(), ids=HIDDEN.keys())
def test_the_words_of_withheld_rows_weigh_nothing(columns: dict[str, Any]) -> None:
    """B134: whichever words they are, the scores are the same."""
    remember("delta echo", "delta kilo", "lima")
    (other,) = remember("tango")
    ask("UPDATE prism_memory_scope SET current_generation = 3")
    rows = Record.objects.filter(tenant="acme", id=other)
    rows.update(**columns)
    before = scores(make_memory().recall("delta echo", 9, legs="text"))

    rows.update(text="delta delta echo echo kilo zulu bravo", lexical_text=None)

    assert before.keys() == {"delta echo", "delta kilo"}
    assert scores(make_memory().recall("delta echo", 9, legs="text")) == before


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_a_strangers_words_weigh_nothing(stranger: Scope) -> None:
    """B4, B5."""
    mine = remember("delta echo", "delta kilo", "lima")
    before = scores(make_memory().recall("delta echo", 9, legs="text"))

    remember("delta delta", "echo delta", "echo", scope=stranger)

    found = make_memory().recall("delta echo", 9, legs="text")
    assert {hit.id for hit in found} == {*mine[:2]}
    assert scores(found) == before


def rows_read(scope: Scope, question: str) -> tuple[float, str]:
    """Return the most rows that an index gives for the words, and the plan."""
    with captured() as seen:
        make_memory(scope).recall(question, legs="text")
    (sent,) = recall_statements(seen.statements)
    plan = explained(*sent)
    read = re.findall(r"prism_memory_record_(?:search|order) .*rows=([\d.]+)", plan)
    assert read, plan
    return max(map(float, read)), plan


def test_20_000_foreign_rows_of_the_same_words_cost_and_change_nothing() -> None:
    """B166: another tenant's, and another owner's of the same tenant."""
    # Nobody else's: rows that tests before rolled back are still in the index.
    own = make_scope(owner="vera")
    remember(*(f"delta echo {word}" for word in WORDS), scope=own)
    analyze()
    before = scores(make_memory(own).recall("delta echo", 9, legs="text"))
    say({"delta echo": 10_000}, make_scope(tenant="globex"))
    say({"delta echo": 10_000}, make_scope(owner="bob"))
    analyze()

    for known in (True, False):  # to be a small scope, since it was asked above
        if not known:
            forget_sizes()
        read, plan = rows_read(own, "delta echo")

        assert ("prism_memory_record_search" in plan) is not known
        assert read <= len(WORDS), plan
        assert "Seq Scan on prism_memory_record" not in plan
    assert scores(make_memory(own).recall("delta echo", 9, legs="text")) == before


def test_what_is_indexed_is_searched_and_what_was_said_is_shown() -> None:
    """B350: the situating words find it, the text stays verbatim."""
    (record_id,) = remember("delta echo")
    rows = Record.objects.filter(tenant="acme", id=record_id)
    rows.update(lexical_text="zulu: delta echo")

    assert texts(make_memory().recall("zulu", legs="text")) == ["delta echo"]


def test_a_word_said_twice_in_a_question_counts_once() -> None:
    remember("delta echo", "delta kilo")
    once = make_memory().recall("delta echo", legs="text")

    assert make_memory().recall("Delta, delta echo!", legs="text").hits == once.hits


def test_a_question_without_words_finds_nothing_by_words() -> None:
    """Nothing but signs."""
    remember("delta echo")

    found = make_memory().recall("?!", legs="text")

    assert texts(found) == []
    assert not found.bounded


def test_no_word_of_a_small_scope_is_common() -> None:
    say({"delta": 1_000}, HERE)

    found = make_memory().recall("delta", 32, legs="text")

    assert len(found) == 32
    assert not found.bounded


@pytest.mark.parametrize(("more", "statements"), [(0, 1), (1, 2)])
def test_a_scope_is_read_whole_only_while_its_rows_are_few(
    more: int, statements: int
) -> None:
    """Its rows, not its vectors: a bulk import is not embedded yet."""
    remember("echo")
    make_memory().recall("echo", legs="text")
    say({"delta": SMALL_ROWS - 2 + more})  # and the one that they are copies of
    assert Record.objects.count() == SMALL_ROWS + more

    for expected in (statements, 1):  # what was seen is known from then on
        with captured() as seen:
            found = make_memory().recall("echo", legs="text")

        assert texts(found) == ["echo"]
        assert len(recall_statements(seen.statements)) == expected
