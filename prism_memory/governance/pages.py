"""Long tables, read in pages of bounded memory, and as of one moment."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connections, transaction
from psycopg import sql

from prism_memory import indexing
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Unsupported
from prism_memory.models import AccessKey, ManifestBlock, Tenant
from prism_memory.types import NIL

ONE_MOMENT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
PAGE_ROWS: Final = 1_000
PAGE_BLOCKS: Final = 16

Row = dict[str, Any]


@contextmanager
def snapshot(using: str) -> Iterator[None]:
    """See the database as of one moment, unless the caller's transaction is open.

    What is sealed or pruned meanwhile is no edit.
    """
    connection: Any = connections[using]
    connection.ensure_connection()
    hosted = connection.in_atomic_block or not connection.get_autocommit()
    with transaction.atomic(using=using):
        if not hosted:
            # Not through Django's cursor: what wraps its statements, as row-level
            # security does, would ask something first, and then it is too late.
            with connection.wrap_database_errors:
                connection.connection.execute(ONE_MOMENT)
        yield


def own_seals(using: str, tenant: str) -> None:
    """Be the only one to seal or prune a tenant's trail, until the transaction ends.

    Raises:
        Unsupported: The transaction is not READ COMMITTED: it would not see the seal
            that another made meanwhile.
    """
    (row,) = queries.fetch(using, named("audit")["own_seals"], {"tenant": tenant})
    if row["isolation"] != "read committed":
        message = (
            "Seals are made in READ COMMITTED transactions only, not in "
            f"{row['isolation'].upper()}."
        )
        raise Unsupported(message)


def trails(*, using: str) -> Iterator[str]:
    """Yield every name that a trail may be under; empty for the installation's."""
    yield from trails_beside(using=using)
    yield from indexing.tenants(using=using)


def trails_beside(*, using: str) -> Iterator[str]:
    """Yield those that are no tenants: the installation's, and of keys alone.

    A key may name a tenant before anything is remembered there.
    """
    yield ""
    keys = AccessKey.objects.using(using).order_by("tenant")
    tenants = Tenant.objects.using(using).values("name")
    beside = keys.exclude(tenant__in=tenants)
    yield from list(beside.values_list("tenant", flat=True).distinct())


def event_columns() -> sql.SQL:
    """Return what is sealed of an event, as SQL."""
    return sql.SQL(named("audit")["columns"])


def seals(using: str, tenant: str, after: int = 0) -> Iterator[Row]:
    """Yield the seals by their numbers."""
    given: dict[str, Any] = {"tenant": tenant, "after": after, "rows": PAGE_ROWS}
    while page := queries.fetch(using, named("audit")["seals"], given):
        yield from page
        given["after"] = page[-1]["number"]


def sealed_events(using: str, tenant: str, from_seal: int = -(2**63)) -> Iterator[Row]:
    """Yield the events under seals from one on, by seal and id."""
    statement = composed("audit", "sealed_events", columns=event_columns())
    given: dict[str, Any] = {
        "tenant": tenant,
        "seal": from_seal,
        "after": NIL,
        "rows": PAGE_ROWS,
    }
    while page := queries.fetch(using, statement, given):
        yield from page
        given |= {"seal": page[-1]["seal"], "after": page[-1]["id"]}


def records(
    using: str, tenant: str, statement: str, after: uuid.UUID, until: uuid.UUID
) -> Iterator[list[Row]]:
    """Yield pages of the records after one id and up to another."""
    given: dict[str, Any] = {"tenant": tenant, "until": until, "rows": PAGE_ROWS}
    while True:
        page = queries.fetch(using, statement, given | {"after": after})
        if page:
            yield page
        if len(page) < PAGE_ROWS:
            return
        after = page[-1]["id"]


def blocks(using: str, tenant: str) -> Iterator[ManifestBlock]:
    """Yield the blocks of the manifest, in their order."""
    after: int | None = None
    while True:
        rows = ManifestBlock.objects.using(using).filter(tenant=tenant)
        if after is not None:
            rows = rows.filter(number__gt=after)
        page = list(rows.order_by("number")[:PAGE_BLOCKS])
        yield from page
        if len(page) < PAGE_BLOCKS:
            return
        after = page[-1].number
