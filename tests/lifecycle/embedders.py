"""Embedders that watch, refuse or are down, all of one identity."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from django.test import override_settings

from prism_memory.backends.base import Embedder
from prism_memory.backends.hashing import HashEmbedder
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.types import Role, Vector

POISON = "poison"


class Watched(HashEmbedder):
    """Notes every text it is given."""

    seen: ClassVar[list[str]] = []

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        self.seen.extend(texts)
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class Choosy(HashEmbedder):
    """Refuses a batch that holds a text with the word poison."""

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        if any(POISON in text for text in texts):
            message = "It tastes bitter."
            raise ProviderRejected(message)
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class Slow(HashEmbedder):
    """Takes its time; notes how often it was asked."""

    SECONDS = 0.3
    asked: list[list[str]] = []

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        self.asked.append(list(texts))
        time.sleep(self.SECONDS)
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class Down(HashEmbedder):
    """Never answers."""

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        del texts, role, timeout_seconds
        message = "Nobody is at home."
        raise ProviderUnavailable(message)


def embedding_with(backend: type[Embedder], **more: Any) -> override_settings:
    """Put an embedder in the settings, and more settings."""
    if backend is Watched:
        Watched.seen.clear()
    path = f"{backend.__module__}.{backend.__name__}"
    described = {"BACKEND": path, "OPTIONS": {"dimensions": 64}}
    return override_settings(PRISM_MEMORY={"EMBEDDERS": {"default": described}, **more})
