"""What narrows a reading, as a short text that can be compared. No database here."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any, Final

from prism_memory.access import BOOLEANS, NARROWING, Reader

DIGEST_BYTES: Final = 8

WISHES: Final = ("mode", *BOOLEANS)
MOMENTS: Final = ("as_of", "known_at")


def digest(reader: Reader, *, moments: bool = True) -> str:
    """Return the same for readers who stand in one place and see the same part of it.

    Args:
        moments: Readers of other moments are others.
    """
    told: list[Any] = [
        reader.scope.id.hex,
        *(one.id.hex for one in reader.scopes or ()),
    ]
    told += [str(getattr(reader, name)) for name in WISHES]
    for name in NARROWING:
        values = getattr(reader, name)
        told.append(None if values is None else sorted(map(str, values)))
    told += [reader.partition, reader.shared_with and str(reader.shared_with.id)]
    told.append(reader.authorization)
    told += [reader.where.text.as_string(None), [*reader.where.parameters.items()]]
    if moments:
        told += [_moment(getattr(reader, name)) for name in MOMENTS]
    return hashlib.blake2b(repr(told).encode(), digest_size=DIGEST_BYTES).hexdigest()


def _moment(value: dt.datetime | None) -> str:
    return "" if value is None else value.isoformat()
