"""Work that spans tenants: list them, then look at one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.indexing.copies import is_behind
from prism_memory.indexing.spaces import Space

PAGE_ROWS: Final = 1_000


def tenants(*, using: str, after: str = "", until: str = "") -> Iterator[str]:
    """Yield every tenant's name in order, page by page.

    Args:
        after: Only names that come after this one.
        until: Only up to this one, inclusive; empty: to the end.
    """
    while True:
        given = {"after": after, "until": until, "rows": PAGE_ROWS}
        rows = queries.fetch(using, named("indexing")["tenants"], given)
        yield from (row["name"] for row in rows)
        if len(rows) < PAGE_ROWS:
            return
        after = rows[-1]["name"]


def random_tenant(*, using: str) -> str:
    """Return the name of any tenant, each as likely; empty where there is none."""
    rows = queries.fetch(using, named("indexing")["random_tenant"], {})
    return str(rows[0]["name"]) if rows else ""


def is_waiting(*, using: str, space: Space, tenant: str) -> bool:
    """Tell whether a tenant has texts to embed now, or vectors to copy.

    One query, and up to two more where an external index is to have them.
    """
    given = {"tenant": tenant, "space_id": space.id}
    (row,) = queries.fetch(using, named("indexing")["has_waiting"], given)
    return bool(row["waiting"]) or is_behind(using=using, tenant=tenant, space=space)


def waiting(*, using: str, spaces: Collection[Space]) -> Iterator[str]:
    """Yield the tenants that have texts to embed now. One query a tenant and space."""
    for tenant in tenants(using=using) if spaces else ():
        if any(is_waiting(using=using, space=one, tenant=tenant) for one in spaces):
            yield tenant
