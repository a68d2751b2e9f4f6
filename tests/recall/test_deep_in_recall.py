"""B399 to B408 through the door: passes, verdicts, and nobody asked in vain."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django import DjangoAssertNumQueries

from prism_memory import backends
from prism_memory.errors import (
    Aborted,
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import DeepRecalled, Grade, Scoring
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.facts.rows import make_fact
from tests.recall.providers import CONFIGURED, Judge, NotedEmbedder

pytestmark = pytest.mark.django_db

EASY = "What is the name of my cat?"
HARD = "Who moved before Ada moved, and where was the sister of Bob at that time?"
PORTO = "Ada moved to Porto in May."
LYON = "Bob went to Lyon in spring."
WEAK = Grade(sufficient=False)
GOOD = Grade(sufficient=True)


def weak(words: str | None) -> Grade:
    return Grade(sufficient=False, reformulation=words)


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    wish = {"WAKE": False, **CONFIGURED, "GRADER": "judge"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish


@pytest.fixture
def judge() -> Judge:
    made = backends.get_grader("judge")
    assert isinstance(made, Judge)
    return made


@pytest.fixture(autouse=True)
def _stored(_configured: None) -> None:
    remember(PORTO, LYON, "My cat is called Tom.", wait=True)


def deep(query: str = HARD, top_k: int = 5, **options: Any) -> DeepRecalled:
    return make_memory().deep_recall(query, top_k, **options)


def texts(found: Any) -> list[str]:
    return [hit.text for hit in found]


def test_an_easy_question_is_a_plain_recall(judge: Judge) -> None:
    """B399, B402: no provider but the embedder is asked."""
    found = deep(EASY)

    assert found.hits == make_memory().recall(EASY, 5).hits
    assert found == DeepRecalled(found.hits, queries=(EASY,))
    assert judge.asked == []


def test_without_a_grader_a_hard_question_takes_one_pass(
    settings: Any, judge: Judge
) -> None:
    """B402."""
    unasked = deep(grader="")
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "GRADER": ""}

    for found in (unasked, deep(), deep(EASY, force_hard=True)):
        assert (found.iterations, found.gate_hard) == (1, True)
        assert (found.graded, found.sufficient, found.abstained) == (False, True, False)
        assert found.degraded == ""
    assert judge.asked == []


def test_a_call_names_its_own_grader(settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "GRADER": ""}

    assert deep(grader="judge").graded
    for wrong in ("other", 1):
        with pytest.raises(Invalid) as raised:
            deep(grader=wrong)
        assert raised.value.field == "grader"


def test_a_good_answer_ends_it(judge: Judge) -> None:
    """B403, B408."""
    found = deep()

    assert (found.iterations, found.graded, found.sufficient) == (1, True, True)
    assert judge.asked == [(HARD, texts(found))]
    assert found.queries == (HARD,)


def test_a_weak_answer_is_searched_for_in_other_words(judge: Judge) -> None:
    """B403, B405, B406, B408."""
    judge.verdicts = [weak("Bob went to Lyon"), GOOD]

    found = deep(top_k=1)

    assert found.queries == (HARD, "Bob went to Lyon")
    assert (found.iterations, found.abstained, found.graded) == (2, False, True)
    assert [question for question, _ in judge.asked] == [HARD, HARD]
    assert judge.asked[1][1] == [LYON]
    assert texts(found) == [LYON]
    assert all(0 < hit.score <= 1 for hit in found)


def test_what_stays_weak_abstains_at_its_limit(judge: Judge) -> None:
    """B403, B404: three passes, unless the memory or the call says otherwise."""
    judge.verdicts = [weak(f"Ada, {n}?") for n in range(9)]

    for iterations, found in (
        (3, deep()),
        (2, make_memory(limits={"deep_iterations": 2}).deep_recall(HARD)),
        (5, deep(max_iterations=5)),
        (1, deep(max_iterations=1)),
    ):
        assert found.iterations == len(found.queries) == iterations
        assert (found.abstained, found.sufficient) == (True, False)
        judge.asked.clear()


@pytest.mark.parametrize("words", [None, "", "  ", HARD, HARD.upper(), f"  {HARD} "])
def test_no_new_words_end_it(judge: Judge, words: str | None) -> None:
    """B405."""
    judge.verdicts = [weak(words)]

    found = deep()

    assert (found.iterations, found.abstained) == (1, True)
    assert len(judge.asked) == 1


@pytest.mark.parametrize("words", ["x" * 5_000, "nul \0", "a b c d e f g h i"])
def test_words_that_are_no_question_end_it(judge: Judge, words: str) -> None:
    """B407: a model's mistake is not the caller's."""
    judge.verdicts = [weak(words)]
    memory = make_memory(limits={"query_words": 8})

    found = memory.deep_recall("Where is Bob?", force_hard=True)

    assert (found.iterations, found.abstained) == (1, True)
    assert found.hits
    assert found.degraded == "the grader's reformulation was no acceptable question"


class Unforeseen(Exception):
    """Of an SDK."""


@pytest.mark.parametrize(
    "error",
    [ProviderUnavailable("x"), ProviderRejected("x"), Unforeseen("x"), TimeoutError()],
)
@pytest.mark.parametrize("passes", [1, 2])
def test_a_failing_grader_ends_it_without_abstaining(
    judge: Judge, error: Exception, passes: int
) -> None:
    """B407: and the answer says so."""
    judge.verdicts = [weak("Bob?"), error][-passes:]

    found = deep()

    assert found.iterations == passes
    assert (found.abstained, found.sufficient) == (False, True)
    assert found.graded is (passes == 2)
    assert found.degraded == "the grader gave no verdict"


@pytest.mark.parametrize("verdict", [None, True, {"sufficient": True}, "yes"])
def test_an_unreadable_verdict_ends_it_too(judge: Judge, verdict: Any) -> None:
    """B407."""
    judge.verdicts = [verdict]

    found = deep()

    assert (found.iterations, found.abstained, found.graded) == (1, False, False)
    assert found.degraded == "the grader gave no verdict"


def test_the_gate_is_the_settings_unless_the_call_says_otherwise(
    settings: Any, judge: Judge
) -> None:
    """B400, B401."""
    assert not deep(EASY).gate_hard
    assert deep(EASY, threshold=0).gate_hard
    assert deep(EASY, force_hard=True).gate_hard
    assert deep(HARD).gate_hard
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "DEEP_THRESHOLD": 1.0}
    assert not deep("Who moved before Ada?").gate_hard
    assert deep("Who moved before Ada?", threshold=0.1).gate_hard
    assert judge.asked


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_iterations": 0}, "max_iterations"),
        ({"max_iterations": 6}, "max_iterations"),
        ({"max_iterations": True}, "max_iterations"),
        ({"threshold": 1.5}, "threshold"),
        ({"threshold": "hard"}, "threshold"),
        ({"force_hard": 1}, "force_hard"),
        ({"top_k": 33}, "top_k"),
        ({"query": " "}, "query"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name(
    judge: Judge, options: Any, field: str
) -> None:
    """B116, B130, B403."""
    with pytest.raises((Invalid, LimitExceeded)) as raised:
        deep(**options)

    assert raised.value.field == field
    assert judge.asked == []


def test_each_pass_takes_the_options_of_the_call(judge: Judge) -> None:
    """B382: what narrows the first narrows all."""
    remember_one("Bob's sister is in Rome.", wait=True, namespace="notes")
    judge.verdicts = [weak("sister"), weak("Rome")]

    found = deep(namespaces=["notes"], scoring=Scoring(0, 1), legs="text")

    assert {*texts(found)} == {"Bob's sister is in Rome."}
    assert found.iterations == 3
    assert all("importance" in hit.signals for hit in found)
    assert all(seen == ["Bob's sister is in Rome."] for _, seen in judge.asked)


@pytest.mark.parametrize("name", ["message_range", "explain"])
def test_what_an_answer_of_passes_does_not_carry_is_refused_and_not_paid(
    name: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Nor where it is usual: a pass is one query."""
    wish: Any = {name: True}
    with pytest.raises(Invalid) as raised:
        deep(**wish)
    assert raised.value.field == name
    usual: Any = {"message_range": 2, "explain": True}
    memory = make_memory(search_defaults=usual, limits={"message_range": 2})
    memory.deep_recall(EASY)

    with django_assert_num_queries(1):
        memory.deep_recall(EASY)


