"""Hits of records that a test names, without a search."""

from __future__ import annotations

import uuid
from typing import Any

from prism_memory.access import Reader, visible
from prism_memory.recall.items import item
from prism_memory.types import Hit, Scope
from tests.factories import make_scope


def make_reader(scope: Scope | None = None, **asked: Any) -> Reader:
    return Reader(scope=scope or make_scope(), **asked)


def hit_of(record_id: uuid.UUID, reader: Reader | None = None, **why: Any) -> Hit:
    """Return a record as a hit, as its reader sees it."""
    rows = visible(using="default", reader=reader or make_reader())
    record = rows.select_related("scope", "source").get(id=record_id)
    return Hit(**vars(item(record)), **why)
