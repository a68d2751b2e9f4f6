"""The door of scores, and the registry of rerankers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import override_settings

from prism_memory.backends import get_reranker, rerank_scores
from prism_memory.errors import Misconfigured, ProviderRejected
from tests.rerankers import OVERLAP, Broken, OverlapReranker

HASH = "prism_memory.backends.hashing.HashEmbedder"


def scores(reranker: OverlapReranker, texts: list[str]) -> list[float]:
    return rerank_scores(reranker, "bees", texts, timeout_seconds=1)


def test_no_texts_call_nobody() -> None:
    """B494."""
    reranker = OverlapReranker()

    assert scores(reranker, []) == []
    assert reranker.asked == []


def test_an_array_is_taken_as_plain_floats() -> None:
    found = scores(Broken(lambda given: np.array(given, np.float32)), ["bees", "rain"])

    assert found == [1.0, 0.0]
    assert all(type(score) is float for score in found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda given: given[1:], "gave 1 scores for 2 texts"),
        (lambda given: iter(given), "gave no list for 2 texts"),
        (lambda given: np.array([given]), "gave 1 scores for 2 texts"),
        (lambda given: [given, given], "no finite number"),
    ],
)
def test_what_is_not_one_number_a_text_is_rejected(change: Any, words: str) -> None:
    with pytest.raises(ProviderRejected, match=words):
        scores(Broken(change), ["bees", "rain"])


def test_rerankers_have_aliases_of_their_own() -> None:
    given = {
        "EMBEDDERS": {"same": {"BACKEND": HASH}},
        "RERANKERS": {"same": {"BACKEND": OVERLAP}, "wrong": {"BACKEND": HASH}},
    }
    with override_settings(PRISM_MEMORY=given):
        first = get_reranker("same")
        assert isinstance(first, OverlapReranker)
        assert get_reranker("same") is first
        with pytest.raises(Misconfigured, match=r"\['wrong'\].* is not a Reranker"):
            get_reranker("wrong")
        with pytest.raises(Misconfigured, match=r"\['RERANKERS'\] has no 'sane'.*same"):
            get_reranker("sane")
