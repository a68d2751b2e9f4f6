"""How the legs are asked again, with made-up answers."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.recall.candidates.attempts import Attempt, first_attempt
from prism_memory.recall.candidates.places import Size
from prism_memory.recall.candidates.plan import Plan
from prism_memory.recall.candidates.vector import ANY_SIZE, LOOKED_AT, VectorLeg
from prism_memory.types import Authorization, Scope

ROWS: Final = 32
BOTH: Final = ("vector", "text")
LEG: Final = VectorLeg(space_id=1, dimensions=2, indexed=True, vector=[1.0, 0.0])
ADA: Final = Reader(Scope("acme", "ada"))


def first(
    known: Size = Size(),  # noqa: B008 - frozen
    *,
    reader: Reader = ADA,
    leg: VectorLeg = LEG,
    legs: tuple[str, ...] = BOTH,
) -> Attempt:
    return first_attempt(reader, leg, legs, ROWS, known, beside=True)


def answer(near: int = ROWS, **said: Any) -> list[dict[str, Any]]:
    """What a statement gives: each row says the same of the whole."""
    usual = {"large": False, "cut": False, "bounded": False, "few": True, "vectors": 9}
    usual["restricts"] = False
    whole = {**usual, **said}
    ranks = [*range(1, near + 1), None]
    return [{**whole, "vector_rank": rank} for rank in ranks]


def followed(attempt: Attempt, near: int = ROWS, **said: Any) -> Attempt:
    found = attempt.following(answer(near, **said))
    assert found is not None
    return found


def test_a_small_place_is_asked_exactly_and_its_nearest_are_looked_at() -> None:
    attempt = first()

    assert attempt.plan == Plan(BOTH, rows=ROWS, guarded=True)
    assert attempt.look == LOOKED_AT * ROWS
    assert attempt.exact_rows == settings.EXACT_SCAN_ROWS
    assert attempt.following(answer()) is None


def test_what_is_known_is_asked_for_at_once() -> None:
    attempt = first(Size(large=True, common=True))

    assert (attempt.plan.index, attempt.plan.bounded) == (True, True)
    assert attempt.following(answer(bounded=True)) is None


def test_a_large_place_is_asked_by_its_index() -> None:
    """Whatever was found meanwhile: nothing was compared."""
    again = followed(first(), near=0, large=True)

    assert again.plan.index
    assert again.following(answer()) is None


def test_an_index_that_gives_too_few_is_answered_exactly_whatever_the_size() -> None:
    """C05: all are sorted, and none is too many."""
    again = followed(first(Size(large=True)), near=ROWS - 1)

    assert not again.plan.index
    assert (again.look, again.exact_rows) == (ANY_SIZE, ANY_SIZE)
    assert again.following(answer(near=0)) is None


def test_nearest_that_are_mostly_out_of_sight_are_looked_at_further() -> None:
    """B131."""
    again = followed(first(), near=3, cut=True)

    assert again.plan == first().plan
    assert (again.look, again.exact_rows) == (ANY_SIZE, settings.EXACT_SCAN_ROWS)
    assert again.following(answer(near=3)) is None


@pytest.mark.parametrize("known", [Size(), Size(large=True)])
def test_words_that_are_too_common_are_asked_for_beside_others(known: Size) -> None:
    again = followed(first(known), bounded=True)

    assert again.plan == replace(first(known).plan, bounded=True)
    assert again.following(answer(bounded=True)) is None


def test_what_went_wrong_is_mended_at_once() -> None:
    """Two reasons cost one statement more, not two."""
    again = followed(first(), near=0, large=True, bounded=True)

    assert (again.plan.index, again.plan.bounded) == (True, True)


@pytest.mark.parametrize(
    ("reader", "leg"),
    [
        (Reader(Scope("acme", "ada"), ids=[uuid.UUID(int=1)]), LEG),
        (ADA, replace(LEG, indexed=False)),
    ],
    ids=["a few ids", "no index"],
)
def test_without_an_index_to_go_by_no_place_is_too_large(
    reader: Reader, leg: VectorLeg
) -> None:
    attempt = first(Size(large=True), reader=reader, leg=leg)

    assert not attempt.plan.index
    assert attempt.exact_rows == ANY_SIZE


def test_what_narrows_the_sight_has_all_of_the_nearest_looked_at() -> None:
    """It may leave few of them."""
    assert first(reader=Reader(Scope("acme", "ada"), kinds=[])).look == ANY_SIZE


@pytest.mark.parametrize(
    ("legs", "leg", "asked"),
    [
        (("text",), LEG, ("text",)),
        (("vector",), LEG, ("vector",)),
        (("recency",), LEG, ("recency",)),
        (BOTH, VectorLeg(), ("text",)),
        (("vector",), VectorLeg(), ()),
    ],
)
def test_only_what_can_be_asked_is(
    legs: tuple[str, ...], leg: VectorLeg, asked: tuple[str, ...]
) -> None:
    plan = first(Size(large=True, common=True), legs=legs, leg=leg).plan

    assert plan.legs == asked
    assert plan.index == ("vector" in asked)
    assert plan.bounded == ("text" in asked)


def test_a_large_place_asked_for_words_alone_is_whole() -> None:
    """Its size is no matter of theirs."""
    attempt = first(legs=("text",))

    assert attempt.following(answer(near=0, large=True, vectors=10**9)) is None


worlds = st.lists(
    st.fixed_dictionaries(
        {
            "vectors": st.sampled_from([0, 40, 9_000, 20_000, 10**9]),
            "in_sight": st.integers(0, 200),
            "by_index": st.integers(0, 200),
            "common": st.booleans(),
            "few": st.booleans(),
            "restricts": st.booleans(),
        }
    ),
    min_size=7,
    max_size=7,
)

sizes = st.builds(
    Size,
    large=st.booleans(),
    common=st.booleans(),
    small=st.booleans(),
    restricts=st.booleans(),
)


def told(attempt: Attempt, world: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the statement would say, were the world so at its moment."""
    plan, vectors = attempt.plan, world["vectors"]
    asked = "vector" in plan.legs
    large = vectors > attempt.exact_rows
    seen = min(world["in_sight"], vectors)
    if plan.guarded and world["restricts"]:
        seen = 0
    if plan.index:
        near = min(world["by_index"], seen, plan.rows)
    else:
        near = 0 if large or not asked else min(seen, attempt.look, plan.rows)
    cut = asked and not plan.index and not large and vectors >= attempt.look
    said = {
        "large": large,
        "cut": cut and near < plan.rows,
        "bounded": "text" in plan.legs and world["common"] and not plan.small,
        "few": "text" in plan.legs and world["few"],
        "vectors": vectors,
        "restricts": world["restricts"],
    }
    return answer(near, **said)


