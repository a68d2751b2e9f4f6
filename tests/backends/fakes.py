"""Stand-ins for the packages that are too large to test with, by their own API."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from prism_memory.backends.hashing import hash_vector
from tests.rerankers import overlap

WIDTH = 24


def vectors(texts: list[str]) -> Any:
    rows = [hash_vector(text, WIDTH) for text in texts]
    return np.array(rows, dtype=np.float32) * 7  # not of unit length


class SentenceTransformer:
    made: list[tuple[str, dict[str, Any]]] = []

    def __init__(self, name: str, **options: Any) -> None:
        self.made.append((name, options))

    def encode(
        self, sentences: list[str], *, batch_size: int, show_progress_bar: bool
    ) -> Any:
        assert batch_size > 0
        assert not show_progress_bar
        return vectors(sentences)


class TextEmbedding:
    made: list[tuple[str, dict[str, Any]]] = []

    def __init__(self, model_name: str, **options: Any) -> None:
        self.made.append((model_name, options))

    def query_embed(self, query: list[str]) -> Any:
        yield from vectors([f"query {text}" for text in query])

    def passage_embed(self, texts: list[str]) -> Any:
        yield from vectors(texts)

    @classmethod
    def list_supported_models(cls) -> list[dict[str, Any]]:
        return [{"model": "BAAI/bge-small", "dim": WIDTH, "license": "mit"}]


class TextCrossEncoder:
    made: list[tuple[str, dict[str, Any]]] = []

    def __init__(self, model_name: str, **options: Any) -> None:
        self.made.append((model_name, options))

    def rerank(self, query: str, documents: list[str], *, batch_size: int) -> Any:
        assert isinstance(documents, list)
        assert batch_size > 0
        for document in documents:
            yield np.float32(overlap(query, document) * 20 - 10)  # as logits are

    @classmethod
    def list_supported_models(cls) -> list[dict[str, Any]]:
        return [{"model": "Xenova/ms-marco-MiniLM-L-6-v2", "size_in_GB": 0.08}]


def sentence_transformers() -> ModuleType:
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    SentenceTransformer.made.clear()
    return module


def onnxruntime() -> ModuleType:
    module = ModuleType("onnxruntime")
    module.disable_telemetry_events = int  # type: ignore[attr-defined]
    return module


def fastembed() -> ModuleType:
    module = ModuleType("fastembed")
    module.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    TextEmbedding.made.clear()
    return module


def cross_encoder() -> ModuleType:
    """The module ``fastembed.rerank.cross_encoder``."""
    module = ModuleType("cross_encoder")
    module.TextCrossEncoder = TextCrossEncoder  # type: ignore[attr-defined]
    TextCrossEncoder.made.clear()
    return module
