"""List what is in sight, page by page to the last row."""

from __future__ import annotations

import uuid

from django.db.models import Q

from prism_memory.access import Reader, get_visible, visible
from prism_memory.errors import NotVisible
from prism_memory.recall import cursors
from prism_memory.recall.intact import intact_items
from prism_memory.recall.items import item
from prism_memory.recall.narrowing import digest
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
        Invalid: The cursor is none of ours, or of another list.
    """
    order = list_name(reader)
    after = None if cursor is None else read_cursor(cursor, order)
    items: list[Item] = []
    while True:
        page = _read(using, reader, after, rows + 1)
        items += intact_items(using, reader.scope.tenant, page)
        if len(page) <= rows or len(items) > rows:
            break
        # Some were withheld: what follows fills the page.
        after = (page[-1].sequence, page[-1].id)
    more = len(items) > rows
    following = write_cursor(items[rows - 1], order) if more else None
    return Page(tuple(items[:rows]), following)


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


def list_name(reader: Reader) -> str:
    """Return what a list's cursors are of: the reader's scope, and what narrows it.

    What is in sight is decided anew for each page; this only keeps a cursor from being
    taken for one of another list, whose places say nothing of this one.
    """
    return f"sequence:{digest(reader, moments=False)}"


def write_cursor(last: Item, order: str) -> str:
    """Return the cursor of the page after ``last``.

    Args:
        order: Of the list; see ``list_name``.
    """
    return cursors.write(order, last.sequence, last.id.hex)


def read_cursor(cursor: str, order: str) -> tuple[int, uuid.UUID]:
    """Return where a page begins: after this sequence and id.

    Raises:
        Invalid: Too long, not made by ``write_cursor``, or for another list.
    """
    sequence, record_id = cursors.read(cursor, order)
    return cursors.place(sequence, record_id)
