"""Consents and corrections at random over random lineages, against a naive model."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.errors import Conflict
from prism_memory.memory import Memory
from prism_memory.models import Record
from prism_memory.types import (
    Consent,
    ConsentDecision,
    ConsentScope,
    ConsentSource,
    Entry,
    Kind,
    Lineage,
    SourceRef,
)
from tests.factories import make_memory, make_scope
from tests.tries import examples

pytestmark = pytest.mark.django_db

MOST = 8
"""Records; a chain of them is as deep as a correction passes."""


@dataclass(frozen=True)
class Row:
    """One record, as far as its consent and its words go."""

    sources: frozenset[int]
    visible: bool | None
    source: str
    label: str
    text: str
    version: int = 1
    granted: bool = False
    revoked: bool = False
    corrected: bool = False
    decisions: tuple[tuple[bool | None, str, str, bool, bool], ...] = ()

    def decided(self) -> Row:
        now = (self.visible, self.source, self.label, self.granted, self.revoked)
        return replace(self, version=self.version + 1, decisions=(*self.decisions, now))


@dataclass
class Model:
    """What each verb does, in as few words as it can be said."""

    rows: dict[int, Row] = field(default_factory=dict)

    def remember(self, number: int, kind: str, sources: frozenset[int]) -> None:
        consents = {
            "plain": (True, "user", "thread"),
            "chunk": (None, "", ""),
            "given": (True, "agent", "profile"),
            "refused": (False, "agent", "profile"),
        }
        visible, source, label = consents[kind]
        row = Row(
            sources, visible, source, label, f"words {number}", granted=bool(visible)
        )
        if kind in {"given", "refused"}:
            row = replace(row.decided(), version=1)
        self.rows[number] = row

    def set_visible(self, number: int, *, visible: bool) -> None:
        row = self.rows[number]
        granted = row.granted or visible
        row = replace(row, visible=visible, granted=granted, revoked=not visible)
        self.rows[number] = row.decided()

    def label(self, number: int, source: str | None, label: str | None) -> None:
        row = self.rows[number]
        row = replace(row, source=source or row.source, label=label or row.label)
        self.rows[number] = row.decided()

    def correct(self, number: int, text: str) -> bool:
        row = self.rows[number]
        if row.revoked:
            return False
        if row.text != text:
            self.rows[number] = replace(
                row, text=text, version=row.version + 1, corrected=True
            )
        return True

    def ancestors(self, number: int) -> set[int]:
        found: set[int] = set()
        new = set(self.rows[number].sources)
        while new - found:
            found |= new
            new = {s for n in new for s in self.rows[n].sources}
        return found

    def seen(self, *, strict: bool) -> dict[int, str]:
        return {
            number: row.text
            for number, row in self.rows.items()
            if not row.revoked
            and (row.visible or (row.visible is None and not strict))
            and not any(
                self.rows[above].visible is False or self.rows[above].corrected
                for above in self.ancestors(number)
            )
        }


Step = tuple[str, int, str, frozenset[int]]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Draw what is done in turn; a record derives from earlier ones only."""
    found: list[Step] = []
    known = 0
    verbs = ["remember", "revoke", "grant", "label", "correct"]
    for _ in range(draw(st.integers(4, 24))):
        verb = draw(st.sampled_from(verbs))
        if verb == "remember" or not known:
            if known == MOST:
                continue
            kind = draw(st.sampled_from(["plain", "chunk", "given", "refused"]))
            earlier = st.integers(0, max(0, known - 1))
            sources = draw(st.frozensets(earlier, max_size=2 if known else 0))
            found.append(("remember", known, kind, sources))
            known += 1
        else:
            number = draw(st.integers(0, known - 1))
            what = draw(st.sampled_from(["one", "two", "both"]))
            found.append((verb, number, what, frozenset()))
    return found


def entry(number: int, kind: str, sources: frozenset[int]) -> Entry:
    given = Consent(
        source=ConsentSource.AGENT,
        scope=ConsentScope.PROFILE,
        visible=kind == "given",
    )
    return Entry(
        f"words {number}",
        key=str(number),
        kind=Kind.CHUNK if kind == "chunk" else Kind.ENTRY,
        source=SourceRef("doc", number) if kind == "chunk" else None,
        consent=given if kind in {"given", "refused"} else None,
        lineage=Lineage(tuple(str(source) for source in sorted(sources))),
    )


def do(memory: Memory, model: Model, ids: dict[int, uuid.UUID], step: Step) -> None:
    verb, number, what, sources = step
    if verb == "remember":
        (ids[number],) = memory.remember(entry(number, what, sources)).accepted
        model.remember(number, what, sources)
    elif verb in {"revoke", "grant"}:
        memory.set_consent(ids[number], visible=verb == "grant")
        model.set_visible(number, visible=verb == "grant")
    elif verb == "label":
        source = None if what == "one" else ConsentSource.SYSTEM
        label = None if what == "two" else ConsentScope.USER
        memory.set_consent(ids[number], source=source, label=label)
        model.label(number, source, label)
    else:
        try:
            memory.correct(ids[number], f"words {what}")
        except Conflict:
            assert not model.correct(number, f"words {what}")
        else:
            assert model.correct(number, f"words {what}")


def noted(decision: ConsentDecision) -> tuple[bool | None, str, str, bool, bool]:
    return (
        decision.visible,
        decision.source or "",
        decision.label or "",
        decision.granted_at is not None,
        decision.revoked_at is not None,
    )


def listed(memory: Memory) -> dict[int, str]:
    return {int(item.key): item.text for item in memory.list()}


@given(steps())
@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_state_and_every_sight_is_the_models(sequence: list[Step]):
    """B134 to B145."""
    scope = make_scope(tenant=f"t-{uuid.uuid4()}")
    memory, strict = make_memory(scope), make_memory(scope, require_consent=True)
    model = Model()
    ids: dict[int, uuid.UUID] = {}
    for step in sequence:
        do(memory, model, ids, step)
        assert listed(memory) == model.seen(strict=False)
        assert listed(strict) == model.seen(strict=True)
    for number, row in model.rows.items():
        stored = Record.objects.get(tenant=scope.tenant, id=ids[number])
        state = (stored.visible, stored.consent_source, stored.consent_scope)
        assert state == (row.visible, row.source, row.label)
        assert (stored.granted_at is not None) == row.granted
        assert (stored.revoked_at is not None) == row.revoked
        assert (stored.text, stored.version) == (row.text, row.version)
        history = memory.consent_history(ids[number])
        assert tuple(map(noted, history)) == row.decisions
    found = {int(h.key): h.text for h in memory.recall("words", 32)}
    assert found == model.seen(strict=False)
