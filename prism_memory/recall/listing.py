"""List what is in sight, page by page to the last row."""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from typing import Final

from django.db.models import Q

from prism_memory.access import Reader, get_visible, visible
from prism_memory.errors import Invalid
from prism_memory.recall.items import item
from prism_memory.types import Item, Page, check_bigint, check_text

CURSOR_CHARACTERS: Final = 4_096


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
    text = json.dumps(["sequence", last.sequence, last.id.hex])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[int, uuid.UUID]:
    """Return where a page begins: after this sequence and id.

    Raises:
        Invalid: Too long, or not made by ``write_cursor``.
    """
    check_text(cursor, "cursor")
    try:
        if len(cursor) > CURSOR_CHARACTERS:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        text = base64.b64decode(padded, altchars=b"-_", validate=True)
        order, sequence, record_id = json.loads(text)
        if order != "sequence":
            raise ValueError
        return check_bigint(sequence, "cursor"), uuid.UUID(hex=record_id)
    except (ValueError, TypeError, AttributeError, binascii.Error, RecursionError):
        message = "The cursor is not one of this list."
        raise Invalid(message, field="cursor") from None
