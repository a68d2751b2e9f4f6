"""What may be shown: rows whose signature is theirs."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Collection, Mapping
from typing import Any

from psycopg import sql

from prism_memory import signals
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.integrity.keys import keyring
from prism_memory.integrity.macs import State

logger = logging.getLogger("prism_memory")

States = dict[uuid.UUID, State]


def is_enforced() -> bool:
    """Tell whether readers get only what is signed.

    Raises:
        Misconfigured: The keys are set, and not usable.
    """
    return keyring() is not None and settings.INTEGRITY_ENFORCED


def intact(
    *, using: str, tenant: str, shown: Mapping[uuid.UUID, tuple[int, str]]
) -> set[uuid.UUID]:
    """Return which records may be shown as they were read. One query; none when off.

    What is withheld is told: by the signal ``integrity_broken`` and in the log. A
    record that was changed or deleted since it was read is withheld too, untold.

    Args:
        shown: By id, the version and the text that were read.

    Raises:
        Misconfigured: The keys are set, and not usable.
    """
    keys = keyring()
    if keys is None or not shown or not settings.INTEGRITY_ENFORCED:
        return set(shown)
    found, broken = set[uuid.UUID](), States()
    for row in rows(using, tenant, shown):
        state = keys.state_of_record(tenant, row)
        if state is not State.INTACT:
            broken[row["id"]] = state
        elif shown[row["id"]] == (row["version"], row["text"]):
            found.add(row["id"])
    if broken:
        tell(using=using, tenant=tenant, broken=broken)
    return found


def states(*, using: str, tenant: str, record_ids: Collection[uuid.UUID]) -> States:
    """Return what the signatures say of records that are there. One query.

    Empty when no key is set.
    """
    keys = keyring()
    if keys is None or not record_ids:
        return {}
    found = rows(using, tenant, record_ids)
    return {row["id"]: keys.state_of_record(tenant, row) for row in found}


def rows(
    using: str, tenant: str, record_ids: Collection[uuid.UUID]
) -> list[dict[str, Any]]:
    """Return what is signed of records, with their signatures. One query."""
    given = {"tenant": tenant, "record_ids": list(record_ids)}
    return queries.fetch(using, statement("rows"), given)


def statement(name: str) -> str:
    """Return a statement with the columns that are signed filled in."""
    columns = sql.SQL(named("integrity")["columns"])
    return composed("integrity", name, columns=columns)


def tell(*, using: str, tenant: str, broken: Mapping[uuid.UUID, State]) -> None:
    """Say which records were withheld, never what is in them."""
    logger.warning(
        "Records of tenant %r are withheld, as their signatures are not theirs: %s",
        tenant,
        ", ".join(f"{record_id} {state}" for record_id, state in broken.items()),
    )
    signals.integrity_broken.send_robust(
        sender=State, using=using, tenant=tenant, states=dict(broken)
    )
