"""What an export holds, on its way back in."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, replace
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types.checks import (
    check_bigint,
    check_bool,
    check_name,
    check_text,
    check_time,
)
from prism_memory.types.entries import Entry
from prism_memory.types.generations import check_generation
from prism_memory.types.restored_facts import RestoredFact
from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import Kind, ScopeLevel, check_choice

NARROWER: Final = {
    ScopeLevel.TENANT: ("owner", "agent", "thread"),
    ScopeLevel.OWNER: ("agent", "thread"),
    ScopeLevel.AGENT: ("thread",),
    ScopeLevel.THREAD: (),
}


@dataclass(frozen=True, slots=True)
class Derived:
    """Something that a restored record is derived from, by what it is called.

    Args:
        level: Which level of the record's own chain it belongs to.
        key: Of a record; with it ``kind``, ``namespace`` and ``partition``.
        external: Id of something outside.
        record: Id that a record had where it was exported.
        source: Key of the document that a chunk is of.

    Raises:
        Invalid: Not exactly one of key, external and record.
    """

    level: ScopeLevel = ScopeLevel.THREAD
    key: str = ""
    kind: Kind = Kind.ENTRY
    namespace: str = ""
    partition: str = ""
    external: str = ""
    record: uuid.UUID | None = None
    source: str = ""

    def __post_init__(self) -> None:
        named = [bool(self.key), bool(self.external), self.record is not None]
        if sum(named) != 1:
            message = "lineage needs one of key, external and record."
            raise Invalid(message, field="lineage")
        level = check_choice(self.level, ScopeLevel, "lineage.level")
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "kind", check_choice(self.kind, Kind, "lineage.kind"))
        for name in ("key", "namespace", "partition", "external", "source"):
            check_name(getattr(self, name), f"lineage.{name}", blank=True)

    def place(self, scope: Scope) -> Scope:
        """Return the scope it belongs to, as seen from a record of ``scope``."""
        return replace(scope, **dict.fromkeys(NARROWER[self.level], ""))


@dataclass(frozen=True, slots=True)
class RestoredChunk:
    """Where a chunk stands in its document.

    Args:
        chunker: How the document was cut.
        generation: Of its scope's documents, or None.

    Raises:
        Invalid: A place is not a count.
        LimitExceeded: It is over 31 bits, or negative.
    """

    line_start: int
    line_end: int
    offset_start: int
    offset_end: int
    chunker: str = ""
    generation: int | None = None

    def __post_init__(self) -> None:
        check_text(self.chunker, "source.chunker")
        for name in ("line_start", "line_end", "offset_start", "offset_end"):
            check_generation(getattr(self, name), f"chunk.{name}")
        if self.generation is not None:
            check_generation(self.generation, "chunk.generation")


@dataclass(frozen=True, slots=True)
class Restored(Entry):
    """An entry with what only a restored record has.

    No consent is assumed of it where it has none.

    Args:
        created_at: When it was first remembered, if that is known.
        changed_at: When its words, gate or consent last changed, or None.
        uses: How often it was used, from 1.
        derived: What it is derived from; ``lineage`` stays None.
        fact: What it is the statement of; None for what is no fact.
        chunk: Where it stands in its document; None for what is in none.
        restricted: Its source was restricted.
        restricted_to: Ids of restricted documents that it draws upon besides, where it
            was exported.
    """

    created_at: dt.datetime | None = None
    changed_at: dt.datetime | None = None
    uses: int = 1
    derived: tuple[Derived, ...] = ()
    fact: RestoredFact | None = None
    chunk: RestoredChunk | None = None
    restricted: bool = False
    restricted_to: tuple[uuid.UUID, ...] = ()

    def __post_init__(self) -> None:
        Entry.__post_init__(self)
        for name in ("created_at", "changed_at"):
            object.__setattr__(self, name, check_time(getattr(self, name), name))
        check_bool(self.restricted, "source.restricted")
        if (self.kind is Kind.CHUNK) != (self.chunk is not None):
            message = "A chunk, and nothing else, stands in a document."
            raise Invalid(message, field="chunk")
        if check_bigint(self.uses, "uses") < 1:
            message = "uses must be at least 1."
            raise Invalid(message, field="uses")
