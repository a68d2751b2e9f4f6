"""Write what an export holds, batch by batch."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils import timezone

from prism_memory import audit, facts, lifecycle
from prism_memory.conf import Limits, Settings, settings
from prism_memory.facts import Back
from prism_memory.ingest.bring_back import bring_back
from prism_memory.lifecycle.entries import Row, prepare
from prism_memory.redaction import Redaction
from prism_memory.types import Actor, Entry, Kind, Origin, Restored, Scope, Trust

TAKEN: Final = ("text_characters", "payload_bytes", "lineage_sources")
"""Limits that a restored record need not meet: it met those of where it came from."""


@dataclass(frozen=True)
class Restoring:
    """Restores entries of one scope at a time.

    Args:
        origin: Of entries whose file is not believed.
        links: Only link what waits for it.
    """

    using: str
    actor: Actor
    origin: Origin
    links: bool = False

    def __call__(self, scope: Scope, entries: Sequence[Entry]) -> int:
        """Restore the entries; return how many were missing.

        Raises:
            Invalid: An entry cannot be stored; the error names the field.
            LimitExceeded: An entry is over a hard cap.
        """
        every = self._rows(entries)
        chunks = [row for row in every if row.entry.kind is Kind.CHUNK]
        rows = [row for row in every if row.entry.kind is not Kind.CHUNK]
        now = timezone.now()
        if self.links:
            return lifecycle.link(using=self.using, scope=scope, rows=rows, at=now)
        given: dict[str, Any] = {
            "using": self.using,
            "scope": scope,
            "actor": self.actor,
            "embedder": settings.EMBEDDER,
            "at": now,
        }
        made = bring_back(**given, rows=chunks) if chunks else 0
        return made + (lifecycle.restore(**given, rows=rows) if rows else 0)

    def facts(self, scope: Scope, entries: Sequence[Entry], *, trusted: bool) -> Back:
        """Restore facts of one scope, once all that was said is there.

        Args:
            trusted: Believe the file what was held when.

        Raises:
            Invalid: An entry cannot be stored; the error names the field.
            LimitExceeded: An entry is over a hard cap.
        """
        return facts.restore(
            using=self.using,
            scope=scope,
            actor=self.actor,
            rows=self._rows([_reclaimed(entry) for entry in entries]),
            embedder=settings.EMBEDDER,
            at=timezone.now(),
            trusted=trusted,
        )

    def drop_loose(self, scope: Scope, ids: Collection[uuid.UUID]) -> int:
        """Drop links of restored facts that lead nowhere; return how many."""
        return facts.drop_loose(using=self.using, scope=scope, ids=ids)

    def _rows(self, entries: Sequence[Entry]) -> tuple[Row, ...]:
        caps = {name: int(_setting(name)) for name in TAKEN}
        most = caps["text_characters"]
        return prepare(
            [_fitting(entry, most) for entry in entries],
            origin=self.origin,
            limits=Limits(caps),
            redaction=Redaction.configured(),
        )


def _setting(name: str) -> float:
    return getattr(Settings, name.upper()).maximum or 0


def _reclaimed(entry: Entry) -> Entry:
    assert isinstance(entry, Restored)  # noqa: S101 - what a file of an export holds
    return facts.reclaimed(entry, redaction=Redaction.configured())


def _fitting(entry: Entry, most: int) -> Entry:
    """Leave out index texts longer than a caller may give: they are made anew."""
    long = {
        name: None
        for name in ("lexical_text", "embed_text")
        if len(getattr(entry, name) or "") > most
    }
    return replace(entry, **long) if long else entry  # type: ignore[arg-type]


def imported(actor: Actor) -> Origin:
    """Return who vouches for what a file says and nobody else does."""
    return Origin(Trust.DOCUMENT, actor.name)


def note(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    target: str,
    records: int,
    changed: int,
    trusted: bool,
    at: dt.datetime,
) -> None:
    """Add a restoring to the audit.

    Args:
        target: Hash of the file; its name may be somebody's.
    """
    audit.record(
        using=using,
        tenant=tenant,
        actor=actor,
        action="memory.restore",
        target=target,
        at=at,
        detail={"records": records, "changed": changed, "trusted": trusted},
    )
