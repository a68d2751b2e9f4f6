"""Embedders with a fault: down, or choosy about texts."""

from __future__ import annotations

from collections.abc import Sequence

from prism_memory.backends.hashing import HashEmbedder
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.types import Role, Vector


class Down(HashEmbedder):
    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        del texts, role, timeout_seconds
        message = "It is down."
        raise ProviderUnavailable(message)


class Picky(HashEmbedder):
    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        if any("Bad" in text for text in texts):
            message = "It refused a text."
            raise ProviderRejected(message)
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class Mended(HashEmbedder):
    """As ``Picky``, after its fault was mended."""
