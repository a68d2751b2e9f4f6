"""Facts stand on any of what they cite: against a naive model, in Python and in SQL."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.acceptance import by_evidence
from prism_memory.access import Reader, visible
from prism_memory.lifecycle.evidence import FIRMNESS
from prism_memory.lifecycle.reach import reach
from prism_memory.lifecycle.removal import remove
from prism_memory.lifecycle.standing import bereft, standing
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import (
    Evidence,
    Fact,
    FactVersion,
    LineageEdge,
    Record,
    Tombstone,
)
from prism_memory.types import (
    Acceptance,
    Actor,
    Entry,
    Scope,
    TombstoneReason,
    Trust,
    record_ref,
    uuid7,
)
from tests.factories import NOON, make_memory, make_scope
from tests.governance.erasing import erase
from tests.tries import examples

SIZE = 9
TRUSTS = (Trust.USER, Trust.AGENT, Trust.TOOL)

nodes = st.integers(0, SIZE - 1)


@dataclass
class World:
    """Records by number, each derived from lower ones; some are facts.

    What a fact cites is what it derives from.
    """

    sources: dict[int, set[int]]
    facts: set[int]
    trusts: dict[int, Trust]
    held: set[int] = field(default_factory=set)
    cited: dict[int, set[int]] = field(default_factory=dict)
    there: set[int] = field(default_factory=set)
    blocked: set[int] = field(default_factory=set)
    acceptance: dict[int, Acceptance] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.there = set(self.sources)
        self.cited = {n: set(self.sources[n]) for n in self.facts}
        self.acceptance = {n: self.judged(n) for n in self.facts}

    def judged(self, fact: int) -> Acceptance:
        return by_evidence([self.trusts[n] for n in self.cited[fact]])

    def keeps(self, n: int) -> bool:
        """Whether a hold is on a record, or on a fact that rests on it."""
        resting = [fact for fact, own in self.cited.items() if n in own]
        return n in self.held or any(map(self.keeps, resting))

    def reached(self, roots: set[int]) -> set[int]:
        """Return what can be used no more: try every record until none is added."""
        found = set(roots)
        for _ in range(SIZE):
            for n in self.there:
                if n in self.facts and not self.keeps(n):
                    lost = self.cited[n] <= found
                else:
                    lost = bool(self.sources[n] & found)
                if lost:
                    found.add(n)
        return found

    def remove(self, wanted: set[int], *, dependents: bool) -> None:
        kept = {n for n in self.there if self.keeps(n)}
        going = (wanted & self.there) - kept
        reached = self.reached(going) if going else set()
        gone = reached - kept if dependents else going
        for n in self.facts & self.there - reached - kept:
            lost = self.cited[n] & reached
            self.cited[n] -= lost
            self.sources[n] -= lost
            if lost:
                self.acceptance[n] = lower(self.acceptance[n], self.judged(n))
        for _ in range(SIZE):
            gone |= {n for n in self.facts & self.there - kept if self.cited[n] <= gone}
        self.there -= gone
        self.blocked |= reached
        self.facts &= self.there
        self.cited = {n: self.cited[n] & self.there for n in self.facts}


def lower(one: Acceptance, other: Acceptance) -> Acceptance:
    return min(one, other, key=FIRMNESS.index)


@st.composite
def worlds(draw: Any) -> World:
    sources = {
        n: draw(st.sets(st.integers(0, n - 1), max_size=3)) if n else set()
        for n in range(SIZE)
    }
    facts = draw(st.sets(nodes)) & {n for n, own in sources.items() if own}
    trusts = {n: draw(st.sampled_from(TRUSTS)) for n in range(SIZE)}
    return World(sources, facts, trusts)


@given(worlds(), st.sets(nodes, min_size=1, max_size=3))
def test_what_stands_is_as_the_model(world: World, roots: set[int]) -> None:
    """B320, B322."""
    every = {(str(a), str(n)) for n, own in world.sources.items() for a in own}
    walked = reach([*map(str, roots)], every).distance.keys()
    edges = [(a, n) for a, n in every if a in walked]
    cited = {str(n): {*map(str, world.sources[n])} for n in world.facts}
    cited = {fact: own for fact, own in cited.items() if fact in walked}
    kept = standing({*map(str, roots)}, edges, cited)
    assert {*map(int, walked - kept)} == world.reached(roots)
    lost = set(roots)
    for _ in range(SIZE):
        lost |= {n for n in world.facts if world.sources[n] <= lost}
    assert {*map(int, bereft(map(str, roots), cited))} == lost - roots


def test_facts_that_cite_only_each_other_do_not_stand() -> None:
    """No verb makes such ones; who deletes the last words must not meet a circle."""
    edges = [("r", "a"), ("b", "a"), ("a", "b")]
    assert standing({"r"}, edges, {"a": {"r", "b"}, "b": {"a"}}) == frozenset()
    assert standing({"r"}, edges, {"a": {"r", "b", "x"}, "b": {"a"}}) == {"a", "b"}


def write(world: World, scope: Scope) -> list[uuid.UUID]:
    """Write the world by plain inserts; return the ids by number."""
    memory = make_memory(scope)
    ids = [*memory.remember([Entry(f"n {n}") for n in range(SIZE)]).accepted]
    own: dict[str, Any] = {"tenant": scope.tenant}
    rows = Record.objects.filter(**own)
    for trust in TRUSTS:
        some = [ids[n] for n, one in world.trusts.items() if one == trust]
        rows.filter(id__in=some).update(trust=trust)
    facts = [ids[n] for n in world.facts]
    rows.filter(id__in=facts).update(kind="fact")
    Fact.objects.bulk_create(
        Fact(id=i, record_id=i, scope_id=scope.id, key=str(i), **own) for i in facts
    )
    begun = {"valid_from": NOON, "recorded_from": NOON, "cause": "asserted"}
    FactVersion.objects.bulk_create(
        FactVersion(
            id=uuid7(), fact_id=ids[n], acceptance=acceptance, actor="a", **own, **begun
        )
        for n, acceptance in world.acceptance.items()
    )
    Evidence.objects.bulk_create(
        Evidence(fact_id=ids[n], record_id=ids[a], **own)
        for n, cited in world.cited.items()
        for a in cited
    )
    LineageEdge.objects.bulk_create(
        LineageEdge(
            record_id=ids[n], source_ref=record_ref(ids[a]), position=place, **own
        )
        for n, sources in world.sources.items()
        for place, a in enumerate(sources)
    )
    for n in world.held:
        memory.hold(record=ids[n])
    return ids


def remove_by(how: str, scope: Scope, ids: list[uuid.UUID]) -> None:
    if how == "forget":
        make_memory(scope).forget(ids)
        return
    if how == "erase":
        for record_id in ids:
            erase(scope, record_id=record_id)
        return
    with transaction.atomic():
        hold_lineage(using="default", tenant=scope.tenant, alone=True)
        remove(
            using="default",
            tenant=scope.tenant,
            ids=ids,
            reason=TombstoneReason.EXPIRED,
            actor=Actor(),
            at=timezone.now(),
            capped=False,
            dependents=False,
        )


removals = st.lists(
    st.tuples(
        st.sampled_from(["forget", "erase", "expire"]),
        st.sets(nodes, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.django_db
@given(worlds(), st.sets(nodes, max_size=2), removals)
@settings(
    max_examples=examples(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_removal_is_as_the_model(
    world: World, held: set[int], removed: list[tuple[str, set[int]]]
) -> None:
    """B320, B322, B326, B329: what is there, cited, blocked, relied on and seen."""
    world.held = held
    scope = make_scope(tenant=f"t-{uuid.uuid4()}")
    ids = write(world, scope)
    numbers = {record_id: n for n, record_id in enumerate(ids)}
    for how, wanted in removed:
        remove_by(how, scope, [ids[n] for n in sorted(wanted)])
        if how == "erase":
            for n in sorted(wanted):
                world.remove({n}, dependents=True)
        else:
            world.remove(wanted, dependents=how != "expire")
    own = {"tenant": scope.tenant}
    there = Record.objects.filter(**own).values_list("id", flat=True)
    assert {numbers[i] for i in there} == world.there
    cited = Evidence.objects.filter(**own).values_list("fact_id", "record_id")
    assert sorted((numbers[f], numbers[r]) for f, r in cited) == sorted(
        (fact, n) for fact, own in world.cited.items() for n in own
    )
    stones = Tombstone.objects.filter(**own).values_list("target_ref", flat=True)
    assert {numbers[uuid.UUID(ref[7:])] for ref in stones} == world.blocked
    held_now = FactVersion.objects.filter(**own, recorded_to=None)
    assert {numbers[v.fact_id]: v.acceptance for v in held_now} == {
        n: world.acceptance[n] for n in world.facts
    }
    reader = Reader(scope=scope, at=timezone.now())
    seen = visible(using="default", reader=reader).values_list("id", flat=True)
    assert {numbers[i] for i in seen} == world.there - world.blocked
