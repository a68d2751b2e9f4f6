"""Cut a stream of entries into batches. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prism_memory.ingest.entries import Incoming
from prism_memory.types import Entry, Scope


def batches(items: Iterable[Incoming], rows: int) -> Iterator[list[Incoming]]:
    """Yield at most ``rows`` entries at a time, in order.

    A batch ends before a record's second appearance: one call cannot write a record
    twice, and of two versions in a file the later one shall win.
    """
    batch: list[Incoming] = []
    seen: set[tuple[object, ...]] = set()
    for item in items:
        if len(batch) >= rows or item.identity in seen:
            yield batch
            batch, seen = [], set()
        batch.append(item)
        seen.add(item.identity)
    if batch:
        yield batch


def by_scope(batch: Iterable[Incoming]) -> dict[Scope, list[Entry]]:
    """Group a batch by scope, in one order: two writers never wait in a circle."""
    groups: dict[Scope, list[Entry]] = {}
    for item in batch:
        groups.setdefault(item.scope, []).append(item.entry)
    return dict(sorted(groups.items(), key=lambda group: group[0].id))
