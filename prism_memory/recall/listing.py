"""List what is in sight, page by page to the last row."""

from __future__ import annotations

import uuid

from django.db.models import Q

from prism_memory.access import Reader, get_visible, visible
from prism_memory.recall import cursors
from prism_memory.recall.items import item
from prism_memory.types import Item, Page


def get(*, using: str, reader: Reader, record_id: uuid.UUID) -> Item:
    """Return one record. One query.

    Raises:
        NotVisible: No such record, or the reader may not know of it.
    """
    return item(get_visible(using=using, reader=reader, record_id=record_id))


def list_page(*, using: str, reader: Reader, rows: int, cursor: str | None) -> Page:
    """Return a page in the order of (sequence, id). One query.

    Following ``next_cursor`` gives every row that was there before the first page
    exactly once, also while rows are added.

    Raises:
        Invalid: The cursor is none of ours.
    """
    found = visible(using=using, reader=reader).select_related("scope", "source")
    if cursor is not None:
        sequence, record_id = read_cursor(cursor)
        found = found.filter(
            Q(sequence__gt=sequence) | Q(sequence=sequence, id__gt=record_id)
        )
    page = list(found.defer("search").order_by("sequence", "id")[: rows + 1])
    more = len(page) > rows
    items = tuple(item(record) for record in page[:rows])
    return Page(items, write_cursor(items[-1]) if more else None)


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
