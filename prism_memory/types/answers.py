"""What readers get."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import (
    Acceptance,
    Kind,
    Tier,
    TombstoneReason,
    Trust,
)

JSON = dict[str, Any]


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
        gate: ``open``, or ``quarantined``, which only who asks for it sees.
        gate_reason: Why it is quarantined, or empty.
        changed: Its words, gate or consent changed after the ``known_at`` of the
            question: it was known then, but perhaps not as it is shown.
        line_start: Of a document's chunk in force, its first line, from 1.
        line_end: Its last line, inclusive.
        offset_start: Its first character in the redacted document, from 0.
        offset_end: Behind its last character.
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
    gate: str = "open"
    gate_reason: str = ""
    changed: bool = False
    line_start: int | None = None
    line_end: int | None = None
    offset_start: int | None = None
    offset_end: int | None = None

    @property
    def citation(self) -> str:
        """How a document's chunk in force is cited: ``source#0001``; else empty.

        By its place in the document as it is now, from 1 (B233).
        """
        if self.kind is not Kind.CHUNK or None in {self.source, self.ordinal}:
            return ""
        return f"{self.source}#{(self.ordinal or 0) + 1:04d}"


@dataclass(frozen=True)
class Hit(Item):
    """A record as recalled, with why it is here (C35).

    Args:
        score: Fused score, 0..1; higher is better.
        method: The leg that found it: ``vector``, ``text``, ``recency``, ``entity``;
            ``hybrid`` for several, ``context`` for none: it stands beside one that
            was found.
        cosine: -1..1 to the query, or None when it has no vector.
        bm25: Full-text score, or None when it has no word of the question.
        ranks: Place in each leg that found it, from 1.
        signals: What the score is made of, by name: ``vector``, ``bm25``, ``entity``
            (1, and half as much for each hop), ``fused``, and of ``similarity``,
            ``recency``, ``importance``, ``decay``, ``trust`` those that counted; after
            a reranker ``rerank``, its own score, and ``ranked``, the score before it.
        acceptance: Of a fact ``accepted``, ``belief`` or ``proposal``; else empty.
    """

    score: float = 0.0
    method: str = "text"
    cosine: float | None = None
    bm25: float | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    acceptance: Acceptance | Literal[""] = ""


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
class Explanation:
    """Why a hit is where it is, and where its words come from. No words themselves.

    Args:
        rank: Place among the hits, from 1.
        score: As in the hit.
        method: As in the hit.
        strategy: How the vector leg looked.
        ranks: Place in each leg that found it, from 1.
        signals: What each leg measured: ``vector`` the cosine, -1..1, and ``bm25``.
        weights: What each leg counted.
        components: Parts of the score, 0..1 each, where it is made of some.
        source_refs: What it is derived from, in the writer's order.
        lineage_reason: How it was derived, as ``note by consolidator``; empty where
            it is derived from nothing.
        tombstone: One in force that does not hide it, and since when.
        shared_from: The thread that shares it with the reader's, or None where it is
            the reader's own (B184).
    """

    id: uuid.UUID
    rank: int
    score: float
    method: str
    strategy: str
    ranks: Mapping[str, int]
    signals: Mapping[str, float]
    weights: Mapping[str, float]
    components: Mapping[str, float]
    source_refs: tuple[str, ...]
    lineage_reason: str
    tombstone: tuple[TombstoneReason, dt.datetime] | None
    created_at: dt.datetime
    scope: Scope
    shared_from: str | None = None


@dataclass(frozen=True)
class RebuiltIndex:
    """One page of a rebuild.

    Args:
        rebuilt: Vectors made anew.
        next_cursor: Where the next page begins, or None on the last.
    """

    rebuilt: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A record whose vector is near a text.

    Args:
        cosine: -1..1 to the text.
    """

    id: uuid.UUID
    cosine: float


@dataclass(frozen=True)
class Recalled(Sequence[Hit]):
    """The hits of one recall, best first, and how they were found.

    Args:
        strategy: How the vector leg looked: ``exact``, ``index``, ``external``, or
            ``none`` where it did not; ``text`` where ``VECTOR_INDEX`` is ``none``.
        degraded: Why the answer is poorer than it could be, or empty.
        bounded: Some words are in too many rows to search them all: those were only
            searched beside others. Or an entity has more facts than are looked at.
        truncated: More was found than ``max_bytes`` or ``max_tokens`` let through.
        timings_ms: Milliseconds by step.
        trace_id: Of the trace that is kept of it, or None where none is.
        adjacent: What stands beside the hits, by sequence, when asked for.
        explanations: One for each hit, in their order, when asked for.
    """

    hits: tuple[Hit, ...] = ()
    strategy: str = "none"
    degraded: str = ""
    bounded: bool = False
    truncated: bool = False
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)
    trace_id: uuid.UUID | None = field(default=None, compare=False)
    adjacent: tuple[Item, ...] = ()
    explanations: tuple[Explanation, ...] = ()

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)
