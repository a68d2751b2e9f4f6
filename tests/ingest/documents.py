"""Documents that the tests of sources ingest, and what is stored of them."""

from __future__ import annotations

import uuid
from typing import Any, Final

from prism_memory.memory import Memory
from prism_memory.models import Embedding, Record
from prism_memory.types import Ingested, Origin, Scope, Trust
from tests.factories import make_memory, make_scope

WRITER: Final = Origin(Trust.DOCUMENT, "importer")
GUIDE: Final = """# Guide

Welcome to the guide.

## Refunds

Refunds take thirty days.

## Shipping

Parcels leave on Monday.
"""


def librarian(scope: Scope | None = None, **given: Any) -> Memory:
    return make_memory(scope, **{"origin": WRITER, **given})


def ingest(text: str = GUIDE, key: str = "guide", **given: Any) -> Ingested:
    """Ingest a document at Ada's chat, or at another scope."""
    memory = librarian(given.pop("scope", None), **given.pop("memory", {}))
    return memory.sources.ingest(key, text, **given)


def chunks(key: str = "guide", scope: Scope | None = None) -> list[Record]:
    """Return the records of a document that are in force, in its order."""
    scope = scope or make_scope()
    rows = Record.objects.filter(
        tenant=scope.tenant, scope_id=scope.id, source__key=key, retired_at=None
    )
    return list(rows.order_by("ordinal"))


def ids(key: str = "guide", scope: Scope | None = None) -> dict[str, uuid.UUID]:
    """Return the ids of a document's chunks in force by their last line."""
    return {row.text.splitlines()[-1]: row.id for row in chunks(key, scope)}


def vectors(tenant: str = "acme") -> set[uuid.UUID]:
    """Return the records that have a vector."""
    rows = Embedding.objects.filter(tenant=tenant, vector__isnull=False)
    return set(rows.values_list("record_id", flat=True))
