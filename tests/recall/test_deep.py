"""B399 to B408: one pass where that will do, and more where a grader says so."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import (
    Aborted,
    DeadlineExceeded,
    Invalid,
    LimitExceeded,
    Misconfigured,
    PrismMemoryError,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.recall.deep import OUT_OF_TIME, REFUSED, UNGRADED, UNSEARCHED, deep
from prism_memory.types import (
    DeepRecalled,
    Grade,
    Hit,
    Kind,
    Recalled,
    Scope,
    Tier,
    Trust,
)

EASY = "Ada's address"
HARD = "Who did the sister of Ada meet before she moved, and when was the first time?"
ENOUGH = Grade(sufficient=True)
SPACE = uuid.UUID(int=0)


def weak(words: str | None) -> Grade:
    return Grade(sufficient=False, reformulation=words)


def hit(name: str, score: float = 0.5) -> Hit:
    return Hit(
        id=uuid.uuid5(SPACE, name),
        key=name,
        text=f"about {name}",
        kind=Kind.ENTRY,
        tier=Tier.NONE,
        namespace="",
        partition="",
        scope=Scope("acme", owner="ada"),
        source=None,
        ordinal=None,
        trust=Trust.USER,
        writer="ada",
        metadata={},
        sequence=1,
        importance=None,
        created_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        happened_at=None,
        valid_from=None,
        valid_to=None,
        version=1,
        score=score,
    )


def names(hits: Sequence[Hit]) -> list[str]:
    return [found.key for found in hits]


class Memory:
    """Finds what it is told to, pass by pass, and keeps what was asked."""

    def __init__(self, *passes: Sequence[str], degraded: str = "") -> None:
        self.passes = passes
        self.degraded = degraded
        self.asked: list[tuple[str, int]] = []

    def __call__(self, query: str, expand_hops: int) -> Recalled:
        self.asked.append((query, expand_hops))
        found = self.passes[min(len(self.asked), len(self.passes)) - 1]
        return Recalled(tuple(map(hit, found)), "exact", self.degraded)


class Judge:
    """Gives its verdicts in turn, or raises them, and keeps what it was shown."""

    def __init__(self, *verdicts: Grade | Exception) -> None:
        self.verdicts = verdicts
        self.questions: list[str] = []
        self.shown: list[list[str]] = []

    def __call__(self, question: str, hits: Sequence[Hit]) -> Grade:
        verdict = self.verdicts[min(len(self.shown), len(self.verdicts) - 1)]
        self.questions.append(question)
        self.shown.append(names(hits))
        if isinstance(verdict, Exception):
            raise verdict
        return verdict


def asked(
    memory: Memory, judge: Judge | None, question: str = HARD, **options: Any
) -> DeepRecalled:
    given = {"top_k": 5, **options}
    return deep(question, search=memory, grader=judge, **given)


def test_an_easy_question_takes_one_pass_and_asks_no_provider() -> None:
    """B399, B408."""
    memory, judge = Memory(["a", "b"]), Judge(weak("other"))

    found = asked(memory, judge, EASY)

    assert found == DeepRecalled(
        hits=(hit("a"), hit("b")),
        iterations=1,
        gate_hard=False,
        sufficient=True,
        abstained=False,
        graded=False,
        queries=(EASY,),
    )
    assert (memory.asked, judge.shown) == ([(EASY, 0)], [])


def test_a_hard_question_without_a_grader_takes_one_pass() -> None:
    """B402."""
    memory = Memory(["a"])

    found = asked(memory, None)

    assert memory.asked == [(HARD, 0)]
    assert (found.gate_hard, found.graded, found.abstained) == (True, False, False)
    assert found.sufficient


def test_a_hard_question_that_is_answered_takes_one_pass() -> None:
    """B403."""
    memory, judge = Memory(["a", "b"]), Judge(ENOUGH)

    found = asked(memory, judge)

    assert memory.asked == [(HARD, 0)]
    assert judge.shown == [["a", "b"]]
    assert names(found) == ["a", "b"]
    assert found.graded
    assert found.sufficient
    assert found[0].score == 0.5  # one pass keeps its scores


def test_words_beside_a_sufficient_verdict_are_not_searched_for() -> None:
    """B403."""
    memory = Memory(["a"])

    found = asked(memory, Judge(Grade(sufficient=True, reformulation="Porto flat")))

    assert memory.asked == [(HARD, 0)]
    assert not found.abstained


def test_a_weak_answer_is_searched_for_otherwise_and_wider() -> None:
    """B403."""
    memory, judge = Memory(["a"], ["b"]), Judge(weak(" Porto flat "), ENOUGH)

    found = asked(memory, judge)

    assert memory.asked == [(HARD, 0), ("Porto flat", 1)]
    assert found.queries == (HARD, "Porto flat")
    assert (found.iterations, found.sufficient, found.abstained) == (2, True, False)
    assert sorted(names(found)) == ["a", "b"]


@pytest.mark.parametrize(("given", "passes"), [({}, 3), ({"max_iterations": 5}, 5)])
def test_passes_end_at_their_limit_and_the_answer_abstains(
    given: dict[str, Any], passes: int
) -> None:
    """B403, B404."""
    memory = Memory(["a"])
    judge = Judge(*(weak(f"other {number}") for number in range(9)))

    found = asked(memory, judge, **given)

    assert found.iterations == len(memory.asked) == len(judge.shown) == passes
    assert [hops for _, hops in memory.asked] == [0] + [1] * (passes - 1)
    assert (found.abstained, found.sufficient, found.graded) == (True, False, True)
    assert names(found) == ["a"]  # whoever wants them still has the hits


def test_one_pass_may_be_all_and_is_graded_still() -> None:
    """B404."""
    found = asked(Memory(["a"]), Judge(weak("other")), max_iterations=1)

    assert (found.iterations, found.abstained, found.graded) == (1, True, True)


def test_the_grader_sees_the_original_question_in_every_pass() -> None:
    """B405."""
    judge = Judge(weak("one"), weak("two"), ENOUGH)

    asked(Memory(["a"], ["b"], ["c"]), judge)

    assert judge.questions == [HARD] * 3


@pytest.mark.parametrize(
    "words", [None, "", " \n", HARD, HARD.upper(), f"  {HARD}", "one", "ONE "]
)
def test_an_empty_or_repeated_reformulation_ends_the_loop(words: str | None) -> None:
    """B404, B405."""
    memory, judge = Memory(["a"], ["b"]), Judge(weak("one"), weak(words))

    found = asked(memory, judge, max_iterations=5)

    assert found.queries == (HARD, "one")
    assert found.abstained
    assert found.degraded == ""


def test_a_later_hit_can_outrank_an_earlier_one() -> None:
    """B406: what two passes find leads, whatever the first thought of it."""
    memory = Memory(["a", "b", "c", "answer"], ["answer", "d"])

    found = asked(memory, Judge(weak("other"), ENOUGH))

    assert names(found)[0] == "answer"
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx((1 / 64 + 1 / 61) / (2 / 61))
    assert all(0 < score <= 1 for score in scores)


def test_the_best_hit_of_a_later_pass_enters_the_window() -> None:
    """B406: though what both passes find outranks it and would fill the window."""
    noise = [f"n{number}" for number in range(8)]
    memory, judge = Memory(noise, ["answer", *noise]), Judge(weak("other"), ENOUGH)

    found = asked(memory, judge, top_k=8)

    assert judge.shown[0] == noise
    assert judge.shown[1][0] == "answer"
    assert "answer" in names(found)  # what was judged sufficient is what is returned
    assert {*judge.shown[1]} == {*names(found)}


def test_the_window_takes_the_passes_in_turns() -> None:
    """B406."""
    memory = Memory(["a1", "a2", "a3"], ["b1", "a1", "b3"], ["c1"])
    judge = Judge(weak("one"), weak("two"), ENOUGH)

    asked(memory, judge, window=4, top_k=9)

    assert judge.shown == [
        ["a1", "a2", "a3"],
        ["b1", "a1", "a2", "b3"],
        ["c1", "b1", "a1", "a2"],
    ]


@pytest.mark.parametrize(
    ("top_k", "window", "shown"), [(9, 3, 3), (2, 8, 2), (20, 8, 8)]
)
def test_the_grader_sees_a_window_of_what_is_returned(
    top_k: int, window: int, shown: int
) -> None:
    judge = Judge(ENOUGH)

    asked(Memory([*"abcdefghijkl"]), judge, top_k=top_k, window=window)

    assert judge.shown == [[*"abcdefghijkl"][:shown]]


def test_a_pass_that_finds_nothing_is_graded_too() -> None:
    judge = Judge(weak("other"), ENOUGH)

    found = asked(Memory([], ["b"]), judge)

    assert judge.shown == [[], ["b"]]
    assert names(found) == ["b"]


@pytest.mark.parametrize("error", [ProviderUnavailable, ProviderRejected])
def test_a_failing_grader_stops_the_loop_without_abstaining(
    error: type[Exception],
) -> None:
    """B407."""
    memory = Memory(["a"])

    found = asked(memory, Judge(error("words")))

    assert memory.asked == [(HARD, 0)]
    assert (found.abstained, found.sufficient, found.graded) == (False, True, False)
    assert found.degraded == UNGRADED
    assert names(found) == ["a"]


def test_a_grader_that_fails_later_does_not_make_the_answer_abstain() -> None:
    """B407: the weak verdict was about other hits."""
    memory = Memory(["a"], ["b"])

    found = asked(memory, Judge(weak("other"), ProviderRejected()), max_iterations=5)

    assert (found.iterations, found.abstained, found.graded) == (2, False, True)
    assert found.degraded == UNGRADED


def test_what_is_no_failure_of_a_provider_is_raised() -> None:
    """A wrong key is to be mended, not hidden."""
    with pytest.raises(Misconfigured):
        asked(Memory(["a"]), Judge(Misconfigured()))


@pytest.mark.parametrize("error", [Invalid, LimitExceeded])
def test_a_reformulation_that_is_no_question_ends_the_loop(
    error: type[Exception],
) -> None:
    """B405: its words are a model's, so the caller is not blamed for them."""

    def search(query: str, hops: int) -> Recalled:
        if hops:
            raise error
        return Recalled((hit("a"),))

    found = deep(HARD, search=search, grader=Judge(weak("x" * 9_999)), top_k=5)

    assert (names(found), found.queries) == (["a"], (HARD,))
    assert (found.abstained, found.degraded) == (True, REFUSED)


