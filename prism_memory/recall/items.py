"""From rows to what readers get."""

from __future__ import annotations

import datetime as dt
import json
import uuid
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
    "version",
    *("line_start", "line_end", "offset_start", "offset_end"),
)
TIMES: Final = ("created_at", "happened_at", "valid_from", "valid_to")
STATE: Final = ("gate", "gate_reason", "changed")
"""What is odd about a row that a reader asked to see."""


def item_fields(row: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return the fields of an ``Item`` from a row of the recall statement."""
    return {
        **{name: row[name] for name in (*PLAIN, *STATE)},
        **{name: moment(row[name]) for name in TIMES},
        "id": uuid.UUID(row["record_id"]),
        "kind": Kind(row["kind"]),
        "tier": Tier(row["tier"]),
        "trust": Trust(row["trust"]),
        "metadata": json.loads(row["metadata"]),
        "scope": scope,
    }


def moment(text: str | None) -> dt.datetime | None:
    """Read a time as PostgreSQL writes it in ISO style, whatever its time zone."""
    return None if text is None else dt.datetime.fromisoformat(text).astimezone(dt.UTC)


def item(record: Record) -> Item:
    """Return a record as a reader gets it; its scope and source must be loaded."""
    return Item(
        **{name: getattr(record, name) for name in PLAIN if name != "source"},
        **{name: getattr(record, name) for name in TIMES},
        id=record.id,
        kind=Kind(record.kind),
        tier=Tier(record.tier),
        trust=Trust(record.trust),
        metadata=record.metadata,
        gate=record.gate,
        gate_reason=record.gate_reason,
        scope=record.scope.value,
        source=record.source.key if record.source else None,
    )
