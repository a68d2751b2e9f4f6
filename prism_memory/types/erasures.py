"""What an erasure tells."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.types.vocabulary import ErasureLevel, Kind

RECORDS: Final = "prism_memory_record"
"""Their table, as counts name it."""


TOTALS: Final = (
    "records",
    "vectors",
    "sources",
    "scopes",
    "shares",
    "keys",
    "traces",
    "exports",
)


class Counted:
    """What counts say, in words: of a receipt, and of what is foreseen."""

    counts: Mapping[str, int]
    kept: Mapping[str, int]

    @property
    def totals(self) -> dict[str, int]:
        """Each of the counts below that is not 0, by its name."""
        found = {name: int(getattr(self, name)) for name in TOTALS}
        return {name: count for name, count in found.items() if count}

    @property
    def records(self) -> int:
        """Records, whatever their kind, those elsewhere included."""
        return self.counts.get(RECORDS, 0)

    @property
    def vectors(self) -> int:
        """Vectors, and places in the queue of those not made yet."""
        return self.counts.get("prism_memory_embedding", 0)

    @property
    def sources(self) -> int:
        """Sources."""
        return self.counts.get("prism_memory_source", 0)

    @property
    def evidence_links(self) -> int:
        """Links removed between facts and what they cite, also of facts that stay."""
        return self.counts.get("prism_memory_evidence", 0)

    @property
    def facts_erased(self) -> int:
        """Facts removed: those of the target, and those that cited nothing else."""
        return self.counts.get("prism_memory_fact", 0)

    @property
    def facts_kept(self) -> int:
        """Facts that stay: by a hold, or on other evidence than what goes (B322)."""
        return self.kept.get("facts", 0) + self.kept.get("spared", 0)

    @property
    def scopes(self) -> int:
        """Scopes."""
        return self.counts.get("prism_memory_scope", 0)

    @property
    def shares(self) -> int:
        """Shares between threads."""
        return self.counts.get("prism_memory_sharegrant", 0)

    @property
    def keys(self) -> int:
        """Access keys."""
        return self.counts.get("prism_memory_accesskey", 0)

    @property
    def traces(self) -> int:
        """Traces of recalls."""
        return self.counts.get("prism_memory_recalltrace", 0)

    @property
    def exports(self) -> int:
        """Exports whose files are removed: all that may hold some of it."""
        return self.counts.get("exports", 0)


@dataclass(frozen=True)
class Erased(Counted):
    """What an erasure removed, and what it had to keep: its receipt.

    Args:
        id: Of the receipt.
        target_ref: ``record:``, ``source:`` or ``scope:`` and an id; no name.
        found: There was something of that name; else nothing was changed.
        counts: Rows removed, by table; ``exports``: those whose files were removed;
            ``hold_names``: released holds that lost the names of their scope.
        kinds: Records removed, by kind.
        kept: What holds keep: ``records``, ``facts``, ``sources`` and ``scopes`` of the
            target, and ``derived``, records elsewhere; and ``spared``: facts elsewhere
            that cited some of it, and stand on what else they cite. Where an external
            index could not be told all, ``copies``: vectors that it is yet to delete.
        at: When it began.
        finished_at: When it ended. What was committed in the target before that is
            gone; what was written there later stays.
    """

    id: uuid.UUID
    level: ErasureLevel
    target_ref: str
    found: bool
    at: dt.datetime
    finished_at: dt.datetime
    counts: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)

    @property
    def source_found(self) -> bool:
        """Whether the source to be erased was there (B321)."""
        return self.found

    @property
    def chunks(self) -> int:
        """Chunks of documents removed."""
        return self.kinds.get(Kind.CHUNK.value, 0)


@dataclass(frozen=True)
class ErasedPage(Sequence[Erased]):
    """A page of receipts, the newest first.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[Erased, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Erasing:
    """How far an erasure is.

    Args:
        id: Of its run.
        state: ``running``, ``done``, ``failed`` or ``cancelled``.
        counts: Rows removed up to now, by table.
        error: What went wrong, or empty.
        receipt: Of one that is done.
    """

    id: uuid.UUID
    level: ErasureLevel
    target_ref: str
    state: str
    counts: Mapping[str, int]
    started_at: dt.datetime
    finished_at: dt.datetime | None = None
    error: str = ""
    receipt: Erased | None = None


@dataclass(frozen=True)
class Foreseen(Counted):
    """What an erasure would remove now, and what holds would keep.

    Args:
        counts: As of ``Erased``: what would go.
        derived: Records elsewhere that would go too, as they derive from these.
        kept: As of ``Erased``.
    """

    level: ErasureLevel
    target_ref: str
    found: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    derived: int = 0
    kept: Mapping[str, int] = field(default_factory=dict)
