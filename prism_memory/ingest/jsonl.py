"""JSON lines: one entry a line. Pure.

{"owner": "ada", "text": "I moved to Porto.", "writer": "ada", "trust": "user"}
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from prism_memory.errors import Invalid
from prism_memory.ingest.entries import BadEntry, Incoming, Selection, placed
from prism_memory.ingest.json_stream import parse
from prism_memory.types import Entry, Kind, Origin, Scope, SourceRef, check_choice
from prism_memory.types import Trust as TrustClass

NEEDED: Final = ("owner", "text", "writer", "trust")
OPTIONAL: Final = (
    "agent",
    "thread",
    "key",
    "happened_at",
    "session",
    "ordinal",
    "metadata",
    "lexical_text",
    "embed_text",
)
LINE_BYTES: Final = 4_194_304
"""Longest line: eight times the most that an entry may hold, for JSON's escapes."""


@dataclass(frozen=True)
class Form:
    """What every line of one import has in common."""

    tenant: str
    owner_prefix: str


def read_jsonl(
    lines: Iterable[bytes],
    *,
    tenant: str,
    owner_prefix: str = "",
    selection: Selection | None = None,
) -> Iterator[Incoming]:
    """Yield the entries of a file. Blank lines are skipped.

    Args:
        lines: The file's lines; no longer than ``LINE_BYTES``, else they are refused.
        owner_prefix: Put before ``owner``.
        selection: Chooses by ``owner``.

    Raises:
        BadEntry: A line is no entry; the message names line and field.
    """
    selection = selection or Selection()
    form = Form(tenant, owner_prefix)
    for number, line in enumerate(lines, 1):
        place = f"line {number}"
        text = decode_line(line, place, is_first=number == 1)
        if not text.strip():
            continue
        fields = _fields(parse(text, place), place)
        item = placed(partial(_incoming, fields, form, place), place)
        if selection.takes(fields["owner"]):
            yield item


def decode_line(line: bytes, place: str, *, is_first: bool) -> str:
    """Return a line as text.

    Args:
        is_first: A byte order mark may stand before it.

    Raises:
        BadEntry: Too long, or not UTF-8.
    """
    if len(line) > LINE_BYTES:
        message = f"over {LINE_BYTES} bytes."
        raise BadEntry(message, place=place)
    try:
        return line.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError:
        message = "not UTF-8."
        raise BadEntry(message, place=place) from None


def _fields(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = "must be a JSON object."
        raise BadEntry(message, place=place)
    for name in sorted(value):
        if name not in NEEDED and name not in OPTIONAL:
            shown = name if name.isidentifier() and len(name) <= 40 else "of this name"
            message = f"an entry has no field {shown}."
            raise BadEntry(message, place=place, field=shown)
    for name in NEEDED:
        if value.get(name) is None:
            message = f"{name} is missing."
            raise BadEntry(message, place=place, field=name)
    return {name: item for name, item in value.items() if item is not None}


def _incoming(fields: Mapping[str, Any], form: Form, place: str) -> Incoming:
    if not isinstance(fields["owner"], str):
        message = "owner must be a string."
        raise Invalid(message, field="owner")
    source = _source(fields)
    owner = f"{form.owner_prefix}{fields['owner']}"
    scope = Scope(form.tenant, owner, fields.get("agent", ""), fields.get("thread", ""))
    entry = Entry(
        fields["text"],
        key=_key(fields, source),
        kind=Kind.TURN if source else Kind.ENTRY,
        metadata=fields.get("metadata", {}),
        source=source,
        origin=Origin(_trust(fields["trust"]), fields["writer"]),
        lexical_text=fields.get("lexical_text"),
        embed_text=fields.get("embed_text"),
        happened_at=_time(fields.get("happened_at")),
    )
    return Incoming(scope, entry, place)


def _trust(value: object) -> TrustClass:
    return check_choice(value, TrustClass, "trust")


def _source(fields: Mapping[str, Any]) -> SourceRef | None:
    if ("session" in fields) != ("ordinal" in fields):
        message = "session and ordinal go together."
        raise Invalid(message, field="ordinal" if "session" in fields else "session")
    if "session" not in fields:
        return None
    return SourceRef(fields["session"], fields["ordinal"])


def _key(fields: Mapping[str, Any], source: SourceRef | None) -> str | None:
    """Return the key; a turn's place is one, since turns repeat their words."""
    key: str | None = fields.get("key")
    return f"{source.key}:{source.ordinal}" if key is None and source else key


def _time(value: object) -> dt.datetime | None:
    if value is None:
        return None
    try:
        at = dt.datetime.fromisoformat(value)  # type: ignore[arg-type] # else TypeError
    except (TypeError, ValueError):
        message = "happened_at must be a time in ISO 8601."
        raise Invalid(message, field="happened_at") from None
    if at.tzinfo is None:
        message = "happened_at needs an offset, such as +00:00 or Z."
        raise Invalid(message, field="happened_at")
    return at
