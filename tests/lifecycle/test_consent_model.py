"""Revoke and grant at random over random lineages, against a naive model."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.memory import Memory
from prism_memory.types import Entry, Lineage
from tests.factories import make_memory, make_scope
from tests.tries import examples

pytestmark = pytest.mark.django_db


@dataclass
class Model:
    """Who derives from whom, and whose consent is revoked: nothing else counts."""

    sources: dict[int, set[int]] = field(default_factory=dict)
    revoked: set[int] = field(default_factory=set)

    def ancestors(self, record: int) -> set[int]:
        found: set[int] = set()
        new = set(self.sources[record])
        while new - found:
            found |= new
            new = {s for record in new for s in self.sources[record]}
        return found

    def visible(self) -> set[int]:
        return {
            record
            for record in self.sources
            if not ({record} | self.ancestors(record)) & self.revoked
        }


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, int, frozenset[int]]]:
    """Draw what is remembered, revoked and granted, in turn.

    A record derives from earlier ones only, at most four levels deep.
    """
    found: list[tuple[str, int, frozenset[int]]] = []
    known = 0
    for _ in range(draw(st.integers(4, 24))):
        verb = draw(st.sampled_from(["remember", "revoke", "grant"]))
        if verb == "remember" or not known:
            if known == 12:
                continue
            sources = draw(st.frozensets(st.integers(0, max(0, known - 1)), max_size=3))
            # A source is of an earlier group of three than its record.
            near = frozenset(s for s in sources if known and s // 3 < known // 3)
            found.append(("remember", known, near))
            known += 1
        else:
            found.append((verb, draw(st.integers(0, known - 1)), frozenset()))
    return found


def listed(memory: Memory) -> set[int]:
    return {int(item.key) for item in memory.list()}


@given(steps())
@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_visible_is_what_no_revoked_record_leads_to(sequence):
    """B141, B143, B162, B163."""
    memory = make_memory(make_scope(tenant=f"t-{uuid.uuid4()}"))
    model, ids = Model(), {}
    for verb, record, sources in sequence:
        if verb == "remember":
            lineage = Lineage(tuple(str(source) for source in sorted(sources)))
            entry = Entry(f"words {record}", key=str(record), lineage=lineage)
            (ids[record],) = memory.remember(entry).accepted
            model.sources[record] = set(sources)
        else:
            memory.set_consent(ids[record], visible=verb == "grant")
            (model.revoked.add if verb == "revoke" else model.revoked.discard)(record)
            assert listed(memory) == model.visible()
    assert listed(memory) == model.visible()
    assert {int(hit.key) for hit in memory.recall("words", 32)} == model.visible()
