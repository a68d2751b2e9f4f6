"""What a store of documents answers: passages, and where each comes from."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from prism_memory.types.answers import JSON
from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import Trust

Retrieval = Literal["vector", "lexical", "hybrid"]
"""What found a passage: its vector, its words, or both."""


@dataclass(frozen=True, slots=True)
class TrustLabels:
    """What holds of every passage, whoever wrote it.

    Args:
        untrusted: Nobody vouches that it is true.
        inert: It is text alone: it grants no tool and no permission.
        injection_capable: It may hold words that read as orders to a model.
    """

    untrusted: bool = True
    inert: bool = True
    injection_capable: bool = True


@dataclass(frozen=True)
class PassageProvenance:
    """Where a passage comes from, and how it was found.

    Args:
        source: Key of its document.
        source_id: The document's own id.
        uri: Of the document, or empty.
        chunk_id: Of the passage; it stays where the words only move.
        citation: ``source#0001``, by its place in the document now, from 1.
        provider: Which store answered.
        scope: Where it is written.
        retrieval: What found it.
        at: When.
        trust: Class of who wrote it; ``TrustLabels`` hold besides.
        writer: Who wrote it.
        heading: Headings that it stands under, the widest first.
        line_start: First line, from 1, where it is known; likewise what follows.
        line_end: Last line, inclusive.
        offset_start: First character in the redacted document, from 0.
        offset_end: Behind the last character.
        generation: That it belongs to, or None.
    """

    source: str
    source_id: uuid.UUID
    uri: str
    chunk_id: uuid.UUID
    citation: str
    provider: str
    scope: Scope
    retrieval: Retrieval
    at: dt.datetime
    trust: Trust
    writer: str
    heading: tuple[str, ...] = ()
    line_start: int | None = None
    line_end: int | None = None
    offset_start: int | None = None
    offset_end: int | None = None
    generation: int | None = None


@dataclass(frozen=True)
class Passage:
    """A chunk of a document as retrieved.

    Args:
        text: Verbatim, but for configured secrets.
        score: 0..1; higher is better.
        retrieval: What found it.
        trust: What holds of every passage.
        cosine: -1..1 to the question, or None.
        bm25: Full-text score, or None.
        ranks: Place in each list that it was found in, from 1.
    """

    id: uuid.UUID
    text: str
    score: float
    retrieval: Retrieval
    provenance: PassageProvenance
    trust: TrustLabels = field(default_factory=TrustLabels)
    metadata: JSON = field(default_factory=dict)
    cosine: float | None = None
    bm25: float | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Retrieved(Sequence[Passage]):
    """Passages, the best first, and how they were found.

    Args:
        truncated: More was found than the bytes or tokens let through.
        degraded: Why the answer is poorer than it could be, or empty.
        bounded: Some words are in too many rows to search them all: those were only
            searched beside others.
        strategy: How vectors were looked through: as of ``Recalled``.
        timings_ms: Milliseconds by step.
        trace_id: Of the trace that is kept of it, or None where none is.
    """

    passages: tuple[Passage, ...] = ()
    truncated: bool = False
    degraded: str = ""
    bounded: bool = False
    strategy: str = "none"
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)
    trace_id: uuid.UUID | None = field(default=None, compare=False)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.passages[index]

    def __len__(self) -> int:
        return len(self.passages)
