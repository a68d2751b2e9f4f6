"""What may be stored: every value is checked once, where it is made."""

from __future__ import annotations

import datetime as dt
import json
import math
import uuid
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types.ids import uuid7 as uuid7  # migrations name it here

P = TypeVar("P")

NAME_BYTES: Final = 256
"""Longest name, key or id in bytes of UTF-8: a btree entry holds 2,704 bytes."""

METADATA_DEPTH: Final = 32
"""Deepest nesting of metadata."""

JSON_NODES: Final = 100_000
"""Most values of one JSON value. What is held twice counts twice: thirty lists, each of
which holds the next twice, are a billion values in a kilobyte."""

FIRST_TIME: Final = dt.datetime(1, 1, 2, tzinfo=dt.UTC)
LAST_TIME: Final = dt.datetime.max.replace(day=30, tzinfo=dt.UTC)
"""A day less than a ``datetime`` holds: then it also fits in any session's zone."""


def check_text(value: object, name: str) -> str:
    """Return ``value`` if PostgreSQL can store it unchanged.

    Raises:
        Invalid: Not a string, or it holds NUL or a lone surrogate. Nothing else is
            refused and nothing is altered: text is stored verbatim.
    """
    if not isinstance(value, str):
        message = f"{name} must be a string, not {type(value).__name__}."
        raise Invalid(message, field=name)
    if "\0" in value:
        message = f"{name} holds a NUL character at position {value.index(chr(0))}."
        raise Invalid(message, field=name)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        message = f"{name} holds a lone surrogate at position {error.start}."
        raise Invalid(message, field=name) from None
    return value


def check_name(value: object, name: str, *, blank: bool = False) -> str:
    """Return ``value`` if it can be a name: 1 to 256 bytes of UTF-8, not blank.

    Args:
        blank: Accept the empty string too (but never one of blanks only).

    Raises:
        Invalid: Blank, or not storable; see ``check_text``.
        LimitExceeded: Longer than 256 bytes.
    """
    text = check_text(value, name)
    if not text.strip() and not (blank and text == ""):
        message = f"{name} must not be blank."
        raise Invalid(message, field=name)
    if len(text.encode()) > NAME_BYTES:
        message = f"{name} is over {NAME_BYTES} bytes of UTF-8."
        raise LimitExceeded(message, field=name)
    return text


def check_time(value: object, name: str) -> dt.datetime | None:
    """Return an aware time in UTC, or None for None.

    A local time that a clock change repeats or skips is read as ``zoneinfo`` reads
    it, by its ``fold``.

    Raises:
        Invalid: Not a ``datetime``, naive, or not from 0001-01-02 to 9999-12-30 in
            UTC. PostgreSQL answers in the session's zone, where the days beyond would
            be in a year that Python lacks.
    """
    if value is None:
        return None
    if not isinstance(value, dt.datetime) or value.utcoffset() is None:
        message = f"{name} must be a datetime with a time zone."
        raise Invalid(message, field=name)
    if not FIRST_TIME <= value <= LAST_TIME:
        message = f"{name} must be from 0001-01-02 to 9999-12-30 in UTC."
        raise Invalid(message, field=name)
    return value.astimezone(dt.UTC)


def check_json(value: object, name: str, *, depth: int = METADATA_DEPTH) -> None:
    """Check that PostgreSQL's ``jsonb`` can store ``value`` unchanged.

    Raises:
        Invalid: A type JSON lacks, a key that is no string, NaN or an infinity, or
            text that cannot be stored; see ``check_text``.
        LimitExceeded: Nested deeper than ``depth``, or more than 100,000 values.
    """
    _check_json(value, name, depth, iter(range(JSON_NODES)))


def _check_json(value: object, name: str, depth: int, left: Iterator[int]) -> None:
    if next(left, None) is None:
        message = f"{name} holds more than {JSON_NODES:,} values."
        raise LimitExceeded(message, field=name)
    if depth < 0:
        message = f"{name} is nested deeper than {METADATA_DEPTH} levels."
        raise LimitExceeded(message, field=name)
    if isinstance(value, Mapping):
        for key, item in value.items():
            check_text(key, f"a key of {name}")
            _check_json(item, name, depth - 1, left)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_json(item, name, depth - 1, left)
    else:
        _check_scalar(value, name)


def _check_scalar(value: object, name: str) -> None:
    if isinstance(value, str):
        check_text(value, name)
    elif isinstance(value, float):
        check_finite(value, name)
    elif not (value is None or isinstance(value, bool | int)):
        message = f"{name} holds a {type(value).__name__}, which JSON cannot."
        raise Invalid(message, field=name)


def check_uuid(value: object, name: str = "id") -> uuid.UUID:
    """Return ``value`` as an id.

    Raises:
        Invalid: It is none.
    """
    if isinstance(value, uuid.UUID):
        return value
    try:
        return uuid.UUID(str(value))
    except ValueError:
        message = f"{name} must be a UUID."
        raise Invalid(message, field=name) from None


def check_bool(value: object, name: str) -> bool:
    """Return ``value`` if it is true or false.

    Raises:
        Invalid: It is neither.
    """
    if not isinstance(value, bool):
        message = f"{name} must be true or false."
        raise Invalid(message, field=name)
    return value


def check_wish(value: object, name: str) -> bool | None:
    """Return ``value`` if it is true, false or None.

    Raises:
        Invalid: It is none of these.
    """
    return None if value is None else check_bool(value, name)


def check_part(value: object, kind: type[P], name: str) -> P | None:
    """Return ``value`` if it is one of ``kind`` or None.

    Raises:
        Invalid: It is neither.
    """
    if value is None or isinstance(value, kind):
        return value
    message = f"{name} must be of the type {kind.__name__}."
    raise Invalid(message, field=name)


def check_finite(value: object, name: str) -> float:
    """Return ``value`` as a finite float.

    Raises:
        Invalid: Not a number (a bool is none), NaN or an infinity.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = f"{name} must be a number."
        raise Invalid(message, field=name)
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        message = f"{name} must be finite."
        raise Invalid(message, field=name)
    return number


def check_count(value: object, name: str, *, minimum: int = 0) -> int:
    """Return ``value`` as an integer of at least ``minimum``.

    Raises:
        LimitExceeded: Not an integer, or below ``minimum``.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        message = f"{name} must be an integer of at least {minimum}."
        raise LimitExceeded(message, field=name)
    return value


def check_bigint(value: object, name: str) -> int:
    """Return ``value`` if it fits a ``bigint``.

    Raises:
        Invalid: Not an integer, or outside 64 bits.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be an integer."
        raise Invalid(message, field=name)
    if not -(2**63) <= value < 2**63:
        message = f"{name} must fit 64 bits."
        raise Invalid(message, field=name)
    return value


def to_json(value: object, name: str) -> str:
    """Return ``value`` as compact JSON text.

    Raises:
        Invalid: See ``check_json``; also an integer of thousands of digits.
        LimitExceeded: Nested too deep, or too many values.
    """
    check_json(value, name)
    try:
        # ``default`` meets mappings that are no dict: nothing else passed the check.
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), default=dict
        )
    except ValueError:
        message = f"{name} holds a number that JSON cannot carry."
        raise Invalid(message, field=name) from None