@pytest.mark.parametrize("error", [Invalid, LimitExceeded, DeadlineExceeded])
def test_a_search_that_fails_at_first_fails(error: type[Exception]) -> None:
    def search(query: str, hops: int) -> Recalled:
        raise error

    with pytest.raises(error):
        deep(HARD, search=search, grader=Judge(ENOUGH), top_k=5)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DeadlineExceeded, OUT_OF_TIME),
        (ProviderUnavailable, UNSEARCHED),
        (ProviderRejected, UNSEARCHED),
    ],
)
def test_a_later_pass_that_fails_leaves_what_was_found(
    error: type[PrismMemoryError], reason: str
) -> None:
    """B407: and says so; it is no reason to abstain from more than the verdict was."""

    def search(query: str, hops: int) -> Recalled:
        if hops:
            raise error
        return Recalled((hit("a"),))

    found = deep(HARD, search=search, grader=Judge(weak("other")), top_k=5)

    assert [each.text for each in found] == ["about a"]
    assert (found.iterations, found.abstained) == (1, True)
    assert found.degraded == reason


def test_what_was_withdrawn_while_a_grader_thought_goes_to_nobody() -> None:
    """Neither to the next verdict, nor to the caller."""
    shown: list[list[str]] = []

    def search(query: str, hops: int) -> Recalled:
        return Recalled((hit("b"),) if hops else (hit("a"), hit("c")))

    def judge(question: str, hits: Sequence[Hit]) -> Grade:
        shown.append(sorted(each.text for each in hits))
        return weak("other") if len(shown) == 1 else Grade(sufficient=True)

    def still(hits: Sequence[Hit]) -> set[Any]:
        return {each.id for each in hits if each.text != "about a"}

    found = deep(HARD, search=search, grader=judge, top_k=5, still=still)

    assert shown == [["about a", "about c"], ["about b", "about c"]]
    assert sorted(each.text for each in found) == ["about b", "about c"]


