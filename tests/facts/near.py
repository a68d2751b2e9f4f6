"""Claims whose nearness a test says, and what was made of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from django.test import override_settings

from prism_memory.backends.hashing import HashEmbedder
from prism_memory.conf import user_settings
from prism_memory.models import ConflictDecision, Evidence, Fact, FactVersion, Record
from prism_memory.types import Role, Vector
from tests.embedders import DIMENSIONS

TABLES = (Fact, FactVersion, Evidence, Record)


class PlannedEmbedder(HashEmbedder):
    """Put each text at a cosine to every text that is not planned."""

    cosines: ClassVar[dict[str, float]] = {}
    texts: ClassVar[list[str]] = []

    def __init__(self) -> None:
        super().__init__(dimensions=DIMENSIONS, for_tests=True)

    def embed_texts(
        self,
        texts: Sequence[str],
        *,
        role: Role,  # noqa: ARG002 - an embedder's own
        timeout_seconds: float,  # noqa: ARG002 - likewise
    ) -> list[Vector]:
        self.texts.extend(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        planned = [cosine for words, cosine in self.cosines.items() if words in text]
        cosine = planned[0] if planned else 1.0
        return [cosine, math.sqrt(1 - cosine * cosine), *[0.0] * (DIMENSIONS - 2)]


@contextmanager
def planned(cosines: dict[str, float] | None = None, **given: Any) -> Iterator[None]:
    """Embed by plan.

    Args:
        cosines: Of each text, by some of its words, to all that is not among them.
        given: More settings.
    """
    path = f"{__name__}.PlannedEmbedder"
    found = {**user_settings(), "EMBEDDERS": {"default": {"BACKEND": path}}, **given}
    PlannedEmbedder.cosines = cosines or {}
    PlannedEmbedder.texts.clear()
    with override_settings(PRISM_MEMORY=found):
        yield


def counts() -> dict[str, int]:
    """How many rows the tables of facts hold."""
    return {table.__name__: table.objects.count() for table in TABLES}


def last_decision() -> ConflictDecision:
    return ConflictDecision.objects.latest("id")
