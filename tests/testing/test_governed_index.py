"""B493, C05: recall's vector leg keeps the contract, exact and by the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings

from prism_memory.testing.vector_indexes import RULES, Demand
from tests.testing.governed_index import EMBEDDERS, GivenEmbedder, GovernedIndex

HALF = 1e-3
"""Vectors are stored in half precision."""

ROWS = 2_000
"""The full size of C05 is in ``tests/recall/test_strategies.py``."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _given() -> Iterator[None]:
    GivenEmbedder.vectors.clear()
    GovernedIndex.strategies.clear()
    with changed(EMBEDDERS=EMBEDDERS):
        yield


def changed(**values: Any) -> Any:
    return override_settings(PRISM_MEMORY={**settings.PRISM_MEMORY, **values})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_case_c05_the_exact_scan_keeps(rule: Callable[..., None]) -> None:
    """C05, B493."""
    rule(GovernedIndex, Demand(recall=1.0, tolerance=HALF, rows=ROWS))

    assert GovernedIndex.strategies <= {"exact", "none"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_case_c05_the_index_keeps(rule: Callable[..., None]) -> None:
    """C05, B493: forced into the index, which ends early in the smallest scopes."""
    with changed(EXACT_SCAN_ROWS=0, HNSW_MAX_SCAN_TUPLES=200_000):
        rule(
            partial(GovernedIndex, indexed=True),
            Demand(recall=0.99, tolerance=HALF, rows=ROWS),
        )

    if rule.__name__ == "fills_every_page_under_a_filter":
        assert "index" in GovernedIndex.strategies
