"""An embedder that takes its time, as a model does."""

from __future__ import annotations

import time
from collections.abc import Sequence

from prism_memory.backends.hashing import HashEmbedder
from prism_memory.types import Role, Vector

SECONDS_PER_TEXT = 0.03


class SlowHashEmbedder(HashEmbedder):
    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        if role == "passage":
            time.sleep(SECONDS_PER_TEXT * len(texts))
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)
