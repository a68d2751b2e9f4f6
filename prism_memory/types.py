"""The values that callers and the floors of this app exchange.

All are frozen and valid from construction on. Pure: no Django, no database.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal, TypeVar

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    PermissionDenied,
    ScopeDenied,
)

SCOPE_NAMESPACE: Final = uuid.UUID("6f1d6c58-6f0c-5e0b-9b9e-7d3a1f0c2b64")
"""UUIDv5 namespace of scope ids. Changing it orphans every stored scope."""

MAX_ORDINAL: Final = 2**31 - 1
"""Last place in a stream: an ``integer`` of PostgreSQL."""

NAME_BYTES: Final = 256
"""Longest name, key or id in bytes of UTF-8: a btree entry holds 2,704 bytes."""

METADATA_DEPTH: Final = 32
"""Deepest nesting of metadata."""

JSON = dict[str, Any]
Role = Literal["query", "passage"]
Vector = Sequence[float]
E = TypeVar("E", bound=StrEnum)


def uuid7() -> uuid.UUID:
    """Return a new time-ordered id. Source: RFC 9562, section 5.7."""
    milliseconds = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (1 << 48) - 1) << 80
    value |= 0x7 << 76 | (noise >> 68) << 64
    value |= 0b10 << 62 | noise & (1 << 62) - 1
    return uuid.UUID(int=value)


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
        Invalid: Not a ``datetime``, naive, or outside the years 1 to 9999 in UTC.
    """
    if value is None:
        return None
    if not isinstance(value, dt.datetime) or value.utcoffset() is None:
        message = f"{name} must be a datetime with a time zone."
        raise Invalid(message, field=name)
    try:
        return value.astimezone(dt.UTC)
    except OverflowError:
        message = f"{name} is outside the years 1 to 9999 in UTC."
        raise Invalid(message, field=name) from None


def check_json(value: object, name: str, *, depth: int = METADATA_DEPTH) -> None:
    """Check that PostgreSQL's ``jsonb`` can store ``value`` unchanged.

    Raises:
        Invalid: A type JSON lacks, a key that is no string, NaN or an infinity, or
            text that cannot be stored; see ``check_text``.
        LimitExceeded: Nested deeper than ``depth``.
    """
    if depth < 0:
        message = f"{name} is nested deeper than {METADATA_DEPTH} levels."
        raise LimitExceeded(message, field=name)
    if isinstance(value, Mapping):
        for key in value:
            check_text(key, f"a key of {name}")
        check_json([*value.values()], name, depth=depth)
    elif isinstance(value, list | tuple):
        for item in value:
            check_json(item, name, depth=depth - 1)
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


def to_json(value: object, name: str) -> str:
    """Return ``value`` as compact JSON text.

    Raises:
        Invalid: See ``check_json``; also an integer of thousands of digits.
        LimitExceeded: Nested too deep.
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


class Trust(StrEnum):
    """Who vouches for a record's words. Set by the caller's code, never by content."""

    USER = "user"
    DOCUMENT = "document"
    AGENT = "agent"
    TOOL = "tool"
    SUBAGENT = "subagent"
    CONSOLIDATOR = "consolidator"
    SYSTEM = "system"


class ReadMode(StrEnum):
    """How far up a reader sees: ``chain`` all levels above too, ``exact`` its own."""

    CHAIN = "chain"
    EXACT = "exact"


class Kind(StrEnum):
    """What a record is."""

    ENTRY = "entry"
    CHUNK = "chunk"
    TURN = "turn"
    NOTE = "note"
    FACT = "fact"


class Tier(StrEnum):
    """The tier of a tiered memory, or none."""

    NONE = ""
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class ConsentSource(StrEnum):
    """Who gave a consent."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"


class ConsentScope(StrEnum):
    """What a consent was given for: a label, never a filter."""

    THREAD = "thread"
    PROFILE = "profile"
    USER = "user"


class Permission(StrEnum):
    """What a key or a resolver's grant allows."""

    READ = "read"
    WRITE = "write"
    GOVERN = "govern"
    OPERATE = "operate"


