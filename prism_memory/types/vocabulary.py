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
