"""B182: what is shared stands where its scores put it, as if all were in one place."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from prism_memory.recall.merging import MEASURES, merged

LEGS = ("vector", "text", "recency")


def row(**measured: Any) -> dict[str, Any]:
    """A row that no leg placed yet."""
    unplaced = dict.fromkeys(("vector_rank", "text_rank", "recency_rank"))
    return {"cosine": None, "bm25": None, "sequence": 0, **unplaced, **measured}


def placed(rows: dict[str, dict[str, Any]], wanted: int) -> dict[str, dict[str, Any]]:
    """Place rows as one statement over all of them does: the naive model."""
    found = {i: dict(one) for i, one in rows.items()}
    for rank, measure in MEASURES.values():
        told = [i for i, one in rows.items() if one[measure] is not None]
        told.sort(key=lambda i: (-rows[i][measure], i))
        for place, i in enumerate(told[:wanted], start=1):
            found[i][rank] = place
    ranks = [rank for rank, _ in MEASURES.values()]
    return {i: one for i, one in found.items() if any(one[r] for r in ranks)}


measures = st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
rows = st.builds(row, cosine=measures, bm25=measures, sequence=st.integers(0, 5))


@given(st.lists(st.tuples(st.booleans(), rows), max_size=12), st.integers(1, 12))
def test_places_are_those_of_one_list(
    every: list[tuple[bool, dict[str, Any]]], wanted: int
) -> None:
    own = {f"{n:02}": one for n, (mine, one) in enumerate(every) if mine}
    shared = {f"{n:02}": one for n, (mine, one) in enumerate(every) if not mine}

    found = merged(placed(own, wanted), shared, LEGS, wanted)

    whole = placed({**own, **shared}, wanted)
    assert found.keys() >= whole.keys()  # none of the reader's own is pushed out
    assert {*found} - {*whole} <= {*own}
    for i, one in whole.items():
        for rank, _ in MEASURES.values():
            assert one[rank] is None or found[i][rank] == one[rank]
    assert all(
        found[i][r] == whole[i][r]
        for i in found
        if i in shared
        for r, _ in MEASURES.values()
    )


def test_what_is_given_stays_as_it_is() -> None:
    own, shared = {"a": row(cosine=0.5, vector_rank=1)}, {"b": row(cosine=0.9)}

    found = merged(own, shared, ["vector"], 5)

    assert (found["b"]["vector_rank"], found["a"]["vector_rank"]) == (1, 2)
    assert (own["a"]["vector_rank"], shared["b"]["vector_rank"]) == (1, None)


def test_a_leg_that_was_not_asked_places_nothing() -> None:
    assert merged({}, {"a": row(bm25=1.0)}, ["vector"], 5) == {}


def test_what_stands_beside_stays_without_a_place() -> None:
    own = {"a": row(cosine=0.1)}

    found = merged(own, {"b": row(cosine=0.9)}, ["vector"], 1)

    assert found["a"]["vector_rank"] is None
    assert found["b"]["vector_rank"] == 1
