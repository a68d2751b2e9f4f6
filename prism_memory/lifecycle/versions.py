"""The two time axes of a fact: one version is open, and each change begins another.

Whoever calls holds the fact's row: versions close and open at one instant.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Any

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict
from prism_memory.models import Fact, FactVersion, Record
from prism_memory.types import Acceptance, Actor, FactChange, Kind, uuid7


def instant(
    *, using: str, tenant: str, fact_ids: Collection[uuid.UUID] = ()
) -> dt.datetime:
    """Return now by the database's clock, after all these facts know. One query."""
    given = {"tenant": tenant, "fact_ids": list(fact_ids)}
    (row,) = queries.fetch(using, named("facts")["instant"], given)
    moment: dt.datetime = row["instant"]
    return moment


def begin_versions(  # noqa: PLR0913 - keywords
    *,
    using: str,
    tenant: str,
    fact_id: uuid.UUID,
    at: dt.datetime,
    acceptance: Acceptance,
    gate: str,
    valid_from: dt.datetime,
    valid_to: dt.datetime | None,
    actor: Actor,
    reason: str = "",
) -> FactVersion:
    """Write the first version of a fact. One query.

    Args:
        at: The instant, see ``instant``.
    """
    return FactVersion.objects.using(using).create(
        tenant=tenant,
        fact_id=fact_id,
        acceptance=acceptance,
        gate=gate,
        valid_from=valid_from,
        valid_to=valid_to,
        recorded_from=at,
        cause=FactChange.ASSERTED,
        actor=actor.name,
        reason=reason,
    )


def open_version(*, using: str, tenant: str, fact_id: uuid.UUID) -> FactVersion | None:
    """Return the version that is held now; None of what was retracted. One query."""
    rows = FactVersion.objects.using(using).filter(tenant=tenant, fact_id=fact_id)
    return rows.filter(recorded_to=None).first()


def change_version(
    version: FactVersion,
    *,
    using: str,
    at: dt.datetime,
    cause: FactChange,
    actor: Actor,
    reason: str = "",
    **changes: object,
) -> FactVersion:
    """Close a version and begin the next with some values changed. Two queries.

    Raises:
        Conflict: It was closed meanwhile.
    """
    end_version(version, using=using, at=at)
    following = FactVersion(
        id=uuid7(),
        tenant=version.tenant,
        fact_id=version.fact_id,
        acceptance=version.acceptance,
        gate=version.gate,
        valid_from=version.valid_from,
        valid_to=version.valid_to,
        recorded_from=at,
        cause=cause,
        actor=actor.name,
        reason=reason,
    )
    for name, value in changes.items():
        setattr(following, name, value)
    following.save(using=using, force_insert=True)
    return following


def follow_gate(
    *,
    using: str,
    record: Record,
    gate: str,
    cause: FactChange,
    actor: Actor,
    reason: str = "",
) -> None:
    """Let the fact whose statement a locked record is follow its gate.

    Nothing for other records, nor where no version is held. Up to five queries.
    """
    if record.kind != Kind.FACT:
        return
    given: dict[str, Any] = {"using": using, "tenant": record.tenant}
    facts = Fact.objects.using(using).filter(tenant=record.tenant, id=record.id)
    if facts.select_for_update().first() is None:
        return
    version = open_version(**given, fact_id=record.id)
    if version is None or version.gate == gate:
        return
    change_version(
        version,
        using=using,
        at=instant(**given, fact_ids=[record.id]),
        cause=cause,
        actor=actor,
        reason=reason,
        gate=gate,
    )


def end_version(version: FactVersion, *, using: str, at: dt.datetime) -> None:
    """Close a version: from ``at`` on it is held no more. One query.

    Raises:
        Conflict: It was closed meanwhile.
    """
    rows = FactVersion.objects.using(using).filter(
        tenant=version.tenant, id=version.id, recorded_to=None
    )
    if not rows.update(recorded_to=at):
        message = "The fact was changed meanwhile."
        raise Conflict(message, field="id")