def test_no_secret_reaches_a_grader_or_the_answer(judge: Judge) -> None:
    """B133: nor one in the grader's own words the embedder."""
    judge.verdicts = [weak("Lyon in spring"), WEAK]
    embedder = backends.get_embedder()
    assert isinstance(embedder, NotedEmbedder)
    embedder.asked.clear()

    found = make_memory(secrets=["Lyon", "Bob"]).deep_recall(HARD)

    told = [question for question, _ in judge.asked]
    seen = [text for _, shown in judge.asked for text in shown]
    asked = [text for _, batch in embedder.asked for text in batch]
    for said in (*told, *seen, *asked, *texts(found), *found.queries):
        assert "Lyon" not in said
        assert "Bob" not in said
    assert "[redacted] went to [redacted] in spring." in seen


@pytest.mark.parametrize(
    "stranger",
    [make_scope(tenant="other"), make_scope(owner="bob"), make_scope(thread="c2")],
    ids=str,
)
def test_a_stranger_finds_nothing_in_any_pass(judge: Judge, stranger: Any) -> None:
    """B4, B5, B18."""
    judge.verdicts = [weak(PORTO), weak(LYON)]

    found = make_memory(stranger).deep_recall(HARD)

    assert found.hits == ()
    assert (found.iterations, found.abstained) == (3, True)
    assert all(seen == [] for _, seen in judge.asked)


