"""Sign what was just written. Called in the transaction of the change."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict
from prism_memory.integrity.checking import rows, states
from prism_memory.integrity.keys import keyring
from prism_memory.integrity.macs import Keyring, State


def sign(*, using: str, tenant: str, record_ids: Collection[uuid.UUID]) -> int:
    """Sign records as they are now stored; return how many. Two queries; none when off.

    What is signed is taken to be true: call it for what this app wrote whole. For a
    part of a row, see ``carried``.

    Raises:
        Misconfigured: The keys are set, and not usable.
    """
    keys = keyring()
    if keys is None or not record_ids:
        return 0
    return write(using, tenant, keys, rows(using, tenant, record_ids))


def write(
    using: str, tenant: str, keys: Keyring, given: Sequence[Mapping[str, Any]]
) -> int:
    """Write the signatures of rows that are locked. One query."""
    ordered = sorted(given, key=lambda row: row["id"])
    return queries.execute(
        using,
        named("integrity")["sign"],
        {
            "tenant": tenant,
            "key": keys.current,
            "record_ids": [row["id"] for row in ordered],
            "macs": [keys.sign_record(tenant, row) for row in ordered],
        },
    )


def require_intact(
    *, using: str, tenant: str, record_ids: Collection[uuid.UUID]
) -> None:
    """Do nothing if the signatures of records are theirs. One query; none when off.

    For who writes rows anew and keeps a part of what is stored.

    Raises:
        Conflict: One was changed behind the app's back.
    """
    found = states(using=using, tenant=tenant, record_ids=record_ids)
    if not set(found.values()) <= vouched_for():
        message = "The stored record was changed behind the application's back."
        raise Conflict(message, field="key")


def vouched_for() -> set[State]:
    """Return what a row may be before the app changes and signs it."""
    unsigned = set() if settings.INTEGRITY_ENFORCED else {State.UNSIGNED}
    return {State.INTACT} | unsigned


@contextmanager
def carried(
    *, using: str, tenant: str, record_ids: Collection[uuid.UUID]
) -> Iterator[None]:
    """Change a part of some records inside this block, and keep their signatures true.

    The rows must be locked. Three queries; none when off. One whose signature was not
    its own before is changed as asked, and not signed: a change by the app must not
    vouch for an edit behind its back. It stays withheld.
    """
    before = states(using=using, tenant=tenant, record_ids=record_ids)
    yield
    vouched = vouched_for()
    ours = [record_id for record_id, state in before.items() if state in vouched]
    sign(using=using, tenant=tenant, record_ids=ours)
