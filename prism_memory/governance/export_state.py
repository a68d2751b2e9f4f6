"""How far an export is, as its run keeps it: ids, counts and file names."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory import audit
from prism_memory.governance.export import Place
from prism_memory.models import Run
from prism_memory.types import NIL, Actor, ExportPart

KIND: Final = "export"
UNCONSENTED: Final = ":unconsented"
"""Before every scope."""


@dataclass(frozen=True)
class Position:
    """How far an export is, as its run keeps it.

    Args:
        scope: Id of the scope that is being read, or of the last that was.
        open: It has more.
        after: Place of its last record that is written, or None.
        pending: A part that may lie in the storage and is not noted yet.
    """

    scope: uuid.UUID = NIL
    open: bool = False
    after: Place | None = None
    parts: tuple[ExportPart, ...] = ()
    pending: str = ""
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, run: Run) -> Position:
        """Read it from a run."""
        kept = run.cursor
        after = kept.get("after")
        return cls(
            scope=uuid.UUID(kept["scope"]),
            open=kept["open"],
            after=None if after is None else (after[0], uuid.UUID(after[1])),
            parts=tuple(ExportPart(*part) for part in kept["parts"]),
            pending=kept["pending"],
            counts=Counter(run.counts),
        )

    def kept(self) -> dict[str, Any]:
        """Return what a run keeps of it."""
        after = None if self.after is None else [self.after[0], self.after[1].hex]
        return {
            "scope": self.scope.hex,
            "open": self.open,
            "after": after,
            "parts": [[p.name, p.records, p.bytes, p.sha256] for p in self.parts],
            "pending": self.pending,
        }


def target(scope_id: uuid.UUID, *, unconsented: bool = False) -> str:
    """Return what a run of this export works on: ids, no names."""
    return f"scope:{scope_id}{UNCONSENTED if unconsented else ''}"


def scope_of(run: Run) -> uuid.UUID:
    """Return the id of the scope that a run exports."""
    return uuid.UUID(run.target.removeprefix("scope:").removesuffix(UNCONSENTED))


def note(
    using: str,
    run: Run,
    actor: Actor,
    phase: str,
    at: dt.datetime,
    counts: Mapping[str, int],
    reason: str = "",
) -> None:
    """Add what happened to an export to the audit: ids and counts."""
    audit.record(
        using=using,
        tenant=run.tenant,
        actor=actor,
        action="memory.export",
        target=run.target,
        at=at,
        reason=reason,
        detail={"run": str(run.id), "phase": phase, **counts},
    )
