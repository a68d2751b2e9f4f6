"""Let the space that was built answer, or the one before it again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import replace
from functools import partial

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict
from prism_memory.indexing.building import build_space, locked
from prism_memory.indexing.hnsw import index_state
from prism_memory.indexing.spaces import Space, embedder_of, forget_known, space_of
from prism_memory.indexing.tenants import tenants
from prism_memory.indexing.writers import wait_for_writers
from prism_memory.models import EmbeddingSpace, SpaceState
from prism_memory.types import Actor


def behind(*, using: str, tenant: str, space: Space, other: Space) -> int:
    """Return how many vectors one space has or waits for and another lacks. One query.

    Args:
        space: What answers now.
        other: What is to answer.
    """
    given = {"tenant": tenant, "space_id": space.id, "other_id": other.id}
    (row,) = queries.fetch(using, named("indexing")["behind"], given)
    return int(row["behind"])


def stale(*, using: str, tenant: str, space: Space) -> int:
    """Return how many vectors are of another text than the record has. One query."""
    given = {"tenant": tenant, "space_id": space.id, "dimensions": 1}
    (row,) = queries.fetch(using, named("doctor")["vectors_amiss"], given)
    return int(row["stale"])


def switch_space(
    *,
    using: str,
    alias: str,
    actor: Actor,
    at: dt.datetime,
    reason: str = "",
    anyway: bool = False,
) -> Space:
    """Let the space that is being built answer, and retire the one that did.

    A recall that began before ends in the old one or begins anew; none mixes the two.
    The old one stays as it is until it is dropped. Afterwards the vectors of scopes are
    to be counted anew (``recount``).

    First waits for those who write at this moment: they may have begun when the new one
    was not there, and what they write would be looked for in vain. Nobody waits for it.

    Args:
        anyway: Also where it lacks vectors that the active one has, or its index; and
            without that wait.

    Raises:
        Conflict: Nothing is being built, or it is not whole; the error says what lacks.
            Or some who write do not end.
        EmbedderMismatch: Its embedder is not the one of its vectors any more.
    """
    seen = EmbeddingSpace.objects.using(using).filter(alias=alias)
    built = set(seen.filter(state=SpaceState.BUILDING).values_list("id", "state_since"))
    if built and not anyway:
        wait_for_writers(using=using)
    with transaction.atomic(using=using):
        by_state = {row.state: row for row in locked(using=using, alias=alias)}
        old, new = _two(by_state, alias)
        embedder_of(space_of(new))
        if not anyway:
            _refuse_newer(new, built)
            refuse_lacking(using=using, space=space_of(old), other=space_of(new))
        for row, state in ((old, SpaceState.RETIRED), (new, SpaceState.ACTIVE)):
            given = {"space_id": row.id, "state": state, "at": at}
            queries.execute(using, named("indexing")["set_state"], given)
        audit.record(
            using=using,
            tenant="",
            actor=actor,
            action="space.switch",
            target=f"space:{new.id}",
            at=at,
            reason=reason,
            detail={"alias": alias, "from": old.id, "anyway": anyway},
        )
        forget = partial(forget_known, using=using, alias=alias)
        transaction.on_commit(forget, using=using)
    return replace(space_of(new), state=SpaceState.ACTIVE)


def reopen_space(*, using: str, alias: str, actor: Actor, at: dt.datetime) -> Space:
    """Build the space again that was retired last, so that it can be switched back to.

    What was written since lacks its vectors; ``fill`` makes them.

    Raises:
        Conflict: None was retired, or another is being built.
    """
    rows = EmbeddingSpace.objects.using(using).filter(alias=alias)
    retired = rows.filter(state=SpaceState.RETIRED).order_by("-state_since", "-id")
    building = rows.filter(state=SpaceState.BUILDING).first()
    row = building or retired.first()
    if row is None:
        message = f"There is no retired space of {alias!r} to switch back to."
        raise Conflict(message, field="alias")
    given = space_of(row)
    embedder_of(given)
    backend = given.entry
    return build_space(using=using, alias=alias, backend=backend, actor=actor, at=at)


def refuse_lacking(
    *, using: str, space: Space, other: Space, index: bool = True
) -> None:
    """Check that a space has all that another answers with. A query a tenant.

    Args:
        index: Look at the index too.

    Raises:
        Conflict: It lacks vectors, has some of texts that changed, or lacks the index
            that the other has.
    """
    names = tenants(using=using)
    each = (behind(using=using, tenant=n, space=space, other=other) for n in names)
    if count := sum(each):
        message = (
            f"The space {other.id} ({other.identity}) lacks {count:,} vectors that"
            f" {space.identity} has; go on building it, or retry what failed."
        )
        raise Conflict(message, field="alias")
    names = tenants(using=using)
    old = (stale(using=using, space=other, tenant=name) for name in names)
    if count := sum(old):
        message = (
            f"The space {other.id} ({other.identity}) has {count:,} vectors of other"
            " texts than there are now; go on building it."
        )
        raise Conflict(message, field="alias")
    if index and space.indexed and not index_state(using=using, space=other).valid:
        message = f"The space {other.id} ({other.identity}) has no index yet."
        raise Conflict(message, field="alias")


def _refuse_newer(
    new: EmbeddingSpace, built: Collection[tuple[int, dt.datetime]]
) -> None:
    if (new.id, new.state_since) not in built:
        message = f"The space {new.id} began to be built in this moment."
        raise Conflict(message, field="alias")


def _two(
    by_state: dict[str, EmbeddingSpace], alias: str
) -> tuple[EmbeddingSpace, EmbeddingSpace]:
    old, new = by_state.get(SpaceState.ACTIVE), by_state.get(SpaceState.BUILDING)
    if old is None or new is None:
        message = (
            f"No space of {alias!r} is being built, so there is none to switch to."
        )
        raise Conflict(message, field="alias")
    return old, new