@given(
    moments=worlds,
    known=sizes,
    legs=st.sampled_from([BOTH, ("vector",), ("text",), ("vector", "recency")]),
    indexed=st.booleans(),
)
def test_it_ends_though_the_world_changes_between_the_attempts(
    moments: list[dict[str, Any]],
    known: Size,
    legs: tuple[str, ...],
    *,
    indexed: bool,
) -> None:
    """Each reason is mended once, so there are at most five attempts more."""
    attempt = first(known, leg=replace(LEG, indexed=indexed), legs=legs)
    asked = [attempt]
    for world in moments:
        said = told(attempt, world)
        following = attempt.following(said)
        if following is None:
            break
        assert following not in asked, "the same is never asked twice"
        attempt = following
        asked.append(attempt)
    else:
        pytest.fail("it does not end")
    assert len(asked) <= 6
    check_whole(attempt, said)


def check_whole(attempt: Attempt, said: list[dict[str, Any]]) -> None:
    """A page that is not full has everything in it."""
    near = sum(row["vector_rank"] is not None for row in said)
    if "vector" in attempt.plan.legs and near < attempt.plan.rows:
        assert not attempt.plan.index
        assert not said[0]["large"]
        assert not said[0]["cut"]
    assert attempt.plan.bounded or not said[0]["bounded"]


@given(
    world=worlds.map(lambda listed: listed[0]),
    known=sizes,
)
def test_in_a_world_that_rests_three_statements_are_the_most(
    world: dict[str, Any], known: Size
) -> None:
    """By size: exact, then the index, then exactly whatever the size.

    And one before them where a tenant restricts documents and this is not known yet.
    """
    learns = world["restricts"] and not known.restricts
    attempt, count = first(known), 1
    while (following := attempt.following(told(attempt, world))) is not None:
        attempt, count = following, count + 1
    assert count <= 3 + learns


def test_a_tenant_that_restricts_documents_is_asked_again_and_nothing_else_learnt() -> (
    None
):
    """B212: what was asked first saw nothing, so it says nothing of the place."""
    again = followed(first(), near=0, restricts=True, cut=True, bounded=True)

    assert again == replace(first(), plan=replace(first().plan, guarded=False))
    assert first(Size(restricts=True)).plan == again.plan
    assert again.following(answer(restricts=True)) is None


@pytest.mark.parametrize(
    "given",
    [{"authorization": Authorization("ada")}, {"include_restricted": True}],
    ids=["authorized", "governing"],
)
def test_who_may_read_documents_is_not_guarded(given: dict[str, Any]) -> None:
    reader = Reader(Scope("acme", "ada"), **given)

    assert not first(reader=reader).plan.guarded


def test_a_small_place_that_has_grown_is_read_as_any_other() -> None:
    """Few vectors do not make few rows: none was read, and it is asked again once."""
    attempt = first(Size(small=True))
    again = followed(attempt, few=False)

    assert (attempt.plan.small, again.plan.small, again.plan.bounded) == (
        True,
        False,
        False,
    )
    assert again.following(answer(few=False)) is None
