"""Embedding spaces: which vectors may be compared with which."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import EmbedderMismatch
from prism_memory.types import EmbedderIdentity


@dataclass(frozen=True)
class Space:
    """The active space of an embedder's alias.

    Args:
        indexed: An HNSW index was made for it, so large scopes may use it.
    """

    id: int
    alias: str
    identity: EmbedderIdentity
    indexed: bool


def find_active(*, using: str, alias: str) -> Space | None:
    """Return the active space of ``alias``, if there is one. One query."""
    rows = queries.fetch(using, named("indexing")["active_space"], {"alias": alias})
    for row in rows:
        identity = EmbedderIdentity(row["provider"], row["model"], row["dimensions"])
        return Space(row["id"], alias, identity, row["index_mode"] == "hnsw")
    return None


def active(*, using: str, alias: str, identity: EmbedderIdentity) -> Space:
    """Return the active space of ``alias``, made on its first use.

    Raises:
        EmbedderMismatch: The space holds another embedder's vectors (B480, C23).
    """
    space = find_active(using=using, alias=alias)
    if space is None:
        given = {
            "alias": alias,
            "provider": identity.provider,
            "model": identity.model,
            "dimensions": identity.dimensions,
        }
        queries.execute(using, named("indexing")["create_space"], given)
        space = find_active(using=using, alias=alias)
    if space is None:
        message = f"The space of {alias!r} was made and removed at once."
        raise EmbedderMismatch(message, field=alias)
    _refuse_mismatch(space, alias, identity)
    return space


_known: dict[tuple[str, str], tuple[float, Space]] = {}
KNOWN_SECONDS: Final = 30.0
"""How long a reader trusts a space it knows. The statement itself checks that it is
still the active one, so this only delays the use of a new index."""


def known_space(
    *, using: str, alias: str, identity: EmbedderIdentity, fresh: bool = False
) -> Space | None:
    """Return the active space as a reader may remember it. No query, or one.

    Raises:
        EmbedderMismatch: The space holds another embedder's vectors (B480, C23).
    """
    seen, space = _known.get((using, alias), (0.0, None))
    if fresh or space is None or time.monotonic() - seen > KNOWN_SECONDS:
        space = find_active(using=using, alias=alias)
        if space is None:
            return None
        _known[using, alias] = (time.monotonic(), space)
    _refuse_mismatch(space, alias, identity)
    return space


def forget_known(*, using: str, alias: str) -> None:
    """Let this process look the space up anew."""
    _known.pop((using, alias), None)


def _refuse_mismatch(space: Space, alias: str, identity: EmbedderIdentity) -> None:
    if space.identity != identity:
        message = (
            f"The vectors of {alias!r} are {space.identity}, the embedder is "
            f"{identity}; vectors of two embedders are never mixed. Give the new one "
            "an alias of its own, then run prism_memory_index enqueue."
        )
        raise EmbedderMismatch(message, field=alias)
