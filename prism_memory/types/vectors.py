"""Vectors, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["query", "passage"]

Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What pins a space of vectors: vectors of two identities are never compared."""

    provider: str
    model: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.provider}/{self.model} ({self.dimensions})"
