"""B113, B481, C05: recall through an external index keeps the contract of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from prism_memory import indexing
from prism_memory.testing.vector_indexes import RULES, Demand
from prism_memory.types import Vector
from tests.indexes import WATCHED, chosen
from tests.recall.bulk import space
from tests.testing.governed_index import EMBEDDERS, GivenEmbedder, GovernedIndex

HALF = 1e-3
"""Vectors are stored in half precision."""

pytestmark = pytest.mark.django_db


class CopiedIndex(GovernedIndex):
    """What is laid down in bulk is told as one night's comparison tells it."""

    def add(
        self, ids: Sequence[str], scopes: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        super().add(ids, scopes, vectors)
        self.tell()

    def remove(self, ids: Sequence[str]) -> None:
        super().remove(ids)
        self.tell()

    def tell(self) -> None:
        own: dict[str, Any] = {"tenant": self.tenant, "space": space()}
        indexing.reconcile(using="default", **own)
        indexing.copy(using="default", **own)


@pytest.fixture(autouse=True)
def _given() -> Iterator[None]:
    GivenEmbedder.vectors.clear()
    GovernedIndex.strategies.clear()
    with chosen(WATCHED, EMBEDDERS=EMBEDDERS):
        yield


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_an_external_index_keeps(rule: Callable[..., None]) -> None:
    """B481, B493."""
    rule(CopiedIndex, Demand(recall=1.0, tolerance=HALF, rows=1_000))

    if rule.__name__ != "refuses_what_is_no_vector":
        assert GovernedIndex.strategies <= {"external", "none", "exact"}
    if rule.__name__ == "fills_every_page_under_a_filter":
        assert "external" in GovernedIndex.strategies