def test_a_poorer_pass_makes_the_answer_say_so_once() -> None:
    memory = Memory(["a"], ["b"], degraded="the embedder is unavailable")

    found = asked(memory, Judge(weak("other"), ENOUGH))

    assert found.degraded == "the embedder is unavailable"


def test_a_threshold_of_ones_own_decides() -> None:
    """B401."""
    judge = Judge(ENOUGH)

    assert asked(Memory(["a"]), judge, EASY, threshold=0).gate_hard
    assert not asked(Memory(["a"]), judge, "Who is it?", threshold=0.5).gate_hard
    assert asked(Memory(["a"]), judge, "Who is it?", threshold=0.4).gate_hard
    assert len(judge.shown) == 2


def test_a_question_can_be_forced_to_be_hard() -> None:
    """B401."""
    found = asked(Memory(["a"]), Judge(ENOUGH), EASY, force_hard=True)

    assert (found.gate_hard, found.graded) == (True, True)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"max_iterations": 6}, LimitExceeded),
        ({"max_iterations": 0}, LimitExceeded),
        ({"max_iterations": True}, LimitExceeded),
        ({"top_k": -1}, LimitExceeded),
        ({"window": 0}, LimitExceeded),
        ({"threshold": 1.1}, Invalid),
        ({"threshold": -0.1}, Invalid),
        ({"threshold": float("nan")}, Invalid),
        ({"threshold": "hard"}, Invalid),
    ],
)
def test_what_is_out_of_bounds_is_refused_before_anything_is_searched(
    wrong: dict[str, Any], error: type[Exception]
) -> None:
    memory = Memory(["a"])

    with pytest.raises(error, match=next(iter(wrong))):
        asked(memory, None, EASY, **wrong)
    assert memory.asked == []


