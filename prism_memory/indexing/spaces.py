"""Embedding spaces: which vectors may be compared with which."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

from prism_memory import backends
from prism_memory.backends import Embedder
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import EmbedderMismatch
from prism_memory.models import EmbeddingSpace, SpaceState
from prism_memory.types import EmbedderIdentity


@dataclass(frozen=True)
class Space:
    """The vectors of one embedder under an alias.

    Args:
        alias: What records are written and asked with.
        indexed: An HNSW index was made for it, so large scopes may use it.
        backend: Entry of EMBEDDERS that embeds for it; empty: the alias's own.
        state: ``active``, ``building`` or ``retired``.
        situate: The setting SITUATE that its texts were indexed under; empty where
            nobody noted it.
    """

    id: int
    alias: str
    identity: EmbedderIdentity
    indexed: bool
    backend: str = ""
    state: str = SpaceState.ACTIVE
    situate: str = ""

    @property
    def entry(self) -> str:
        """Name among EMBEDDERS of what embeds for it."""
        return self.backend or self.alias


def space_of(row: EmbeddingSpace) -> Space:
    """Return a row of the table as this package knows it."""
    return Space(
        id=row.id,
        alias=row.alias,
        identity=row.identity,
        indexed=row.index_mode == "hnsw",
        backend=row.backend,
        state=row.state,
        situate=row.situate,
    )


def find_live(*, using: str, alias: str) -> tuple[Space, ...]:
    """Return the spaces of ``alias`` that are written to. One query.

    The one that answers comes first, then one that is being built.
    """
    rows = queries.fetch(using, named("indexing")["live_spaces"], {"alias": alias})
    return tuple(map(_read, rows))


def find_active(*, using: str, alias: str) -> Space | None:
    """Return the active space of ``alias``, if there is one. One query."""
    return _active_of(find_live(using=using, alias=alias))


def live(*, using: str, alias: str) -> tuple[Space, ...]:
    """Return as ``find_live`` does; the active one is made on its first use.

    Raises:
        EmbedderMismatch: The active space holds another embedder's vectors.
        Misconfigured: No entry of EMBEDDERS embeds for it.
    """
    found = find_live(using=using, alias=alias)
    if _active_of(found) is None:
        create(
            using=using,
            alias=alias,
            identity=backends.get_embedder(alias).identity,
            state=SpaceState.ACTIVE,
        )
        found = find_live(using=using, alias=alias)
    space = _active_of(found)
    if space is None:
        message = f"The space of {alias!r} was made and removed at once."
        raise EmbedderMismatch(message, field=alias)
    embedder_of(space)
    return found


def embeddable(*, using: str, alias: str) -> tuple[Space, ...]:
    """Return the spaces of ``alias`` that can be embedded for. One query.

    As ``live``; where the settings name another embedder and that is not refused, only
    one that is being built.

    Raises:
        EmbedderMismatch, Misconfigured: As ``live``.
    """
    try:
        return live(using=using, alias=alias)
    except EmbedderMismatch:
        if settings.EMBEDDER_CHANGED == "refuse":
            raise
    found = find_live(using=using, alias=alias)
    return tuple(one for one in found if one.state == SpaceState.BUILDING)


def active(
    *, using: str, alias: str, identity: EmbedderIdentity | None = None
) -> Space:
    """Return the active space of ``alias``, made on its first use.

    Args:
        identity: Of the embedder that is to be used; its own one's when None.

    Raises:
        EmbedderMismatch: The space holds another embedder's vectors (B480, C23).
    """
    if identity is None:
        return live(using=using, alias=alias)[0]
    space = find_active(using=using, alias=alias)
    if space is None:
        create(using=using, alias=alias, identity=identity, state=SpaceState.ACTIVE)
        space = find_active(using=using, alias=alias)
    if space is None:
        message = f"The space of {alias!r} was made and removed at once."
        raise EmbedderMismatch(message, field=alias)
    _refuse_mismatch(space, identity)
    return space


def create(
    *,
    using: str,
    alias: str,
    identity: EmbedderIdentity,
    state: SpaceState,
    backend: str = "",
) -> None:
    """Make a space, unless the alias has one in that state."""
    given = {
        "alias": alias,
        "backend": backend,
        "provider": identity.provider,
        "model": identity.model,
        "dimensions": identity.dimensions,
        "state": state,
        "situate": settings.SITUATE,
    }
    queries.execute(using, named("indexing")["create_space"], given)


def embedder_of(space: Space) -> Embedder:
    """Return what embeds for a space.

    That is the entry of EMBEDDERS that the space names, or the alias's own where that
    has become the same.

    Raises:
        EmbedderMismatch: It is another embedder than the one of the vectors.
        Misconfigured: There is no such entry, or it does not work.
    """
    own = space.alias in settings.EMBEDDERS and space.entry not in settings.EMBEDDERS
    embedder = backends.get_embedder(space.alias if own else space.entry)
    _refuse_mismatch(space, embedder.identity)
    return embedder


def is_situated_otherwise(*, using: str) -> bool:
    """Tell whether texts were indexed under another SITUATE than now. One query."""
    given = {"situate": settings.SITUATE}
    (row,) = queries.fetch(using, named("indexing")["situated_otherwise"], given)
    return bool(row["spaces"])


def note_situate(*, using: str) -> None:
    """Note that all texts are indexed as the setting SITUATE says now."""
    given = {"situate": settings.SITUATE}
    queries.execute(using, named("indexing")["note_situate"], given)


_known: dict[tuple[str, str], tuple[float, Space]] = {}
KNOWN_SECONDS: Final = 30.0
"""How long a reader trusts a space it knows. The statement itself checks that it is
still the active one, so this only delays the use of a new index."""


def known_space(
    *,
    using: str,
    alias: str,
    identity: EmbedderIdentity | None = None,
    fresh: bool = False,
) -> Space | None:
    """Return the active space as a reader may remember it. No query, or one.

    Args:
        identity: As in ``active``.

    Raises:
        EmbedderMismatch: The space holds another embedder's vectors (B480, C23).
    """
    seen, space = _known.get((using, alias), (0.0, None))
    if fresh or space is None or time.monotonic() - seen > KNOWN_SECONDS:
        space = find_active(using=using, alias=alias)
        if space is None:
            return None
        _known[using, alias] = (time.monotonic(), space)
    if identity is None:
        embedder_of(space)
    else:
        _refuse_mismatch(space, identity)
    return space


def forget_known(*, using: str, alias: str) -> None:
    """Let this process look the space up anew."""
    _known.pop((using, alias), None)


def _active_of(found: tuple[Space, ...]) -> Space | None:
    return next((one for one in found if one.state == SpaceState.ACTIVE), None)


def _read(row: dict[str, Any]) -> Space:
    identity = EmbedderIdentity(row["provider"], row["model"], row["dimensions"])
    return Space(
        id=row["id"],
        alias=row["alias"],
        identity=identity,
        indexed=row["index_mode"] == "hnsw",
        backend=row["backend"],
        state=row["state"],
        situate=row["situate"],
    )


def _refuse_mismatch(space: Space, identity: EmbedderIdentity) -> None:
    if space.identity != identity:
        message = (
            f"The vectors of {space.alias!r} are {space.identity}, the embedder is "
            f"{identity}; vectors of two embedders are never mixed. Give the new one "
            "an alias of its own, then run prism_memory_index rebuild --to it."
        )
        raise EmbedderMismatch(message, field=space.alias)
