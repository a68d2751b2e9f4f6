"""B493, B113: the oracle keeps the contract, and the contract finds who does not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from prism_memory.errors import Invalid, LimitExceeded, Misconfigured
from prism_memory.testing import vector_indexes
from prism_memory.testing.vector_indexes import (
    RULES,
    Demand,
    NumpyIndex,
    check_vector_index,
)

WIDTH = 16
SMALL = Demand(rows=2_000)


def exact() -> NumpyIndex:
    return NumpyIndex(WIDTH)


def test_case_c05_the_oracle_conforms_at_full_size() -> None:
    """B113, C05: 20,000 rows."""
    check_vector_index(exact)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_oracle_keeps_each_rule(rule: Callable[..., None]) -> None:
    rule(exact, SMALL)


def test_the_oracle_breaks_ties_by_the_order_of_adding() -> None:
    index = exact()
    index.add(["b", "a", "c"], ["s"] * 3, [[1.0] * WIDTH] * 3)

    assert [i for i, _ in index.search("s", [1.0] * WIDTH, 2)] == ["b", "a"]


def test_the_oracle_refuses_rows_without_a_vector() -> None:
    with pytest.raises(Invalid, match="one length"):
        exact().add(["a", "b"], ["s", "s"], [[1.0] * WIDTH])


def test_the_oracle_refuses_a_page_of_less_than_nothing() -> None:
    with pytest.raises(LimitExceeded):
        exact().search("s", [1.0] * WIDTH, -1)


def test_without_numpy_it_is_told_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)

    with pytest.raises(Misconfigured, match=r'"django-prism-memory\[local\]"'):
        exact()


# Wrong ones


Hits = list[tuple[str, float]]


class LateFilter(NumpyIndex):
    """Filters after the cut: the page of a small scope is not full."""

    def search(self, scope: str, query: Any, k: int) -> Hits:
        return [hit for hit in everywhere(self, query)[: k * 4] if at(self, hit, scope)]


class Unfiltered(NumpyIndex):
    def search(self, scope: str, query: Any, k: int) -> Hits:
        del scope
        return everywhere(self, query)[:k]


class ByPrefix(NumpyIndex):
    """A scope is found by the beginning of its name."""

    def search(self, scope: str, query: Any, k: int) -> Hits:
        found = everywhere(self, query)
        scopes = [name for name in self._scopes if name.startswith(scope)]
        return [hit for hit in found if any(at(self, hit, s) for s in scopes)][:k]


class SmallBeam(NumpyIndex):
    """Looks at three quarters of a scope, as an index of too few links does."""

    def search(self, scope: str, query: Any, k: int) -> Hits:
        found = super().search(scope, query, 100_000)
        first = sorted(found, key=lambda hit: int(hit[0]) % 4 == 0)  # stable
        return sorted(first[:k], key=lambda hit: -hit[1])


class Distance(NumpyIndex):
    def search(self, scope: str, query: Any, k: int) -> Hits:
        return [(i, 1 - cosine) for i, cosine in super().search(scope, query, k)]


class FarthestFirst(NumpyIndex):
    def search(self, scope: str, query: Any, k: int) -> Hits:
        return super().search(scope, query, k)[::-1]


class InnerProduct(NumpyIndex):
    """Compares lengths too."""

    def _unit(self, vector: Any) -> list[float]:
        super()._unit(vector)
        return list(vector)


class Lenient(NumpyIndex):
    """Cuts and fills what is of another width."""

    def _unit(self, vector: Any) -> list[float]:
        filled = [*vector, *[0.0] * self.dimensions][: self.dimensions]
        return super()._unit(filled)


class Zeroing(NumpyIndex):
    """Takes what is no number for nothing."""

    def _unit(self, vector: Any) -> list[float]:
        return super()._unit([x if abs(x) < 1e300 else 0.0 for x in vector])


class HalfABatch(NumpyIndex):
    """Adds one row after the other, so that a refused batch leaves some."""

    def add(self, ids: Sequence[str], scopes: Sequence[str], vectors: Any) -> None:
        for row in zip(ids, scopes, vectors, strict=True):
            super().add([row[0]], [row[1]], [row[2]])


class Remembering(NumpyIndex):
    """A tombstone that takes a place on the page."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.gone: set[str] = set()

    def remove(self, ids: Sequence[str]) -> None:
        self.gone |= set(ids)

    def search(self, scope: str, query: Any, k: int) -> Hits:
        return [h for h in super().search(scope, query, k) if h[0] not in self.gone]


class Immortal(NumpyIndex):
    def remove(self, ids: Sequence[str]) -> None:
        pass


class Strict(NumpyIndex):
    def remove(self, ids: Sequence[str]) -> None:
        known = {i for rows in self._scopes.values() for i in rows}
        if not known >= set(ids):
            raise KeyError(ids)
        super().remove(ids)


class Frozen(NumpyIndex):
    """Built at the first search, and never again."""

    def search(self, scope: str, query: Any, k: int) -> Hits:
        self.built = getattr(self, "built", None) or dict(self._scopes[scope])
        found = super().search(scope, query, 100_000)
        return [hit for hit in found if hit[0] in self.built][:k]