class TombstoneReason(StrEnum):
    """Why something may no longer be used."""

    CORRECTED = "corrected"
    REVOKED = "revoked"
    FORGOTTEN = "forgotten"
    LEGAL_HOLD = "legal_hold"
    EXPIRED = "expired"


def check_choice(value: object, choices: type[E], name: str) -> E:
    """Return ``value`` as a member of ``choices``.

    Raises:
        Invalid: Not one of them; the message lists them.
    """
    try:
        return choices(str(value))
    except ValueError:
        allowed = ", ".join(repr(str(choice)) for choice in choices)
        message = f"{name} must be one of {allowed}."
        raise Invalid(message, field=name) from None


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in the tree tenant > owner > agent > thread.

    Args:
        tenant: 1 to 256 bytes of UTF-8, not blank.
        owner: As above, or empty for the tenant's own level.
        agent: As above, or empty. Needs an owner.
        thread: As above, or empty. Needs an owner; may do without an agent.

    Raises:
        ScopeDenied: The tenant is blank, or a level lacks the owner above it.
        Invalid: A level cannot be stored.
        LimitExceeded: A level is over 256 bytes.
    """

    tenant: str
    owner: str = ""
    agent: str = ""
    thread: str = ""

    def __post_init__(self) -> None:
        tenant: object = self.tenant
        if not isinstance(tenant, str) or not tenant.strip():
            message = "A scope needs a tenant."
            raise ScopeDenied(message, field="tenant")
        for level in ("tenant", "owner", "agent", "thread"):
            check_name(getattr(self, level), level, blank=level != "tenant")
        if not self.owner and (self.agent or self.thread):
            message = "An agent or a thread needs an owner."
            raise ScopeDenied(message, field="owner")

    @property
    def id(self) -> uuid.UUID:
        """UUIDv5 of the four levels in UTF-8, joined by NUL: nobody looks it up."""
        parts = (self.tenant, self.owner, self.agent, self.thread)
        return uuid.uuid5(SCOPE_NAMESPACE, "\0".join(parts))

    def with_owner(self, owner: str) -> Scope:
        """Return the scope of ``owner`` in this tenant."""
        return self._below("owner", owner)

    def with_agent(self, agent: str) -> Scope:
        """Return the scope of ``agent`` under this owner."""
        return self._below("agent", agent)

    def with_thread(self, thread: str) -> Scope:
        """Return the scope of ``thread`` under this owner and agent."""
        return self._below("thread", thread)

    def _below(self, level: str, name: str) -> Scope:
        if getattr(self, level) or self.thread:
            message = f"This scope cannot be narrowed by another {level}."
            raise ScopeDenied(message, field=level)
        check_name(name, level)
        return replace(self, **{level: name})

    def chain(self) -> Iterator[Scope]:
        """Yield this level and every level above it, narrowest first; at most four."""
        seen = [
            self,
            Scope(self.tenant, self.owner, self.agent),
            Scope(self.tenant, self.owner),
            Scope(self.tenant),
        ]
        yield from dict.fromkeys(seen)

    def visible(self, mode: ReadMode) -> tuple[Scope, ...]:
        """Return the scopes that a reader standing here sees."""
        return tuple(self.chain()) if mode is ReadMode.CHAIN else (self,)

    def opens(self, other: Scope) -> bool:
        """Tell whether ``other`` is this scope or lies below it.

        A thread that belongs to no agent has nothing below it: an agent's thread of the
        same name lies below that agent, whose rows this scope does not see.
        """
        return self in other.chain()

    def __str__(self) -> str:
        return " / ".join(
            level
            for level in (self.tenant, self.owner, self.agent, self.thread)
            if level
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where words come from: their trust class, and who wrote them.

    Raises:
        Invalid: An unknown trust class, or a blank writer (B274, B275).
    """

    trust: Trust
    writer: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "trust", check_choice(self.trust, Trust, "trust"))
        check_name(self.writer, "writer")


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, as the audit names them: ``user:7``, ``key:0192…``, ``system``."""

    name: str = "system"

    def __post_init__(self) -> None:
        check_name(self.name, "actor")


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
            things outside, such as messages. Repeats collapse, order stays.

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
        metadata: A JSON object; it comes back unchanged.
        consent: As given; the default of its kind when None.
        sequence: Place in the scope's order; the next of an ever-growing number when
            None.
        importance: Clamped to 0..1. Wins over ``reflection``.
        reflection: Given to the setting ``IMPORTANCE_FROM`` once, and not stored.
        lineage: What this is derived from; None keeps what is known.
        source: The stream it belongs to.
        origin: Who wrote it, if that differs from the origin of the call.
        language: A text search configuration of PostgreSQL; the setting when None.
        lexical_text: What full text indexes instead of ``text``.
        embed_text: What the embedder sees instead of ``text``.
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
            value = getattr(self, name)
            if not (value is None or isinstance(value, kind)):
                message = f"{name} must be a {kind.__name__}."
                raise Invalid(message, field=name)
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


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What pins a space of vectors: vectors of two identities are never compared."""

    provider: str
    model: str
    dimensions: int

    def __str__(self) -> str:
        return f"{self.provider}/{self.model} ({self.dimensions})"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that one leg of recall found.

    Args:
        record_id: Id of the record, as text.
        leg: Name of the leg: ``vector`` or ``text``.
        rank: Place in that leg, from 1.
        score: The leg's own score; higher is better.
    """

    record_id: str
    leg: str
    rank: int
    score: float


@dataclass(frozen=True)
class Item:
    """A record as a reader gets it: verbatim words, and where they come from.

    Args:
        text: Verbatim, but for configured secrets.
        source: Key of the stream it belongs to, or None.
    """

    id: uuid.UUID
    key: str
    text: str
    kind: Kind
    tier: Tier
    namespace: str
    partition: str
    scope: Scope
    source: str | None
    ordinal: int | None
    trust: Trust
    writer: str
    metadata: JSON
    sequence: int
    importance: float | None
    created_at: dt.datetime
    happened_at: dt.datetime | None
    valid_from: dt.datetime | None
    valid_to: dt.datetime | None
    version: int


@dataclass(frozen=True)
class Hit(Item):
    """A record as recalled, with why it is here (C35).

    Args:
        score: Fused score, 0..1; higher is better.
        method: ``vector``, ``text`` or ``hybrid``.
        cosine: -1..1 to the query, or None when the vector leg did not find it.
        bm25: Full-text score, or None when the text leg did not find it.
        ranks: Place in each leg that found it, from 1.
    """

    score: float = 0.0
    method: str = "text"
    cosine: float | None = None
    bm25: float | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Page(Sequence[Item]):
    """One page of a list.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[Item, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Recalled(Sequence[Hit]):
    """The hits of one recall, best first, and how they were found.

    Args:
        strategy: How the vector leg looked: ``exact``, ``index``, or ``none``.
        degraded: Why the answer is poorer than it could be, or empty.
    """

    hits: tuple[Hit, ...] = ()
    strategy: str = "none"
    degraded: str = ""

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True)
class Grant:
    """What an authenticated caller may do, and as whom.

    Args:
        scope: The widest scope that is open.
        permissions: What is allowed there and below.
        origin: Trust and writer of what the caller writes; no request changes it.
        actor: Who acts, as the audit names them.
    """

    scope: Scope
    permissions: frozenset[Permission]
    origin: Origin
    actor: Actor

    def narrowed(self, *, owner: str = "", agent: str = "", thread: str = "") -> Scope:
        """Return the scope that a caller chose: the grant's own, or one below it.

        Args:
            owner: Empty, the grant's own, or one below it; likewise what follows.

        Raises:
            ScopeDenied: The choice is wider than the grant, beside it or malformed.
        """
        mine = self.scope
        chosen = Scope(
            mine.tenant, owner or mine.owner, agent or mine.agent, thread or mine.thread
        )
        if not mine.opens(chosen):
            message = "The key does not open that scope."
            raise ScopeDenied(message, field="scope")
        return chosen

    def require(self, permission: Permission) -> None:
        """Do nothing if ``permission`` is held.

        Raises:
            PermissionDenied: It is not.
        """
        if permission not in self.permissions:
            message = f"The key lacks the permission {permission.value!r}."
            raise PermissionDenied(message, field="permission")
