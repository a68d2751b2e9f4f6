"""LoCoMo: conversations of many sessions, as snap-research/locomo publishes them. Pure.

A conversation is an owner, a session a source, a turn a record at the owner's level.
Questions, summaries and observations of the file are not memories and are left out.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from prism_memory.ingest.entries import BadEntry, Incoming, Selection, placed
from prism_memory.ingest.json_stream import ArrayReader, decoded
from prism_memory.types import Entry, Kind, Origin, Scope, SourceRef, Trust
from prism_memory.types.dates import MONTHS

DATE: Final = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d) (?P<half>[ap])m on "
    r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]+),? (?P<year>\d{4})"
)
SESSION: Final = re.compile(r"session_([1-9]\d{0,5})")


def read_locomo(
    chunks: Iterable[bytes],
    *,
    tenant: str,
    owner_prefix: str = "",
    selection: Selection | None = None,
) -> Iterator[Incoming]:
    """Yield the turns of a file in the order they were said.

    Holds one conversation at a time, and reads no further than the selection wants.

    Args:
        chunks: The file's bytes, in pieces of any size.
        owner_prefix: Put before the conversation's id to name the owner.

    Raises:
        BadEntry: The file is not LoCoMo; the message names the line, the conversation
            and the path in it.
    """
    selection = selection or Selection()
    known: set[str] = set()
    for line, item in ArrayReader(decoded(chunks)):
        name = _text(item, "sample_id", f"conversation at {line}")
        place = f"conversation {name} ({line})"
        if name in known:
            message = "this sample_id was used before in the file."
            raise BadEntry(message, place=place, field="sample_id")
        known.add(name)
        if selection.takes(name):
            owner = f"{owner_prefix}{name}"
            scope = placed(partial(Scope, tenant, owner), place)
            yield from _conversation(item, scope, place)
        if selection.is_complete:
            return


def _conversation(
    item: Mapping[str, Any], scope: Scope, place: str
) -> Iterator[Incoming]:
    conversation = _typed(item.get("conversation"), dict, f"{place}, conversation")
    known: set[str] = set()
    matches = (SESSION.fullmatch(name) for name in conversation)
    for number in sorted(int(match[1]) for match in matches if match):
        name = f"session_{number}"
        date_place = f"{place}, {name}_date_time"
        said_at = session_time(conversation.get(f"{name}_date_time", ""), date_place)
        turns = _typed(conversation[name], list, f"{place}, {name}")
        for ordinal, turn in enumerate(turns):
            where = f"{place}, {name}[{ordinal}]"
            entry = _turn(turn, SourceRef(name, ordinal), said_at, where)
            if entry.key in known:
                message = "this dia_id was used before in the conversation."
                raise BadEntry(message, place=where, field="dia_id")
            known.add(str(entry.key))
            yield Incoming(scope, entry, where)


def _turn(
    turn: object, source: SourceRef, said_at: dt.datetime | None, place: str
) -> Entry:
    dia_id, speaker, text = (
        _text(turn, name, place) for name in ("dia_id", "speaker", "text")
    )
    caption = _text(turn, "blip_caption", place, optional=True)
    metadata = {"dia_id": dia_id, "session": source.key, "speaker": speaker}
    return placed(
        lambda: Entry(
            text,
            key=dia_id,
            kind=Kind.TURN,
            metadata=metadata | ({"caption": caption} if caption else {}),
            source=source,
            origin=Origin(Trust.USER, speaker),
            happened_at=said_at,
        ),
        place,
    )


def session_time(written: object, place: str) -> dt.datetime | None:
    """Read ``1:56 pm on 8 May, 2023``. The file names no zone: it is read as UTC.

    Returns:
        None where nothing is written.

    Raises:
        BadEntry: Another form, or no date of the calendar.
    """
    if written in ("", None):
        return None
    match = DATE.fullmatch(written.strip()) if isinstance(written, str) else None
    if match is None or match["month"] not in MONTHS:
        message = "a date must look like '1:56 pm on 8 May, 2023'."
        raise BadEntry(message, place=place, field="date_time")
    hour = int(match["hour"])
    month = MONTHS.index(match["month"]) + 1
    try:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
        day, year, minute = (int(match[part]) for part in ("day", "year", "minute"))
        return dt.datetime(year, month, day, hour, minute, tzinfo=dt.UTC)
    except ValueError:
        message = "no such date or time."
        raise BadEntry(message, place=place, field="date_time") from None


def _text(found: object, name: str, place: str, *, optional: bool = False) -> str:
    mapping = _typed(found, dict, place)
    value = mapping.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str):
        message = f"{name} must be a string."
        raise BadEntry(message, place=place, field=name)
    return value


def _typed(value: object, kind: type, place: str) -> Any:  # noqa: ANN401 - as given
    if not isinstance(value, kind):
        message = "must be an object." if kind is dict else "must be an array."
        raise BadEntry(message, place=place)
    return value