def test_a_caller_who_left_is_told_so_between_two_passes(judge: Judge) -> None:
    """B132: no verdict is asked for any more."""
    gone: list[bool] = []
    judge.verdicts = [weak("Bob?")]

    def leave() -> bool:
        return bool(judge.asked) or bool(gone)

    with pytest.raises(Aborted):
        deep(cancelled=leave)
    assert len(judge.asked) == 1


def test_a_poorer_pass_makes_the_answer_say_so(judge: Judge) -> None:
    """B487, once."""
    embedder = backends.get_embedder()
    assert isinstance(embedder, NotedEmbedder)
    embedder.refuse = lambda _: ProviderUnavailable()
    judge.verdicts = [weak("Bob in Lyon"), WEAK]

    found = deep()

    assert found.iterations == 2
    assert found.degraded == "the embedder is unavailable"


def test_the_asynchronous_twin_takes_the_same_passes(judge: Judge) -> None:
    judge.verdicts = [weak("Bob in Lyon"), GOOD]
    wanted = deep()
    judge.asked.clear()

    assert async_to_sync(make_memory().adeep_recall)(HARD, 5) == wanted


@pytest.mark.parametrize(("resolver", "wider"), [("exact", True), ("off", False)])
def test_later_passes_take_a_hop_where_facts_have_entities(
    settings: Any, resolver: str, *, wider: bool
) -> None:
    """B403: the first is never widened."""
    make_fact("Bob", "zebra", text="Bob rides a zebra.")
    near = make_fact("Bob", "Paris", text="He is at home there.")
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ENTITY_RESOLVER": resolver}
    judge: Any = backends.get_grader("judge")
    judge.verdicts = [weak("zebra"), GOOD]

    found = deep("Who was it before he rode that zebra, and when?", legs="text")

    assert found.iterations == 2
    (_, first), (_, second) = judge.asked
    assert "He is at home there." not in first
    assert ("He is at home there." in second) is wider
    assert (near in [hit.id for hit in found]) is wider
