"""Leave out what was changed behind the app's back; see ``prism_memory.integrity``."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from prism_memory.access import Reader
from prism_memory.integrity import intact
from prism_memory.recall.candidates import Found
from prism_memory.types import Item


def only_intact(using: str, reader: Reader, found: Found) -> Found:
    """Return the candidates whose signatures are theirs. One query; none when off."""
    rows = {uuid.UUID(record_id): row for record_id, row in found.rows.items()}
    shown = {i: (row["version"], row["text"]) for i, row in rows.items()}
    kept = intact(using=using, tenant=reader.scope.tenant, shown=shown)
    if len(kept) == len(rows):
        return found
    left = {str(record_id): row for record_id, row in rows.items() if record_id in kept}
    return replace(found, rows=left, withheld=len(rows) - len(left))


def intact_items(using: str, tenant: str, items: Sequence[Item]) -> list[Item]:
    """Return the items whose signatures are theirs. One query; none when off."""
    shown = {item.id: (item.version, item.text) for item in items}
    kept = intact(using=using, tenant=tenant, shown=shown)
    return [item for item in items if item.id in kept]
