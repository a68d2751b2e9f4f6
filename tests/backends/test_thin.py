"""sentence-transformers and fastembed: guarded, and called by their own API."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from prism_memory.backends import embed
from prism_memory.backends.fastembed import FastEmbedEmbedder
from prism_memory.backends.hashing import hash_vector
from prism_memory.backends.sentence_transformers import SentenceTransformersEmbedder
from tests.backends import fakes


@pytest.fixture(autouse=True)
def _packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "sentence_transformers", fakes.sentence_transformers()
    )
    monkeypatch.setitem(sys.modules, "fastembed", fakes.fastembed())
    monkeypatch.setitem(sys.modules, "onnxruntime", fakes.onnxruntime())


def test_sentence_transformers_loads_at_the_first_text() -> None:
    embedder = SentenceTransformersEmbedder(
        model="org/model",
        dimensions=fakes.WIDTH,
        device="cpu",
        load_options={"revision": "abc"},
    )
    assert fakes.SentenceTransformer.made == []

    embed(embedder, ["a"], role="query")
    embed(embedder, ["b"], role="query")

    options = {"revision": "abc", "device": "cpu", "local_files_only": False}
    assert fakes.SentenceTransformer.made == [("org/model", options)]


def test_sentence_transformers_puts_the_prefix_of_the_role() -> None:
    embedder = SentenceTransformersEmbedder(
        model="m", dimensions=fakes.WIDTH, query_prefix="query "
    )

    (vector,) = embed(embedder, ["bees"], role="query")

    assert vector == pytest.approx(hash_vector("query bees", fakes.WIDTH), abs=1e-6)


def test_sentence_transformers_warns_of_a_download(tmp_path: Path) -> None:
    def checked(model: str, *, local_files_only: bool = False) -> list[str | None]:
        embedder = SentenceTransformersEmbedder(
            model=model, dimensions=8, local_files_only=local_files_only
        )
        return [message.id for message in embedder.check()]

    assert checked("org/model") == ["prism_memory.W052"]
    assert checked("org/model", local_files_only=True) == []
    assert checked(str(tmp_path)) == []


def test_fastembed_is_told_the_role() -> None:
    embedder = FastEmbedEmbedder(
        model="m", dimensions=fakes.WIDTH, cache_dir="models", threads=2
    )
    assert fakes.TextEmbedding.made == []

    (query,) = embed(embedder, ["bees"], role="query")
    (passage,) = embed(embedder, ["bees"], role="passage")

    assert query == pytest.approx(hash_vector("query bees", fakes.WIDTH), abs=1e-6)
    assert passage == pytest.approx(hash_vector("bees", fakes.WIDTH), abs=1e-6)
    options = {"cache_dir": "models", "threads": 2, "local_files_only": False}
    assert fakes.TextEmbedding.made == [("m", options)]


@pytest.mark.parametrize(
    ("model", "dimensions", "words"),
    [
        ("BAAI/bge-small", fakes.WIDTH, []),
        ("baai/BGE-small", fakes.WIDTH, []),
        ("BAAI/bge-small", 8, [f"has {fakes.WIDTH} dimensions"]),
        ("other", 8, ["is not listed"]),
    ],
)
def test_fastembed_checks_its_list(
    model: str, dimensions: int, words: list[str]
) -> None:
    messages = FastEmbedEmbedder(model=model, dimensions=dimensions).check()

    assert len(messages) == len(words)
    for message, word in zip(messages, words, strict=True):
        assert message.id == "prism_memory.E053"
        assert word in message.msg
