"""What is remembered."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types.checks import (
    check_bigint,
    check_bool,
    check_count,
    check_finite,
    check_json,
    check_name,
    check_part,
    check_text,
    check_time,
)
from prism_memory.types.scopes import Origin
from prism_memory.types.vocabulary import (
    ConsentScope,
    ConsentSource,
    Kind,
    Tier,
    check_choice,
)

MAX_ORDINAL: Final = 2**31 - 1
"""Last place in a stream: an ``integer`` of PostgreSQL."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A consent as given. Unset fields take the record's default (B97).

    Args:
        source: Who consents.
        scope: What for: a label, never a filter.
        visible: False hides the record at once.
        granted_at: Aware time; the time of writing when not given.
    """

    source: ConsentSource = ConsentSource.USER
    scope: ConsentScope = ConsentScope.THREAD
    visible: bool = True
    granted_at: dt.datetime | None = None

    def __post_init__(self) -> None:
        source = check_choice(self.source, ConsentSource, "consent.source")
        scope = check_choice(self.scope, ConsentScope, "consent.scope")
        check_bool(self.visible, "consent.visible")
        granted_at = check_time(self.granted_at, "consent.granted_at")
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "scope", scope)
        object.__setattr__(self, "granted_at", granted_at)


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a record is derived from.

    Args:
        source_ids: Keys of records in sight, refs (``record:<uuid>``), or ids of
            things outside, such as messages. Repeats collapse, order stays. Of several
            records with one key, the narrowest scope's and then the oldest is meant.

    Raises:
        Invalid: An id is blank or cannot be stored.
        LimitExceeded: An id is over 256 bytes.
    """

    source_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given: object = self.source_ids
        if not isinstance(given, list | tuple):
            message = "lineage.source_ids must be a list of ids."
            raise Invalid(message, field="lineage.source_ids")
        ids = [check_name(item, "lineage.source_ids") for item in given]
        object.__setattr__(self, "source_ids", tuple(dict.fromkeys(ids)))


@dataclass(frozen=True, slots=True)
class SourceRef:
    """The stream that a record belongs to: a document, a conversation's session.

    Args:
        key: Unique in its scope.
        ordinal: Place of the record in the stream, from 0. Neighbours follow it.
        uri: Where the stream can be found, for people.

    Raises:
        Invalid: A name is blank or cannot be stored.
        LimitExceeded: A name is too long, or the ordinal negative or over 31 bits.
    """

    key: str
    ordinal: int = 0
    uri: str = ""

    def __post_init__(self) -> None:
        check_name(self.key, "source.key")
        if check_count(self.ordinal, "source.ordinal") > MAX_ORDINAL:
            message = f"source.ordinal must be at most {MAX_ORDINAL}."
            raise LimitExceeded(message, field="source.ordinal")
        check_text(self.uri, "source.uri")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to remember.

    Args:
        text: Verbatim words, not blank.
        key: Identity in (scope, kind, namespace, partition); the SHA-256 of the text
            in hex when not given.
        kind: What the record is; facts and chunks have their own verbs.
        tier: Tier of a tiered memory, or none.
        namespace: A named shelf inside the scope, or empty.
        partition: An opaque string matched exactly, or empty.
        metadata: A JSON object; it comes back unchanged. ``title``, ``subject``,
            ``topics``, ``tags`` and ``caption`` are indexed too.
        consent: As given; the default of its kind when None.
        sequence: Place in the scope's order; the next of an ever-growing number when
            None.
        importance: Clamped to 0..1. Wins over ``reflection``.
        reflection: Given to the setting ``IMPORTANCE_FROM`` once, and not stored.
        lineage: What this is derived from; None keeps what is known.
        source: The stream it belongs to.
        origin: Who wrote it, if that differs from the origin of the call.
        language: A text search configuration of PostgreSQL; the setting when None.
        lexical_text: What full text indexes; when None, ``text`` and what situates it:
            who speaks, the day, title, subject and topics (setting ``SITUATE``).
        embed_text: What the embedder sees; when None, as above without the day.
        happened_at: When it happened, if that is not now. Aware.
        expires_at: From then on it is invisible. Aware.
        valid_from: Start of validity, inclusive. Aware.
        valid_to: End of validity, exclusive. Aware.

    Raises:
        Invalid: A field cannot be stored; the error names it.
        LimitExceeded: A name is over 256 bytes, metadata is nested too deep.
    """

    text: str
    key: str | None = None
    kind: Kind = Kind.ENTRY
    tier: Tier = Tier.NONE
    namespace: str = ""
    partition: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    consent: Consent | None = None
    sequence: int | None = None
    importance: float | None = None
    reflection: Mapping[str, Any] | None = None
    lineage: Lineage | None = None
    source: SourceRef | None = None
    origin: Origin | None = None
    language: str | None = None
    lexical_text: str | None = None
    embed_text: str | None = None
    happened_at: dt.datetime | None = None
    expires_at: dt.datetime | None = None
    valid_from: dt.datetime | None = None
    valid_to: dt.datetime | None = None

    def __post_init__(self) -> None:
        self._check_texts()
        self._check_names()
        self._check_times()
        self._check_parts()
        self._check_values()

    def _check_texts(self) -> None:
        for name in ("text", "lexical_text", "embed_text"):
            value = getattr(self, name)
            if value is None and name != "text":
                continue
            if not check_text(value, name).strip():
                message = f"{name} must not be blank."
                raise Invalid(message, field=name)

    def _check_names(self) -> None:
        if self.key is not None:
            check_name(self.key, "key")
        check_name(self.namespace, "namespace", blank=True)
        check_name(self.partition, "partition", blank=True)
        object.__setattr__(self, "kind", check_choice(self.kind, Kind, "kind"))
        object.__setattr__(self, "tier", check_choice(self.tier, Tier, "tier"))

    def _check_times(self) -> None:
        for name in ("happened_at", "expires_at", "valid_from", "valid_to"):
            object.__setattr__(self, name, check_time(getattr(self, name), name))
        if self.valid_from and self.valid_to and self.valid_to <= self.valid_from:
            message = "valid_to must be after valid_from."
            raise Invalid(message, field="valid_to")

    def _check_parts(self) -> None:
        for name, kind in (
            ("consent", Consent),
            ("lineage", Lineage),
            ("source", SourceRef),
            ("origin", Origin),
        ):
            check_part(getattr(self, name), kind, name)
        if self.kind is Kind.CHUNK and self.source is None:
            message = "A chunk needs the source it is a part of."
            raise Invalid(message, field="source")

    def _check_values(self) -> None:
        for name in ("metadata", "reflection"):
            value = getattr(self, name)
            if value is None and name == "reflection":
                continue
            if not isinstance(value, Mapping):
                message = f"{name} must be a JSON object."
                raise Invalid(message, field=name)
            check_json(value, name)
        if self.sequence is not None:
            check_bigint(self.sequence, "sequence")
        if self.importance is not None:
            clamped = min(1.0, max(0.0, check_finite(self.importance, "importance")))
            object.__setattr__(self, "importance", clamped)
