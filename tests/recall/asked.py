"""Hits of records that a test names, without a search, and what stands beside them."""

from __future__ import annotations

import uuid
from typing import Any

from prism_memory.access import Reader, visible
from prism_memory.recall.adjacent import adjacent
from prism_memory.recall.items import item
from prism_memory.types import Entry, Hit, Item, Scope, SourceRef
from tests.factories import make_memory, make_scope


def make_reader(scope: Scope | None = None, **asked: Any) -> Reader:
    return Reader(scope=scope or make_scope(), **asked)


def hit_of(record_id: uuid.UUID, reader: Reader | None = None, **why: Any) -> Hit:
    """Return a record as a hit, as its reader sees it."""
    rows = visible(using="default", reader=reader or make_reader())
    record = rows.select_related("scope", "source").get(id=record_id)
    return Hit(**vars(item(record)), **why)


def beside(
    *hits: uuid.UUID, reach: int = 1, scope: Scope | None = None, **asked: Any
) -> list[str]:
    """Return the texts beside some records, as their reader gets them."""
    return [item.text for item in items(*hits, reach=reach, scope=scope, **asked)]


def items(
    *hits: uuid.UUID, reach: int = 1, scope: Scope | None = None, **asked: Any
) -> tuple[Item, ...]:
    reader = make_reader(scope, **asked)
    found = [hit_of(record_id, make_reader(scope)) for record_id in hits]
    return adjacent(using="default", reader=reader, hits=found, message_range=reach)


def turns(
    *ordinals: int, source: str = "chat", scope: Scope | None = None
) -> dict[int, uuid.UUID]:
    """Remember a turn at each place of a stream, in the order given."""
    entries = [Entry(f"turn {n}", source=SourceRef(source, n)) for n in ordinals]
    accepted = make_memory(scope).remember(entries).accepted
    return dict(zip(ordinals, accepted, strict=True))
