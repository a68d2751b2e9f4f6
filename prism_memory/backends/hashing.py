"""Words hashed into a few axes: no model, no meaning. For tests only (B110)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import ClassVar, Final

from django.core import checks

from prism_memory.backends.base import Embedder
from prism_memory.types import Role, Vector

FNV_OFFSET: Final = 2_166_136_261
"""Source: FNV-1a, 32 bits."""

FNV_PRIME: Final = 16_777_619
"""Source: FNV-1a, 32 bits."""

TOKEN: Final = re.compile("[a-z0-9]+")


class HashEmbedder(Embedder):
    """Count the hashed words of a text: deterministic, offline, without meaning.

    Two texts are near when they share words. Use it in tests, never to remember.

    Args:
        dimensions: Width of a vector, 1..4,000.
        for_tests: True silences the system check that warns about this backend.
    """

    local: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True

    def __init__(self, *, dimensions: int = 32, for_tests: bool = False) -> None:
        super().__init__(provider="hashing", model="fnv1a", dimensions=dimensions)
        self.for_tests = for_tests

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text; role and timeout do not matter."""
        del role, timeout_seconds
        return [hash_vector(text, self.dimensions) for text in texts]

    def check(self) -> list[checks.CheckMessage]:
        """Warn, unless ``for_tests``, that recall by meaning will not work."""
        if self.for_tests:
            return []
        return [
            checks.Warning(
                "HashEmbedder knows no meaning; it is for tests only.",
                hint="Choose another BACKEND, or set its OPTIONS for_tests=True.",
                id="prism_memory.W050",
            )
        ]


def hash_vector(text: str, dimensions: int) -> list[float]:
    """Return the counts of the hashed words of ``text``, scaled to length 1.

    A text without a word gets the first axis, so that every text has a direction
    (B111).
    """
    counts = [0] * dimensions
    for token in TOKEN.findall(text.lower()):
        counts[axis(token, dimensions)] += 1
    if not any(counts):
        counts[0] = 1
    length = math.hypot(*counts)
    return [count / length for count in counts]


def axis(token: str, dimensions: int) -> int:
    """Return the axis of a word: its hash as a signed number, without the sign."""
    value = fnv1a(token.encode())
    signed = value - 2**32 if value >= 2**31 else value
    return abs(signed) % dimensions


def fnv1a(octets: bytes) -> int:
    """Return the FNV-1a hash, 0..2**32 - 1."""
    value = FNV_OFFSET
    for octet in octets:
        value = (value ^ octet) * FNV_PRIME & 0xFFFFFFFF
    return value
