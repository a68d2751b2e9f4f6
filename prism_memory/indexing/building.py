"""Begin to build a space beside the one that answers, or go on with one."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from prism_memory import audit, backends
from prism_memory.errors import Conflict
from prism_memory.indexing.spaces import Space, create, space_of
from prism_memory.models import EmbeddingSpace, SpaceState
from prism_memory.types import Actor, EmbedderIdentity


def build_space(
    *, using: str, alias: str, backend: str, actor: Actor, at: dt.datetime
) -> Space:
    """Return the space of ``alias`` that is built with an embedder's vectors.

    From its commit on, what is written goes to both. One that is being built already
    is gone on with, and so is a retired one of that embedder: it has most of its
    vectors.

    Args:
        backend: Entry of EMBEDDERS that embeds for it.

    Raises:
        Conflict: There is nothing to build beside; the active space is that embedder's;
            or another one is being built.
        Misconfigured: There is no such entry.
    """
    identity = backends.get_embedder(backend).identity
    with transaction.atomic(using=using):
        rows = locked(using=using, alias=alias)
        found = _standing(rows, alias, identity)
        if found is None:
            _make(using, alias, backend, identity)
            rows = locked(using=using, alias=alias)
            found = next(row for row in rows if row.state == SpaceState.BUILDING)
        elif found.state == SpaceState.RETIRED:
            found.state, found.state_since = SpaceState.BUILDING, at
            found.backend = _entry(alias, backend)
            found.save(using=using, update_fields=("state", "state_since", "backend"))
        else:
            return space_of(found)
        audit.record(
            using=using,
            tenant="",
            actor=actor,
            action="space.build",
            target=f"space:{found.id}",
            at=at,
            detail={"alias": alias, "backend": backend},
        )
    return space_of(found)


def locked(*, using: str, alias: str) -> list[EmbeddingSpace]:
    """Lock the spaces of an alias, the oldest first. One query.

    Not against those who write vectors to them.
    """
    rows = EmbeddingSpace.objects.using(using).select_for_update(no_key=True)
    return list(rows.filter(alias=alias).order_by("id"))


def _standing(
    rows: list[EmbeddingSpace], alias: str, identity: EmbedderIdentity
) -> EmbeddingSpace | None:
    """Return the space that is to be gone on with, if there is one."""
    by_state = {row.state: row for row in rows}
    active = by_state.get(SpaceState.ACTIVE)
    if active is None:
        message = f"{alias!r} has no vectors yet: give its own entry the new embedder."
        raise Conflict(message, field="to")
    if active.identity == identity:
        message = f"The vectors of {alias!r} are {identity} already."
        raise Conflict(message, field="to")
    building = by_state.get(SpaceState.BUILDING)
    if building is not None and building.identity != identity:
        message = (
            f"A space of {building.identity} is being built for {alias!r}; drop it"
            f" first (prism_memory_index drop --space {building.id})."
        )
        raise Conflict(message, field="to")
    retired = (row for row in reversed(rows) if row.state == SpaceState.RETIRED)
    return building or next((r for r in retired if r.identity == identity), None)


def _make(using: str, alias: str, backend: str, identity: EmbedderIdentity) -> None:
    create(
        using=using,
        alias=alias,
        identity=identity,
        state=SpaceState.BUILDING,
        backend=_entry(alias, backend),
    )


def _entry(alias: str, backend: str) -> str:
    return "" if backend == alias else backend
