"""The admin's pages, one file per page group. Read-only but for a few governed verbs.

Importing this package registers them with Django's default admin site.
"""

from prism_memory.admin import (
    audit,
    conflicts,
    entities,
    facts,
    holds,
    keys,
    operations,
    policies,
    receipts,
    records,
    reviews,
    runs,
    scopes,
    seals,
    shares,
    sources,
    spaces,
    tenants,
    tombstones,
    traces,
)

__all__ = [
    "audit",
    "conflicts",
    "entities",
    "facts",
    "holds",
    "keys",
    "operations",
    "policies",
    "receipts",
    "records",
    "reviews",
    "runs",
    "scopes",
    "seals",
    "shares",
    "sources",
    "spaces",
    "tenants",
    "tombstones",
    "traces",
]