def test_no_hits_wanted_asks_no_grader() -> None:
    judge = Judge(weak("other"))

    found = asked(Memory(["a"]), judge, top_k=0)

    assert (len(found), found.graded, judge.shown) == (0, False, [])


def after(calls: int) -> Callable[[], bool]:
    """Say yes once it was asked ``calls`` times."""
    left = iter([False] * calls)
    return lambda: next(left, True)


@pytest.mark.parametrize(
    ("calls", "searches", "verdicts"), [(0, 1, 0), (1, 1, 1), (2, 2, 1), (3, 2, 2)]
)
def test_a_cancelled_recall_stops_before_its_next_call(
    calls: int, searches: int, verdicts: int
) -> None:
    memory = Memory(["a"])
    judge = Judge(*(weak(f"other {number}") for number in range(9)))

    with pytest.raises(Aborted):
        asked(memory, judge, cancelled=after(calls))

    assert (len(memory.asked), len(judge.shown)) == (searches, verdicts)


def test_an_easy_question_is_not_cancelled_after_its_answer() -> None:
    assert names(asked(Memory(["a"]), None, EASY, cancelled=lambda: True)) == ["a"]


LISTS = st.lists(st.sampled_from("abcdefghijkl"), unique=True)


@given(st.lists(LISTS, min_size=1, max_size=5), st.integers(1, 12), st.integers(1, 12))
def test_what_was_judged_is_returned_each_once_and_best_first(
    passes: list[list[str]], top_k: int, window: int
) -> None:
    """B406."""
    judge = Judge(*(weak(f"other {number}") for number in range(9)))

    found = asked(
        Memory(*passes),
        judge,
        top_k=top_k,
        window=window,
        max_iterations=len(passes),
    )

    kept = names(found)
    everything = {name for listed in passes for name in listed}
    assert len({*kept}) == len(kept) == min(top_k, len(everything))
    assert {*judge.shown[-1]} <= {*kept}
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    if passes[-1]:
        assert judge.shown[-1][0] == passes[-1][0]