class Moody(NumpyIndex):
    """Breaks ties anew each time."""

    turn = 0

    def search(self, scope: str, query: Any, k: int) -> Hits:
        self.turn += 1
        found = super().search(scope, query, 100_000)
        return sorted(
            found, key=lambda hit: (-round(hit[1], 9), hash((hit[0], self.turn)))
        )[:k]


class WithoutTies(NumpyIndex):
    """Keeps one of equal rows."""

    def search(self, scope: str, query: Any, k: int) -> Hits:
        found = super().search(scope, query, 100_000)
        return [*{round(cosine, 9): (i, cosine) for i, cosine in found}.values()][:k]


class Twice(NumpyIndex):
    def search(self, scope: str, query: Any, k: int) -> Hits:
        found = super().search(scope, query, k)
        return [*found[:1], *found[:-1]]


class Greedy(NumpyIndex):
    """Gives a row where none was asked for, or none is there."""

    def search(self, scope: str, query: Any, k: int) -> Hits:
        return super().search(scope, query, max(k, 1)) or [("none", 0.0)]


def everywhere(index: NumpyIndex, query: Any) -> Hits:
    found = [
        hit
        for scope in index._scopes
        for hit in NumpyIndex.search(index, scope, query, 100_000)
    ]
    return sorted(found, key=lambda hit: -hit[1])


def at(index: NumpyIndex, hit: tuple[str, float], scope: str) -> bool:
    return hit[0] in index._scopes.get(scope, {})


@pytest.mark.parametrize(
    ("rule", "wrong", "words"),
    [
        ("fills_every_page_under_a_filter", LateFilter, "rows instead of"),
        ("fills_every_page_under_a_filter", Unfiltered, "a foreign row"),
        ("fills_every_page_under_a_filter", SmallBeam, "of the 20 nearest"),
        ("finds_the_nearest_first", SmallBeam, "of the 10 nearest"),
        ("finds_the_nearest_first", Distance, "a cosine is off"),
        ("finds_the_nearest_first", FarthestFirst, "not nearest first"),
        ("finds_the_nearest_first", Twice, "a row comes twice|rows instead"),
        ("finds_the_nearest_first", Greedy, "1 rows instead of 0"),
        ("is_empty_at_first", Greedy, "an empty index gave rows"),
        ("shows_no_foreign_row", Unfiltered, "gave"),
        ("shows_no_foreign_row", ByPrefix, "gave"),
        ("keeps_ties", Moody, "anew each time"),
        ("keeps_ties", WithoutTies, "ties are lost"),
        ("compares_directions", InnerProduct, "lengths|cosines"),
        ("compares_directions", Distance, "cosines of 1"),
        ("sees_what_came_later", Frozen, "rows instead|nearest"),
        ("forgets_what_is_removed", Immortal, "still found"),
        ("forgets_what_is_removed", Remembering, "rows instead of"),
        ("refuses_what_is_no_vector", Lenient, "was taken: "),
        ("refuses_what_is_no_vector", Zeroing, "was taken: "),
        ("refuses_what_is_no_vector", HalfABatch, "refused batch left"),
    ],
)
def test_who_breaks_a_rule_is_found(
    rule: str, wrong: type[NumpyIndex], words: str
) -> None:
    """B493."""
    with pytest.raises(AssertionError, match=words):
        getattr(vector_indexes, rule)(lambda: wrong(WIDTH), SMALL)


def test_an_unknown_row_may_be_removed() -> None:
    with pytest.raises(KeyError):
        vector_indexes.forgets_what_is_removed(lambda: Strict(WIDTH), SMALL)


def test_a_recall_over_the_bound_is_enough() -> None:
    class Nearly(NumpyIndex):
        """Has the last of each page wrong."""

        def search(self, scope: str, query: Any, k: int) -> Hits:
            found = super().search(scope, query, k + 1)
            return [*found[: k - 1], *found[k:]] if 0 < k < len(found) else found[:k]

    rule = vector_indexes.fills_every_page_under_a_filter
    rule(lambda: Nearly(WIDTH), Demand(recall=0.9, rows=2_000))
    with pytest.raises(AssertionError, match="of the 20 nearest"):
        rule(lambda: Nearly(WIDTH), Demand(recall=0.99, rows=2_000))
    with pytest.raises(AssertionError, match="rows instead"):
        rule(lambda: LateFilter(WIDTH), Demand(recall=0.1, rows=2_000))


def test_rounding_decides_nothing() -> None:
    """Vectors in half precision are no worse neighbours."""

    class Half(NumpyIndex):
        def _unit(self, vector: Any) -> list[float]:
            unit = np.array(super()._unit(vector), dtype=np.float16)
            return [float(x) for x in unit]

    check_vector_index(lambda: Half(WIDTH), tolerance=1e-3, rows=2_000)
    with pytest.raises(AssertionError, match="a cosine is off"):
        check_vector_index(lambda: Half(WIDTH), rows=2_000)
