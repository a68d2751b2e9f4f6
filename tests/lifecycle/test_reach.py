"""What derives from what: the graph against a naive walk, in Python and in SQL."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.reach import reach
from prism_memory.lifecycle.removal import remove
from prism_memory.lifecycle.tombstones import (
    closure,
    hold_lineage,
    mark_derived,
    walk,
)
from prism_memory.models import LineageEdge, Record, Tombstone
from prism_memory.types import Actor, TombstoneReason, record_ref, uuid7
from tests.factories import NOON, make_edge, make_memory, make_record, make_scope
from tests.tables import counts
from tests.tries import examples

Edges = set[tuple[int, int]]
"""Pairs of a source and what is derived from it: cycles and diamonds among them."""

SYSTEM = Actor()


def naive(roots: set[int], edges: Edges) -> dict[int, int]:
    """Return how far each is from its nearest root: try every edge until none helps."""
    distance = dict.fromkeys(roots, 0)
    for _ in range(len(edges) + 1):
        for source, derived in edges:
            if source in distance:
                near = distance[source] + 1
                distance[derived] = min(near, distance.get(derived, near))
    return distance


nodes = st.integers(0, 9)
graphs = st.tuples(
    st.sets(nodes, min_size=1, max_size=4),
    st.lists(st.tuples(nodes, nodes), max_size=24, unique=True),
)


@given(graphs, st.randoms())
def test_the_reach_is_that_of_a_naive_walk_in_whatever_order(
    graph: tuple[set[int], list[tuple[int, int]]], chance: Any
) -> None:
    """B157, B158, B165."""
    roots, edges = graph
    named = [(str(a), str(b)) for a, b in edges]
    chance.shuffle(named)
    found = reach([*map(str, roots)], named)
    chance.shuffle(named)
    assert found == reach([*map(str, sorted(roots, reverse=True))], named)
    expected = {str(n): away for n, away in naive(roots, set(edges)).items()}
    assert dict(found.distance) == expected
    assert found.refs[: len(roots)] == tuple(sorted(map(str, roots)))
    for ref, root in found.nearest.items():
        alone = naive({int(root)}, set(edges))
        assert alone[int(ref)] == found.distance[ref]
    furthest = max(expected.values())
    found.check(most_refs=len(expected), most_distance=furthest)
    for caps in ((len(expected) - 1, furthest), (len(expected), furthest - 1)):
        with pytest.raises(LimitExceeded) as refused:
            found.check(most_refs=caps[0], most_distance=caps[1])
        assert refused.value.field == "lineage"


def write(edges: list[tuple[int, int]], tenant: str) -> list[str]:
    """Write ten records with these edges, in this order; return their refs."""
    scope = make_scope(tenant=tenant)
    texts = [{"text": f"n {n}", "key": str(n)} for n in range(10)]
    ids = make_memory(scope).remember(texts).accepted
    rows = [
        LineageEdge(tenant=tenant, record_id=ids[b], source_ref=record_ref(ids[a]))
        for a, b in edges
    ]
    for row in rows:
        row.position = 0
    LineageEdge.objects.bulk_create(rows)
    return [record_ref(i) for i in ids]


@pytest.mark.django_db
@given(graphs)
@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_database_walks_as_the_model(
    graph: tuple[set[int], list[tuple[int, int]]],
) -> None:
    """B157, B158, B165: and each root blocks what it reaches, once, for its reason."""
    roots, edges = graph
    tenant = f"t-{uuid.uuid4()}"
    refs = write(edges, tenant)
    place: dict[str, Any] = {"using": "default", "tenant": tenant}
    expected = {refs[n]: away for n, away in naive(roots, set(edges)).items()}
    named = [refs[n] for n in roots]
    assert dict(walk(roots=named, **place).distance) == expected
    if max(expected.values()) <= 8:
        assert set(closure(roots=named, **place)) == set(expected)
    for _ in range(2):  # again changes nothing
        mark_derived(
            roots=named,
            reason=TombstoneReason.REVOKED,
            actor=SYSTEM,
            at=NOON,
            **place,
        )
    stones = Tombstone.objects.filter(tenant=tenant)
    assert sorted(stones.values_list("root_ref", "target_ref")) == sorted(
        (refs[root], refs[n]) for root in roots for n in naive({root}, set(edges))
    )
    assert {stone.scope_id for stone in stones} == {make_scope(tenant=tenant).id}


@pytest.mark.django_db
@given(graphs, st.sets(nodes, max_size=3))
@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_forgetting_is_as_the_model_whatever_is_held(
    graph: tuple[set[int], list[tuple[int, int]]], held: set[int]
) -> None:
    """B147, B157, B162, B165: gone is what is reached, but for what a hold keeps."""
    roots, edges = graph
    tenant = f"t-{uuid.uuid4()}"
    memory = make_memory(make_scope(tenant=tenant))
    refs = write(edges, tenant)
    ids = [uuid.UUID(ref.removeprefix("record:")) for ref in refs]
    for n in held:
        memory.hold(record=ids[n])
    going = roots - held
    reached = set(naive(going, set(edges))) if going else set()
    done = memory.forget([ids[n] for n in roots])
    there = {*Record.objects.filter(tenant=tenant).values_list("id", flat=True)}
    assert there == {ids[n] for n in {*range(10)} - (reached - held)}
    assert done.deleted == len(reached - held)
    assert set(done.kept) == {ids[n] for n in (reached | roots) & held}
    blocked = {refs[n] for n in reached}
    found = Tombstone.objects.filter(tenant=tenant).values_list("target_ref", flat=True)
    assert set(found) == blocked
    assert {item.id for item in memory.list(limit=200)} == {
        ids[n] for n in {*range(10)} - reached
    }


def chain(length: int) -> list[Record]:
    """Each derives from the one before; written in another order than that."""
    records = [make_record(f"n {n}") for n in range(length)]
    pairs = list(zip(records[1:], records[:-1], strict=True))
    for derived, source in pairs[::2] + pairs[1::2][::-1]:
        make_edge(derived, source)
    return records


@pytest.mark.django_db
class TestCaps:
    def test_eight_derivations_pass_and_nine_do_not(self) -> None:
        """B158."""
        records = chain(10)
        before = counts()
        with pytest.raises(LimitExceeded) as refused:
            make_memory().forget(records[0].id)
        assert refused.value.field == "lineage"
        with pytest.raises(LimitExceeded):
            make_memory().forget(records[0].id, hold=True)
        assert counts() == before
        assert make_memory().forget(records[1].id).deleted == 9

    def test_it_is_the_nearest_root_that_counts(self) -> None:
        """B158: the ninth is near to another root."""
        records = chain(10)
        done = make_memory().forget([records[0].id, records[5].id])
        assert done.deleted == 10

    def test_a_short_way_beside_a_long_one_counts(self) -> None:
        """B158: a diamond."""
        records = chain(10)
        make_edge(records[9], records[0], position=1)
        assert make_memory().forget(records[0].id).deleted == 10

    @pytest.mark.parametrize("hold", [False, True])
    def test_256_refs_pass_and_257_do_not(self, hold: bool) -> None:
        """B160."""
        root = make_record("root", fields={"key": "root"})
        entries = [
            {"text": f"n {n}", "lineage": {"source_ids": ["root"]}} for n in range(256)
        ]
        ids = make_memory().remember(entries).accepted
        before = counts()
        with pytest.raises(LimitExceeded):
            make_memory().forget(root.id, hold=hold)
        assert counts() == before
        make_memory().forget(ids[0])
        done = make_memory().forget(root.id, hold=hold)
        assert done.blocked == 256
        assert done.deleted == (0 if hold else 256)

    def test_256_ids_pass_and_257_do_not(self) -> None:
        """B160: also of those that are nowhere."""
        ids = [uuid7() for _ in range(257)]
        with pytest.raises(LimitExceeded) as refused:
            make_memory().forget(ids)
        assert refused.value.field == "ids"
        assert len(make_memory().forget(ids[:256] + ids[:256]).missing) == 256

    def test_what_pages_knows_no_cap(self) -> None:
        """B149."""
        records = chain(12)
        place: dict[str, Any] = {"using": "default", "tenant": "acme"}
        hold_lineage(alone=True, **place)
        done = remove(
            ids=[records[0].id, records[4].id],
            reason=TombstoneReason.EXPIRED,
            actor=SYSTEM,
            at=NOON,
            capped=False,
            **place,
        )
        assert len(done.records) == 12
        stones = Tombstone.objects.filter(tenant="acme")
        roots = {stone.target_ref: stone.root_ref for stone in stones}
        assert len(roots) == stones.count() == 12  # one each, of the nearest root
        assert roots[record_ref(records[3].id)] == record_ref(records[0].id)
        assert roots[record_ref(records[11].id)] == record_ref(records[4].id)
