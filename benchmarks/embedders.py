"""Embedders whose time does not count: made-up vectors, and a cache of real ones."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.corpus import DIMENSIONS, Vectors, vector_of
from prism_memory.backends.base import Embedder
from prism_memory.backends.minilm import MiniLMEmbedder
from prism_memory.types import Role, Vector


class SyntheticEmbedder(Embedder):
    """Any vector, but always the same for the same text; some 30 µs a text.

    Args:
        spread: See ``benchmarks.corpus``.
    """

    local = True
    deterministic = True

    def __init__(self, *, spread: str = "") -> None:
        self.spread = spread or os.environ.get("PRISM_BENCH_SPREAD", "shrinking")
        super().__init__(
            provider="benchmarks", model=self.spread, dimensions=DIMENSIONS
        )
        self._known: dict[str, Vectors] = {}

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text; kept, so that asking again costs a look-up."""
        del role, timeout_seconds
        for text in texts:
            if text not in self._known:
                self._known[text] = vector_of(text, self.spread)
        # Arrays, which `embed` takes as well.
        return [cast(Vector, self._known[text]) for text in texts]


class CachedEmbedder(Embedder):
    """all-MiniLM-L6-v2, asked once for each text; the vectors are kept on disk.

    A vector's name is the SHA-256 of model, role and text; no text is kept.

    Args:
        folder: Of the vectors; one in the system's temporary folder when None.
    """

    local = True
    deterministic = True

    def __init__(self, *, folder: str | None = None) -> None:
        self._inner = MiniLMEmbedder()
        identity = self._inner.identity
        super().__init__(
            provider=identity.provider,
            model=identity.model,
            dimensions=identity.dimensions,
        )
        self._folder = Path(folder) if folder else cache_folder()
        self._known: dict[str, Vector] = {}

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text; calls the model for those never seen."""
        names = [self._name(text, role) for text in texts]
        missing = [i for i, name in enumerate(names) if not self._load(name)]
        made = self._inner.embed_texts(
            [texts[i] for i in missing], role=role, timeout_seconds=timeout_seconds
        )
        for i, vector in zip(missing, made, strict=True):
            self._store(names[i], vector)
        return [self._known[name] for name in names]

    def _name(self, text: str, role: Role) -> str:
        words = "\0".join((self.identity.model, role, text))
        return hashlib.sha256(words.encode()).hexdigest()

    def _load(self, name: str) -> bool:
        if name in self._known:
            return True
        path = self._folder / name[:2] / name
        if not path.exists():
            return False
        self._known[name] = np.frombuffer(path.read_bytes(), np.float32).tolist()
        return True

    def _store(self, name: str, vector: Vector) -> None:
        path = self._folder / name[:2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(np.asarray(vector, np.float32).tobytes())
        fresh.replace(path)  # whole or not at all, also with two runs at once
        self._known[name] = list(map(float, vector))


def cache_folder() -> Path:
    """Return where vectors are kept: ``PRISM_BENCH_CACHE`` or a temporary folder."""
    named = os.environ.get("PRISM_BENCH_CACHE")
    return Path(named or Path(tempfile.gettempdir()) / "prism-memory-vectors")
