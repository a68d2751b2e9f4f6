"""fastembed's cross-encoders: guarded, and called by their own API."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from django.test import override_settings

from prism_memory.backends import get_reranker, rerank_scores
from prism_memory.backends.reranker_fastembed import MODULE, FastEmbedReranker
from prism_memory.errors import Misconfigured
from tests.backends import fakes

PATH = "prism_memory.backends.reranker_fastembed.FastEmbedReranker"


@pytest.fixture
def _package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", fakes.fastembed())
    monkeypatch.setitem(sys.modules, MODULE, fakes.cross_encoder())
    monkeypatch.setitem(sys.modules, "onnxruntime", fakes.onnxruntime())


@pytest.mark.usefixtures("_package")
def test_the_model_is_loaded_at_the_first_text() -> None:
    reranker = FastEmbedReranker(model="m", cache_dir="models", threads=2)
    assert reranker.rerank("bees", [], timeout_seconds=1) == []
    assert fakes.TextCrossEncoder.made == []

    rerank_scores(reranker, "bees", ["rain"], timeout_seconds=1)
    found = reranker.rerank("bees", ("rain", "bees"), timeout_seconds=1)

    assert found == [-10.0, 10.0]
    assert all(type(score) is float for score in found)
    options = {"cache_dir": "models", "threads": 2, "local_files_only": False}
    assert fakes.TextCrossEncoder.made == [("m", options)]


@pytest.mark.usefixtures("_package")
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Xenova/ms-marco-MiniLM-L-6-v2", []),
        ("xenova/MS-marco-minilm-l-6-v2", []),
        ("other", ["prism_memory.E054"]),
    ],
)
def test_a_model_that_is_not_listed_is_reported(
    model: str, expected: list[str]
) -> None:
    assert [m.id for m in FastEmbedReranker(model=model).check()] == expected


@pytest.mark.usefixtures("_package")
@pytest.mark.parametrize("options", [{"threads": 0}, {"batch_size": 129}])
def test_options_out_of_bounds_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match=next(iter(options))):
        FastEmbedReranker(model="m", **options)


def test_a_missing_package_is_told_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)  # as if not installed
    entry = {"BACKEND": PATH, "OPTIONS": {"model": "m"}}
    install = r'fastembed is not installed.*"django-prism-memory\[fastembed\]"'
    with (
        override_settings(PRISM_MEMORY={"RERANKERS": {"mine": entry}}),
        pytest.raises(Misconfigured, match=rf"\['RERANKERS'\]\['mine'\].*{install}"),
    ):
        get_reranker("mine")
