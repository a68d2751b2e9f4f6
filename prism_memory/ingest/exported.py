"""Lines of an export: one record each, as ``governance`` writes them. Pure.

{"format": "prism_memory/1", "scope": {"owner": "ada", …}, "kind": "entry", …}
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.ingest.entries import BadEntry, Incoming, placed
from prism_memory.ingest.exported_facts import restored_fact, time_of
from prism_memory.ingest.json_stream import parse
from prism_memory.ingest.jsonl import decode_line
from prism_memory.types import (
    PORTABLE,
    Consent,
    Derived,
    Origin,
    Restored,
    RestoredChunk,
    Scope,
    SourceRef,
    check_text,
)

PLAIN: Final = (
    "kind",
    "tier",
    "namespace",
    "partition",
    "key",
    "text",
    "lexical_text",
    "embed_text",
    "language",
    "metadata",
    "importance",
    "sequence",
    "uses",
)
TIMES: Final = (
    "created_at",
    "changed_at",
    "happened_at",
    "expires_at",
    "valid_from",
    "valid_to",
)
OTHERS: Final = ("format", "id", "scope", "trust", "writer", "consent", "source")
KNOWN: Final = frozenset(
    {*PLAIN, *TIMES, *OTHERS, "lineage", "restricted_to", "fact", "chunk"}
)
PAST: Final = ("created_at", "changed_at")
SOURCE: Final = ("key", "uri", "ordinal", "kind", "chunker", "restricted")
RESTRICTED_TO: Final = 4_096
"""Restricted documents that one line names at most."""

LINEAGE: Final = 32
"""Things that one record is derived from at most: it has that many places."""

AHEAD: Final = dt.timedelta(minutes=5)
"""How far the clock of the writer may have been ahead of ours."""


@dataclass(frozen=True)
class Mapped:
    """Where an export is restored to, and how.

    Args:
        owner: Instead of the file's only one; empty: those of the file.
        owner_prefix: Put before each owner's name.
        trusted: The file says who vouches for its words.
        renumber: Give new sequence numbers, in the file's order.
    """

    tenant: str
    owner: str = ""
    owner_prefix: str = ""
    trusted: bool = False
    renumber: bool = False


def read_export(
    lines: Iterable[tuple[str, bytes]], *, mapped: Mapped
) -> Iterator[Incoming]:
    """Yield the records of an export. Blank lines are skipped.

    Args:
        lines: Each with its place, for people.

    Raises:
        BadEntry: A line is no record of this format; the message names line and field.
    """
    owners: set[str] = set()
    for place, line in lines:
        text = decode_line(line, place, is_first=False)
        if not text.strip():
            continue
        fields = _fields(parse(text, place), place)
        scope = placed(partial(_scope, fields, mapped, owners), place)
        entry = placed(partial(_entry, fields, mapped), place)
        yield Incoming(scope, entry, place)


def _fields(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.get("format") != PORTABLE:
        message = f"must be an object whose format is {PORTABLE!r}."
        raise BadEntry(message, place=place, field="format")
    if not value.keys() <= KNOWN:
        message = "holds a field that this format has not."
        raise BadEntry(message, place=place)
    for name in ("scope", "kind", "key", "text", "writer", "trust"):
        if value.get(name) is None:
            message = f"{name} is missing."
            raise BadEntry(message, place=place, field=name)
    return value


def _scope(fields: Mapping[str, Any], mapped: Mapped, owners: set[str]) -> Scope:
    given = _object(fields["scope"], "scope", ("tenant", "owner", "agent", "thread"))
    names = {level: given.get(level, "") for level in ("owner", "agent", "thread")}
    owner = check_text(names["owner"], "scope.owner")
    if mapped.owner:
        owners.add(owner)
        if not owner or len(owners) > 1:
            message = "Only an export of one owner can be given to another."
            raise Invalid(message, field="scope.owner")
        owner = mapped.owner
    names["owner"] = f"{mapped.owner_prefix}{owner}" if owner else ""
    return Scope(mapped.tenant, **names)


def _entry(fields: Mapping[str, Any], mapped: Mapped) -> Restored:
    origin = Origin(fields["trust"], fields["writer"])
    plain = {name: fields[name] for name in PLAIN if fields.get(name) is not None}
    times: dict[str, Any] = {name: time_of(fields.get(name), name) for name in TIMES}
    entry = Restored(
        **plain,
        **times,
        consent=_consent(fields.get("consent")),
        source=_source(fields.get("source")),
        origin=origin if mapped.trusted else None,
        derived=_derived(fields.get("lineage")),
        fact=restored_fact(fields),
        chunk=_chunk(fields),
        restricted=_is_restricted(fields),
        restricted_to=_restricted_to(fields.get("restricted_to")),
    )
    _refuse_future(entry)
    _refuse_two_validities(entry)
    return replace(entry, sequence=None) if mapped.renumber else entry


def _refuse_future(entry: Restored) -> None:
    latest = dt.datetime.now(dt.UTC) + AHEAD
    past = {name: getattr(entry, name) for name in PAST}
    if entry.fact is not None:
        past["versions.recorded_from"] = entry.fact.last.recorded_from
        past["fact.closed_at"] = entry.fact.closed_at
    for name, moment in past.items():
        if moment is not None and moment > latest:
            message = f"{name} is in the future."
            raise Invalid(message, field=name)


def _refuse_two_validities(entry: Restored) -> None:
    if entry.fact is None:
        return
    last = entry.fact.last
    if (entry.valid_from, entry.valid_to) != (last.valid_from, last.valid_to):
        message = "valid_from and valid_to must be those of the last version."
        raise Invalid(message, field="valid_from")


def _consent(value: object) -> Consent | None:
    if value is None:
        return None
    names = ("source", "label", "visible", "granted_at")
    given = _object(value, "consent", names)
    return Consent(
        given.get("source", ""),
        given.get("label", ""),
        given.get("visible", True),
        time_of(given.get("granted_at"), "consent.granted_at"),
    )


def _source(value: object) -> SourceRef | None:
    if value is None:
        return None
    given = _object(value, "source", SOURCE)
    return SourceRef(given.get("key", ""), given.get("ordinal"), given.get("uri", ""))  # type: ignore[arg-type] # checked there


def _chunk(fields: Mapping[str, Any]) -> RestoredChunk | None:
    value = fields.get("chunk")
    if value is None:
        return None
    names = ("line_start", "line_end", "offset_start", "offset_end", "generation")
    given = _object(value, "chunk", names)
    if missing := sorted(set(names[:4]) - given.keys()):
        message = f"chunk needs a {missing[0]}."
        raise Invalid(message, field=f"chunk.{missing[0]}")
    source = fields.get("source")
    chunker = source.get("chunker", "") if isinstance(source, dict) else ""
    return RestoredChunk(**given, chunker=chunker)


def _is_restricted(fields: Mapping[str, Any]) -> bool:
    source = fields.get("source")
    return isinstance(source, dict) and source.get("restricted", False)


def _restricted_to(value: object) -> tuple[uuid.UUID, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        message = "restricted_to must be a list."
        raise Invalid(message, field="restricted_to")
    if len(value) > RESTRICTED_TO:
        message = f"restricted_to holds more than {RESTRICTED_TO:,}."
        raise LimitExceeded(message, field="restricted_to")
    return tuple(_uuid(one, "restricted_to") for one in value)


def _uuid(value: Any, name: str) -> uuid.UUID:  # noqa: ANN401 - of a file
    try:
        return uuid.UUID(value)
    except (ValueError, AttributeError, TypeError):
        message = f"{name} must be a UUID."
        raise Invalid(message, field=name) from None


def _derived(value: object) -> tuple[Derived, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        message = "lineage must be a list."
        raise Invalid(message, field="lineage")
    if len(value) > LINEAGE:
        message = f"lineage holds more than {LINEAGE}."
        raise LimitExceeded(message, field="lineage")
    return tuple(_one_derived(item) for item in value)


def _one_derived(value: object) -> Derived:
    names = (
        *("level", "key", "kind", "namespace", "partition", "external", "record"),
        "source",
    )
    given = _object(value, "lineage", names)
    if (record := given.get("record")) is not None:
        given["record"] = _uuid(record, "lineage.record")
    return Derived(**given)


def _object(value: object, name: str, names: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not value.keys() <= set(names):
        message = f"{name} must be an object of {', '.join(names)}."
        raise Invalid(message, field=name)
    return dict(value)
