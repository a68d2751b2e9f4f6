"""Two embedders, and a space of the second beside the first."""

from __future__ import annotations

from typing import Any

from prism_memory import backends, indexing
from prism_memory.backends.hashing import HashEmbedder, hash_vector
from prism_memory.indexing.spaces import create
from prism_memory.models import SpaceState
from prism_memory.types import EmbedderIdentity, Role, Vector
from tests.indexing.entries import ENTRIES


class Turned(HashEmbedder):
    """As wide as the first, and each vector says something else: mixing shows."""

    def __init__(self) -> None:
        super().__init__(dimensions=64, for_tests=True)
        self.identity = EmbedderIdentity("hashing", "turned", 64)

    def embed_texts(
        self, texts: Any, *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        del role, timeout_seconds
        return [[-x for x in reversed(hash_vector(text, 64))] for text in texts]


def configure(settings: Any, **more: Any) -> None:
    """Have both embedders in the settings."""
    given = {"EMBEDDERS": ENTRIES, **more}
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **given}


def building(entry: str = "next") -> indexing.Space:
    """Return a space that is being built, of an entry of EMBEDDERS."""
    identity = backends.get_embedder(entry).identity
    create(
        using="default",
        alias="default",
        identity=identity,
        state=SpaceState.BUILDING,
        backend=entry,
    )
    return indexing.find_live(using="default", alias="default")[-1]
