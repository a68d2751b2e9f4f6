"""From rows to what readers get."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from prism_memory.models import Record
from prism_memory.types import Item, Kind, Scope, Tier, Trust

PLAIN: Final = (
    "key",
    "text",
    "namespace",
    "partition",
    "source",
    "ordinal",
    "writer",
    "sequence",
    "importance",
    "created_at",
    "happened_at",
    "valid_from",
    "valid_to",
    "version",
)


def item_fields(row: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return the fields of an ``Item`` from a row of the recall statement."""
    metadata = row["metadata"]
    return {
        **{name: row[name] for name in PLAIN},
        "id": row["record_id"],
        "kind": Kind(row["kind"]),
        "tier": Tier(row["tier"]),
        "trust": Trust(row["trust"]),
        "metadata": json.loads(metadata) if isinstance(metadata, str) else metadata,
        "scope": scope,
    }


def item(record: Record) -> Item:
    """Return a record as a reader gets it; its scope and source must be loaded."""
    row = {name: getattr(record, name) for name in PLAIN if name != "source"}
    row |= {"record_id": record.id, "kind": record.kind, "tier": record.tier}
    row |= {"trust": record.trust, "metadata": record.metadata}
    row["source"] = record.source.key if record.source else None
    return Item(**item_fields(row, record.scope.value))
