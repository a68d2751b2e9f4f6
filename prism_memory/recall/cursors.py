"""Where the next page begins, as a text that callers carry and never read."""

from __future__ import annotations

import base64
import binascii
import json
import uuid
from typing import Any, Final

from prism_memory.errors import Invalid
from prism_memory.types import check_bigint, check_text

CURSOR_CHARACTERS: Final = 4_096


def write(order: str, *values: str | int) -> str:
    """Return a cursor of one order."""
    text = json.dumps([order, *values])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(cursor: str, order: str, values: int = 2) -> list[Any]:
    """Return the values of a cursor.

    Args:
        order: That it must be of.
        values: How many it must hold.

    Raises:
        Invalid: Too long, of another order, or not made by ``write``.
    """
    check_text(cursor, "cursor")
    try:
        if len(cursor) > CURSOR_CHARACTERS:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        text = base64.b64decode(padded, altchars=b"-_", validate=True)
        rest: list[Any]
        found, *rest = json.loads(text)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise unknown() from None
    if found != order or len(rest) != values:
        raise unknown()
    return rest


def place(sequence: Any, record_id: Any) -> tuple[int, uuid.UUID]:  # noqa: ANN401 - read
    """Return the sequence and the id that a cursor holds.

    Raises:
        Invalid: They are none.
    """
    try:
        return check_bigint(sequence, "cursor"), uuid.UUID(hex=record_id)
    except (ValueError, TypeError, AttributeError):
        raise unknown() from None


def unknown() -> Invalid:
    """Return what is raised for a cursor that is none of ours."""
    message = "The cursor is not one of this list."
    return Invalid(message, field="cursor")
