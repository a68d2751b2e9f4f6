"""The words that columns, arguments and answers choose from."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeVar

from prism_memory.errors import Invalid

E = TypeVar("E", bound=StrEnum)


class Trust(StrEnum):
    """Who vouches for a record's words. Set by the caller's code, never by content."""

    USER = "user"
    DOCUMENT = "document"
    AGENT = "agent"
    TOOL = "tool"
    SUBAGENT = "subagent"
    CONSOLIDATOR = "consolidator"
    SYSTEM = "system"


class Acceptance(StrEnum):
    """Whether a fact may be relied on, as the acceptance policy or a person decided."""

    ACCEPTED = "accepted"
    BELIEF = "belief"
    PROPOSAL = "proposal"


class Provenance(StrEnum):
    """How a fact came to be, where that is not simply what its evidence is.

    Source: S3. What is synthesized (extraction, reflection, induction) waits for a
    person; see ``SYNTHESIZED``.
    """

    NONE = ""
    USER = "user"
    TOOL = "tool"
    EXTRACTION = "extraction"
    REFLECTION = "reflection"
    INDUCTION = "induction"
    IMPORTED = "imported"


SYNTHESIZED: Final = (
    Provenance.EXTRACTION,
    Provenance.REFLECTION,
    Provenance.INDUCTION,
)


class Principal(StrEnum):
    """Whom a fact is of: S3's ``owner``."""

    USER = "user"
    AGENT = "agent"
    SHARED = "shared"


class Sensitivity(StrEnum):
    """How far a fact may be shown; a label that hosts filter by."""

    PUBLIC = "public"
    INTERNAL = "internal"
    SECRET = "secret"  # noqa: S105 - no password


class Closing(StrEnum):
    """Why a fact is open no more."""

    OPEN = ""
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    FORGOTTEN = "forgotten"


class FactChange(StrEnum):
    """What began a version of a fact."""

    ASSERTED = "asserted"
    SUPERSEDED = "superseded"
    ACCEPTED = "accepted"
    VALIDATED = "validated"
    QUARANTINED = "quarantined"
    REJUDGED = "rejudged"


class ReviewWhy(StrEnum):
    """Why something waits for a person."""

    PROPOSAL = "proposal"
    QUARANTINED = "quarantined"
    CONFLICT = "conflict"


class ReviewDecision(StrEnum):
    """What came of a review."""

    WAITING = ""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    VALIDATED = "validated"
    FORCED = "forced"
    SETTLED = "settled"
    LAPSED = "lapsed"


class Verdict(StrEnum):
    """What becomes of a claim that meets others."""

    ADMIT = "admit"
    DEDUP = "dedup"
    SUPERSEDE = "supersede"
    PENDING = "pending"


class ConflictStage(StrEnum):
    """Where the conflict pipeline decided."""

    EXACT = "exact"
    ZONES = "zones"
    MARKERS = "markers"
    SUBJECT_PREDICATE = "subject-predicate"
    DEFER = "defer"
    JUDGE = "judge"
    OFF = "off"


class ConflictZone(StrEnum):
    """How near the nearest other claim is, by raw cosine."""

    NONE = ""
    EXACT = "exact"
    HOT = "hot"
    NEAR_DUP = "near-dup"
    CHECK = "conflict-check"
    COLD = "cold"


class MentionRole(StrEnum):
    """What an entity is in a fact."""

    SUBJECT = "subject"
    OBJECT = "object"


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


SAID_KINDS: Final = (Kind.ENTRY, Kind.TURN, Kind.NOTE)
"""What is said in a thread. The chunks and facts of a corpus, which may have a thread's
name, have verbs of their own (B151)."""


class SourceKind(StrEnum):
    """What a source is: a document that is ingested whole, or a stream of records."""

    DOCUMENT = "document"
    STREAM = "stream"


class SourceState(StrEnum):
    """Whether a source is in search."""

    ACTIVE = "active"
    RETIRED = "retired"


class IngestionState(StrEnum):
    """How far the vectors of a document are."""

    PENDING = "pending"
    INDEXED = "indexed"
    PARTIAL = "partial"
    FAILED = "failed"


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
    QUARANTINED = "quarantined"
    REVOKED = "revoked"
    FORGOTTEN = "forgotten"
    LEGAL_HOLD = "legal_hold"
    EXPIRED = "expired"


class HoldWhere(StrEnum):
    """Where a hold is, seen from who lists it."""

    HERE = "here"
    ABOVE = "above"
    BELOW = "below"


class HoldLevel(StrEnum):
    """What a legal hold is on; a scope with all below it."""

    RECORD = "record"
    SOURCE = "source"
    SCOPE = "scope"


class ScopeLevel(StrEnum):
    """The levels of scopes, from the widest."""

    TENANT = "tenant"
    OWNER = "owner"
    AGENT = "agent"
    THREAD = "thread"


class ErasureLevel(StrEnum):
    """What an erasure takes away."""

    RECORD = "record"
    SOURCE = "source"
    THREAD = "thread"
    AGENT = "agent"
    OWNER = "owner"
    TENANT = "tenant"


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
