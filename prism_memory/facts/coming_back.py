"""The rows of one fact that comes back from an export. Pure."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final

from prism_memory.facts.conflict import folded_sha256
from prism_memory.facts.vouching import bare_words, gated
from prism_memory.lifecycle.entries import Row
from prism_memory.lifecycle.evidence import FIRMNESS
from prism_memory.models import Evidence, Fact, FactVersion
from prism_memory.types import (
    Acceptance,
    Actor,
    FactChange,
    RestoredFact,
    RestoredVersion,
    Scope,
    uuid7,
)
from prism_memory.types.naming import fold

NO_COLUMNS: Final = {"id", "versions", "own_words"}
COLUMNS: Final = [
    one.name for one in fields(RestoredFact) if one.name not in NO_COLUMNS
]
OF_VERSION: Final = [one.name for one in fields(RestoredVersion)]
CLOSED: Final = "quarantined"


@dataclass(frozen=True)
class Coming:
    """A fact on its way back, and what it cites."""

    row: Row
    fact: RestoredFact
    evidence: tuple[uuid.UUID, ...]

    @property
    def words(self) -> bytes:
        """What its words are found by."""
        return folded_sha256(self.row.entry.text)

    def gated(self, reason: str) -> Coming:
        """Return it as the gate holds it back, unless it does so already."""
        if self.row.verdict.flagged:
            return self
        return replace(self, row=gated(self.row, reason))

    def notes(self) -> Iterator[Row]:
        """Yield its bare words as a record, if it cites them."""
        if self.fact.own_words is not None:
            yield bare_words(self.row, self.fact.own_words)

    def fact_row(self, scope: Scope) -> Fact:
        """Return its row."""
        columns = {name: getattr(self.fact, name) for name in COLUMNS}
        return Fact(
            id=self.fact.id,
            record_id=self.fact.id,
            tenant=scope.tenant,
            scope_id=scope.id,
            folded_subject=fold(self.fact.subject),
            folded_sha256=self.words,
            **columns,
        )

    def evidence_rows(self, tenant: str) -> Iterator[Evidence]:
        """Yield a row for each record that it cites."""
        for record_id in self.evidence:
            yield Evidence(tenant=tenant, fact_id=self.fact.id, record_id=record_id)

    def version_rows(
        self,
        tenant: str,
        judged: Acceptance,
        moment: dt.datetime,
        actor: Actor,
        *,
        trusted: bool,
    ) -> Iterator[FactVersion]:
        """Yield a row for each version that is to be held.

        Args:
            judged: What the policy makes of what it cites here.
            moment: Now.
            trusted: Believe what was held when; else one version begins now.
        """
        if trusted:
            told = [*self._history(moment, actor)]
        else:
            told = [self._anew(judged, moment, actor)]
        for version in told:
            columns = {name: getattr(version, name) for name in OF_VERSION}
            yield FactVersion(
                id=uuid7(), tenant=tenant, fact_id=self.fact.id, **columns
            )

    def _anew(
        self, judged: Acceptance, moment: dt.datetime, actor: Actor
    ) -> RestoredVersion:
        last = self.fact.last
        return replace(
            last,
            acceptance=min(last.acceptance, judged, key=FIRMNESS.index),
            gate=CLOSED if self.row.verdict.flagged else last.gate,
            recorded_from=moment,
            cause=FactChange.ASSERTED,
            actor=actor.name,
            reason="",
        )

    def _history(self, moment: dt.datetime, actor: Actor) -> Iterator[RestoredVersion]:
        last = self.fact.last
        yield from self.fact.versions[:-1]
        if not self.row.verdict.flagged:
            yield last
        elif last.recorded_from >= moment:  # the clock of the file was ahead
            yield replace(last, gate=CLOSED)
        else:
            yield replace(last, recorded_to=moment)
            yield replace(
                last,
                gate=CLOSED,
                recorded_from=moment,
                cause=FactChange.QUARANTINED,
                actor=actor.name,
                reason="",
            )
