"""List what is in sight, page by page to the last row."""

from __future__ import annotations

import uuid

from django.db.models import Q

from prism_memory.access import Reader, get_visible, visible
from prism_memory.errors import NotVisible
from prism_memory.recall import cursors
from prism_memory.recall.intact import intact_items
from prism_memory.recall.items import item
from prism_memory.types import Item, Page


def get(*, using: str, reader: Reader, record_id: uuid.UUID) -> Item:
    """Return one record. One query.

    Raises:
        NotVisible: No such record, or the reader may not know of it.
    """
    found = item(get_visible(using=using, reader=reader, record_id=record_id))
    if not intact_items(using, reader.scope.tenant, [found]):
        raise NotVisible
    return found


def list_page(*, using: str, reader: Reader, rows: int, cursor: str | None) -> Page:
    """Return a page in the order of (sequence, id). One query.

    Following ``next_cursor`` gives every row that was there before the first page
    exactly once, also while rows are added.

    Raises:
        Invalid: The cursor is none of ours.
    """
    after = None if cursor is None else read_cursor(cursor)
    items: list[Item] = []
    while True:
        page = _read(using, reader, after, rows + 1)
        items += intact_items(using, reader.scope.tenant, page)
        if len(page) <= rows or len(items) > rows:
            break
        # Some were withheld: what follows fills the page.
        after = (page[-1].sequence, page[-1].id)
    more = len(items) > rows
    return Page(tuple(items[:rows]), write_cursor(items[rows - 1]) if more else None)


def _read(
    using: str, reader: Reader, after: tuple[int, uuid.UUID] | None, rows: int
) -> list[Item]:
    found = visible(using=using, reader=reader).select_related("scope", "source")
    if after is not None:
        sequence, record_id = after
        found = found.filter(
            Q(sequence__gt=sequence) | Q(sequence=sequence, id__gt=record_id)
        )
    return [*map(item, found.defer("search").order_by("sequence", "id")[:rows])]


def write_cursor(last: Item) -> str:
    """Return the cursor of the page after ``last``."""
    return cursors.write("sequence", last.sequence, last.id.hex)


def read_cursor(cursor: str) -> tuple[int, uuid.UUID]:
    """Return where a page begins: after this sequence and id.

    Raises:
        Invalid: Too long, or not made by ``write_cursor``.
    """
    sequence, record_id = cursors.read(cursor, "sequence")
    return cursors.place(sequence, record_id)
