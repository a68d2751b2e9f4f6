"""What every index of vectors must do; run it against your own.

.. code-block:: python

    from prism_memory.testing.vector_indexes import check_vector_index


    def test_my_index_conforms():
        check_vector_index(lambda: MyIndex(dimensions=64), recall=0.99)

The suite asks an index for what ``NumpyIndex``, the oracle, finds by looking at all
rows. Each rule is a function of its own, so that a test can be parametrised over
``RULES``. Needs NumPy, which the extra ``local`` brings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from prism_memory.errors import PrismMemoryError
from prism_memory.testing.numpy_index import NumpyIndex, VectorIndex
from prism_memory.testing.pages import Demand, check_pages, fill, made, ones, shared
from prism_memory.testing.requiring import require
from prism_memory.types import Vector

__all__ = ["RULES", "Demand", "NumpyIndex", "VectorIndex", "check_vector_index"]

PAGES: Final = (20, 32)
TIMES: Final = 12
"""Drivers prepare a statement after a few calls, and then the plan may change."""

QUESTIONS: Final = 4

Factory = Callable[[], VectorIndex]
"""Makes an empty index of 8 dimensions or more; called by every rule."""


def check_vector_index(
    factory: Factory,
    *,
    recall: float = 1.0,
    tolerance: float = 1e-6,
    rows: int = 20_000,
) -> None:
    """Check an index against every rule below (B493).

    Args:
        factory: Makes an empty index.
        recall: Least share of the exact neighbours that it finds: 1 of an exact index,
            0.99 of one that approximates.
        tolerance: Most that a cosine may be off; 1e-3 where vectors are stored in half
            precision.
        rows: Rows of the large table (C05), 1,000 or more.

    Raises:
        AssertionError: A rule does not hold; the text says which and how.
    """
    demand = Demand(recall, tolerance, rows)
    for rule in RULES:
        rule(factory, demand)


def is_empty_at_first(factory: Factory, demand: Demand) -> None:
    """No rows, no hits, and no error."""
    del demand
    index = factory()
    require(index.dimensions >= 8, "the suite needs 8 dimensions or more")
    found = index.search("a", ones(index), 5)
    require(len(found) == 0, "an empty index gave rows")


def finds_the_nearest_first(factory: Factory, demand: Demand) -> None:
    """One scope of 200 rows: a few, a page, none, and more than there are."""
    index, oracle = factory(), oracle_of(factory)
    rows = made(index.dimensions, 200, seed=1)
    fill([index, oracle], rows, ["a"] * len(rows))
    questions = made(index.dimensions, QUESTIONS, seed=2)
    for k in (0, 1, 10, 32):
        check_pages(index, oracle, "a", questions, k, demand)
    few = factory()
    fill([few], rows[:7], ["a"] * 7)
    require(len(few.search("a", questions[0], 32)) == 7, "a short scope is not whole")


def fills_every_page_under_a_filter(factory: Factory, demand: Demand) -> None:
    """C05: as many rows as were asked for, whatever part of all rows the scope holds.

    Asked twelve times, 0.25 %, 2 %, 5 %, 20 % and the rest of the rows.
    """
    index, oracle = factory(), oracle_of(factory)
    rows = made(index.dimensions, demand.rows, seed=3)
    fill([index, oracle], rows, shared(demand.rows))
    questions = made(index.dimensions, QUESTIONS, seed=4) * (TIMES // QUESTIONS)
    for scope in sorted(set(shared(demand.rows))):
        for k in PAGES:
            check_pages(index, oracle, scope, questions, k, demand)


def shows_no_foreign_row(factory: Factory, demand: Demand) -> None:
    """Rows of another scope are not found, though they are the nearest by far."""
    del demand
    index = factory()
    query = ones(index)
    away = [-value for value in query]
    index.add(["theirs", "mine"], ["a", "ab"], [query, away])
    for scope, expected in (("ab", ["mine"]), ("a", ["theirs"]), ("b", []), ("", [])):
        found = [i for i, _ in index.search(scope, query, 5)]
        require(found == expected, f"the scope {scope!r} gave {found}")


def keeps_ties(factory: Factory, demand: Demand) -> None:
    """Equal rows are all found, before others, and the same ones each time."""
    index = factory()
    query = ones(index)
    other = [-query[0], *query[1:]]
    ids = [str(number) for number in range(20)]
    tied = set(ids[::2])
    index.add(ids, ["a"] * 20, [query if i in tied else other for i in ids])
    found = [i for i, _ in index.search("a", query, 12)]
    require(len(set(found)) == 12, "ties are lost or shown twice")
    require(set(found[:10]) == tied, "equal rows are not together")
    page = index.search("a", query, 5)
    require(all(abs(c - 1) <= demand.tolerance for _, c in page), "a cosine is off")
    for _ in range(TIMES):
        again = [i for i, _ in index.search("a", query, 5)]
        require(again == [i for i, _ in page], "ties are broken anew each time")


def compares_directions(factory: Factory, demand: Demand) -> None:
    """The length of a vector does not matter, of a row nor of a query."""
    index = factory()
    base = made(index.dimensions, 3, seed=5)
    opposite = [-value for value in base[0]]
    longer = [value * 700 for value in base[0]]
    shorter = [value / 700 for value in base[1]]
    index.add(list("abcd"), ["a"] * 4, [longer, shorter, base[2], opposite])
    for factor in (0.01, 1.0, 100.0):
        found = index.search("a", [value * factor for value in base[0]], 4)
        require([i for i, _ in found][::3] == ["a", "d"], "lengths are compared")
        ends = (found[0][1], found[-1][1])
        off = max(abs(ends[0] - 1), abs(ends[1] + 1))
        require(off <= demand.tolerance, f"cosines of 1 and -1 are {ends}")


def sees_what_came_later(factory: Factory, demand: Demand) -> None:
    """A row added after a search is found by the next."""
    index, oracle = factory(), oracle_of(factory)
    rows = made(index.dimensions, 120, seed=6)
    question = made(index.dimensions, 1, seed=7)
    for start in range(0, 120, 40):
        part = rows[start : start + 40]
        fill([index, oracle], part, ["a"] * 40, start=start)
        check_pages(index, oracle, "a", question, 20, demand)


def forgets_what_is_removed(factory: Factory, demand: Demand) -> None:
    """A removed row is gone, the page stays full, and it may be added again."""
    index, oracle = factory(), oracle_of(factory)
    rows = made(index.dimensions, 60, seed=8)
    fill([index, oracle], rows, ["a"] * 60)
    (question,) = made(index.dimensions, 1, seed=9)
    gone = [i for i, _ in oracle.search("a", question, 10)]
    for held in (index, oracle):
        held.remove([*gone, "never there"])
        held.remove(gone)
    left = {i for i, _ in index.search("a", question, 32)}
    require(not left & set(gone), "a removed row is still found")
    check_pages(index, oracle, "a", [question], 32, demand)
    fill([index, oracle], [rows[int(gone[0])]], ["a"], start=int(gone[0]))
    check_pages(index, oracle, "a", [question], 32, demand)


def refuses_what_is_no_vector(factory: Factory, demand: Demand) -> None:
    """Another width, no length, NaN and infinities; nothing of such a batch stays."""
    del demand
    index = factory()
    good = ones(index)
    bad: dict[str, Vector] = {
        "empty": [],
        "too narrow": good[:-1],
        "too wide": [*good, 1.0],
        "without length": [0.0] * index.dimensions,
        "not a number": [*good[:-1], math.nan],
        "infinite": [math.inf, *good[1:]],
    }
    for name, vector in bad.items():
        batch = [good, vector]
        refused(partial(index.add, ["x", "y"], ["a", "a"], batch), name)
        refused(partial(index.search, "a", vector, 5), f"query {name}")
    require(len(index.search("a", good, 5)) == 0, "a refused batch left rows")
    index.add(["x"], ["a"], [good])
    require(len(index.search("a", good, 5)) == 1, "after a refusal nothing is taken")


def refused(call: Callable[[], object], name: str) -> None:
    try:
        call()
    except (PrismMemoryError, ValueError):
        return
    require(holds=False, message=f"a vector was taken: {name}")


def oracle_of(factory: Factory) -> NumpyIndex:
    return NumpyIndex(factory().dimensions)


RULES: Final[tuple[Callable[[Factory, Demand], None], ...]] = (
    is_empty_at_first,
    finds_the_nearest_first,
    fills_every_page_under_a_filter,
    shows_no_foreign_row,
    keeps_ties,
    compares_directions,
    sees_what_came_later,
    forgets_what_is_removed,
    refuses_what_is_no_vector,
)
"""Every rule; each takes a factory and a demand, and raises AssertionError."""
