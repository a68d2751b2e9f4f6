"""``apply_retention``: one scope, one batch."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.governance import retention
from prism_memory.models import AuditEvent, Record, Run, Source, Tombstone
from prism_memory.signals import invalidated
from prism_memory.types import Actor, Retained, Rules, SourceRef
from tests.factories import (
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
)
from tests.governance.retention.written import ids, old, place_hold
from tests.tables import counts

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("bad", [-1, 1.5, "7", True, 2**70])
@pytest.mark.parametrize("name", ["max_age_days", "max_entries"])
def test_a_limit_is_an_integer_from_0(name: str, bad: object) -> None:
    """B185."""
    with pytest.raises(Invalid) as raised:
        make_memory().apply_retention(**{name: bad})  # type: ignore[arg-type]
    assert raised.value.field == name


def test_one_of_the_limits_is_needed() -> None:
    """B185."""
    with pytest.raises(Invalid):
        make_memory().apply_retention()


def test_an_age_is_a_thousand_years_at_most() -> None:
    """B185: so that it is a date."""
    with pytest.raises(Invalid):
        make_memory().apply_retention(max_age_days=365_001)
    old(1)
    assert make_memory().apply_retention(max_age_days=365_000).deleted == 0


@pytest.mark.parametrize("bad", [0, -1, 5_001, 1.5, "9", True])
def test_a_batch_is_of_1_to_5000(bad: object) -> None:
    """B188."""
    with pytest.raises(LimitExceeded) as raised:
        make_memory().apply_retention(max_entries=1, batch_size=bad)  # type: ignore[arg-type]
    assert raised.value.field == "batch_size"


def test_a_batch_is_of_500_unless_said_otherwise() -> None:
    """B188."""
    assert make_memory().limits.retention_batch == 500
    for _ in range(3):
        old(9)
    memory = make_memory(limits={"retention_batch": 2})
    assert memory.apply_retention(max_age_days=1).deleted == 2


def test_the_oldest_beyond_the_limit_go() -> None:
    """B186: strictly older, the oldest first, one batch at most."""
    oldest, older, young = old(30), old(20), old(1)
    memory = make_memory()
    done = memory.apply_retention(max_age_days=7, batch_size=1)
    assert done == Retained(deleted=1, scanned=1, kept=0)
    assert ids() == {older, young}
    assert memory.apply_retention(max_age_days=7).deleted == 1
    assert ids() == {young}
    assert memory.apply_retention(max_age_days=7) == Retained()
    assert oldest not in ids()


def test_what_is_exactly_as_old_stays() -> None:
    """B186: strictly older."""
    at = timezone.now()
    week = dt.timedelta(days=7)
    record = make_record("a", created_at=at - week)
    given: dict[str, Any] = {
        "using": "default",
        "scope": make_scope(),
        "actor": Actor("user:olga"),
        "rules": Rules(max_age_days=7),
        "batch_size": 10,
    }
    assert retention.apply_retention(**given, at=at) == Retained()
    assert ids() == {record.id}
    later = at + dt.timedelta(microseconds=1)
    assert retention.apply_retention(**given, at=later).deleted == 1


def test_age_is_of_remembering_not_of_the_sequence() -> None:
    """B186."""
    late, early = old(20, sequence=1), old(30, sequence=2)
    make_memory().apply_retention(max_age_days=7, batch_size=1)
    assert ids() == {late}
    assert early not in ids()


def test_no_days_is_all_that_was_there_before() -> None:
    """B185: 0 is a limit."""
    old(0)
    assert make_memory().apply_retention(max_age_days=0).deleted == 1


def test_the_lowest_sequences_beyond_the_limit_go() -> None:
    """B187."""
    third, first, second, fourth = (old(1, sequence=n) for n in (30, 10, 20, 40))
    memory = make_memory()
    assert memory.apply_retention(max_entries=2, batch_size=1).deleted == 1
    assert ids() == {second, third, fourth}
    assert first not in ids()
    assert memory.apply_retention(max_entries=2).deleted == 1
    assert ids() == {third, fourth}
    assert memory.apply_retention(max_entries=0).deleted == 2


def test_number_takes_what_age_leaves_of_the_batch() -> None:
    """B186, B187: what age took is no longer too much."""
    aged = old(30, sequence=50)
    low, middle, high = (old(1, sequence=n) for n in (1, 2, 3))
    done = make_memory().apply_retention(max_age_days=7, max_entries=2, batch_size=2)
    assert done == Retained(deleted=2, scanned=2)
    assert ids() == {middle, high}
    assert not {aged, low} & ids()


def test_a_batch_that_age_fills_leaves_number_none() -> None:
    for _ in range(2):
        old(30)
    newer = {old(1), old(1)}
    done = make_memory().apply_retention(max_age_days=7, max_entries=0, batch_size=2)
    assert done.deleted == 2
    assert ids() == newer


@pytest.mark.parametrize("limit", [{"max_age_days": 7}, {"max_entries": 1}], ids=str)
def test_what_a_hold_keeps_never_starves_a_sweep(limit: dict[str, Any]) -> None:
    """B154, B189: a batch full of held rows still makes progress."""
    held = [old(30 + n, sequence=-n) for n in range(3)]
    for record_id in held:
        place_hold(f"record:{record_id}")
    free, young = old(20), old(1)
    done = make_memory().apply_retention(**limit, batch_size=1)
    assert done == Retained(deleted=1, scanned=4, kept=3)
    assert ids() == {*held, young}
    assert free not in ids()


def test_a_hold_on_the_scope_or_above_keeps_all_of_it() -> None:
    """B189."""
    kept = {old(30), old(30)}
    scope = make_scope()
    hold = place_hold(f"scope:{scope.id}", "scope", owner="ada")
    assert make_memory(scope).apply_retention(max_age_days=1) == Retained(0, 2, 2)
    assert ids() == kept
    hold.released_at = hold.placed_at
    hold.save()
    assert make_memory(scope).apply_retention(max_age_days=1).deleted == 2


def test_a_hold_of_a_forgetting_keeps_too() -> None:
    """B154."""
    record_id = old(30)
    record = Record.objects.get(tenant="acme", id=record_id)
    make_tombstone(record, reason="legal_hold", hold=True)
    assert make_memory().apply_retention(max_entries=0) == Retained(0, 1, 1)
    assert ids() == {record_id}


def test_a_revoked_record_goes_and_its_revocation_stays() -> None:
    """B153."""
    record_id = old(30)
    memory = make_memory()
    memory.set_consent(record_id, visible=False)
    assert memory.apply_retention(max_age_days=1).deleted == 1
    stones = Tombstone.objects.filter(tenant="acme", target_ref=f"record:{record_id}")
    assert {s.reason for s in stones} == {"revoked", "expired"}


def test_dependents_are_blocked_and_stay() -> None:
    """B190: in any scope, and what derives from them."""
    root = Record.objects.get(tenant="acme", id=old(30))
    child = make_record("child", scope=make_scope(thread="chat-2"))
    grandchild = make_record("grandchild")
    make_edge(child, root)
    make_edge(grandchild, child)
    assert make_memory().apply_retention(max_age_days=7).deleted == 1
    stones = Tombstone.objects.filter(tenant="acme", root_ref=f"record:{root.id}")
    assert {(s.target_ref, s.reason, s.actor) for s in stones} == {
        (f"record:{row.id}", "expired", "system") for row in (root, child, grandchild)
    }
    assert ids(make_scope(thread="chat-2")) == {child.id}
    assert not make_memory(make_scope(thread="chat-2")).list().items


def test_tombstones_stand_before_bodies_go() -> None:
    """B190, B155."""
    record_id = old(30)
    seen = []

    def look(*, ids: tuple[str, ...], reason: str, **kwargs: object) -> None:
        stones = Tombstone.objects.filter(tenant="acme", target_ref__in=ids)
        bodies = Record.objects.filter(tenant="acme", id=record_id)
        seen.append((str(reason), stones.count(), bodies.count()))

    invalidated.connect(look)
    try:
        make_memory().apply_retention(max_age_days=7)
    finally:
        invalidated.disconnect(look)
    assert seen == [("expired", 1, 1)]


def test_a_receiver_that_raises_keeps_everything() -> None:
    """B190: one transaction."""
    old(30)
    before = counts()

    def refuse(**kwargs: object) -> None:
        message = "not now"
        raise RuntimeError(message)

    invalidated.connect(refuse)
    try:
        with pytest.raises(RuntimeError):
            make_memory().apply_retention(max_age_days=7)
    finally:
        invalidated.disconnect(refuse)
    assert counts() == before


def test_entries_turns_and_notes_go_and_never_chunks_or_facts() -> None:
    """B151: of a corpus whose thread has the same name."""
    said = {old(30, kind=kind) for kind in ("entry", "turn", "note")}
    source = Source.objects.create(
        tenant="acme",
        scope_id=make_scope().id,
        key="manual",
        trust="document",
        writer="w",
    )
    others = {old(30), old(30)}
    chunk, fact = sorted(others)
    rows = Record.objects.filter(tenant="acme")
    rows.filter(id=chunk).update(kind="chunk", source_id=source.id)
    rows.filter(id=fact).update(kind="fact")
    assert make_memory().apply_retention(max_age_days=7, max_entries=0).deleted == 3
    assert ids() == others
    assert not said & ids()


def test_a_source_with_turns_is_no_exception() -> None:
    old(30, kind="turn", source=SourceRef("chat"))
    assert make_memory().apply_retention(max_age_days=7).deleted == 1


def test_exactly_the_scope_and_nothing_beside_above_or_below() -> None:
    """B6: another owner, thread, agent, level, or tenant."""
    others = [
        make_scope(owner="bob"),
        make_scope(thread="chat-2"),
        make_scope(agent="sales"),
        make_scope(thread=""),
        make_scope(owner="", agent="", thread=""),
        make_scope(tenant="globex"),
    ]
    stranger = {scope: old(30, scope=scope) for scope in others}
    old(30)
    assert make_memory().apply_retention(max_age_days=1, max_entries=0).deleted == 1
    assert all(ids(scope) == {kept} for scope, kept in stranger.items())


@pytest.mark.parametrize("size", [1, 2, 500])
def test_a_dry_run_tells_the_same_and_changes_nothing(size: int) -> None:
    place_hold(f"record:{old(40)}")
    for n in range(3):
        old(30, sequence=n)
        old(1)
    before = counts()
    limits: dict[str, Any] = {"max_age_days": 7, "max_entries": 2, "batch_size": size}
    told = make_memory().apply_retention(**limits, dry_run=True)
    assert counts() == before
    assert make_memory().apply_retention(**limits) == told


def test_it_is_audited_with_counts_alone() -> None:
    """B503."""
    place_hold(f"record:{old(30)}")
    old(30)
    memory = make_memory()
    memory.apply_retention(max_age_days=7)
    memory.apply_retention(max_age_days=7)
    event = AuditEvent.objects.get(tenant="acme", action="retention.apply")
    assert event.target == f"scope:{make_scope().id}"
    assert event.detail == {"deleted": 1, "kept": 0, "blocked": 1}


def test_it_has_an_async_twin_and_makes_no_run() -> None:
    old(30)
    done = async_to_sync(make_memory().aapply_retention)(max_age_days=7)
    assert done.deleted == 1
    assert not Run.objects.exists()


def test_a_batch_over_a_thousand_is_several_transactions() -> None:
    """B188."""
    kept = old(0)
    row = Record.objects.get(tenant="acme", id=old(30))
    row.metadata = {}
    copies = []
    for n in range(1_100):
        fields = {
            f.attname: getattr(row, f.attname)
            for f in Record._meta.concrete_fields
            if not f.generated and f.attname != "sequence"
        }
        fields |= {"id": uuid.uuid4(), "key": f"copy-{n}", "sequence": n}
        copies.append(Record(**fields))
    Record.objects.bulk_create(copies)
    done = make_memory().apply_retention(max_age_days=7, batch_size=1_050)
    assert done.deleted == 1_050
    assert AuditEvent.objects.filter(action="retention.apply").count() == 2
    assert make_memory().apply_retention(max_age_days=7, batch_size=1_050).deleted == 51
    assert ids() == {kept}


@pytest.mark.parametrize("most", [1, 0])
def test_what_a_clock_that_is_ahead_wrote_counts_and_goes_too(most: int) -> None:
    ahead = timezone.now() + dt.timedelta(minutes=4)
    for key in ("a", "b", "c"):
        make_record(key, fields={"key": key}, created_at=ahead)
    assert (
        make_memory().apply_retention(max_entries=most, dry_run=True).deleted
        == 3 - most
    )
    assert make_memory().apply_retention(max_entries=most).deleted == 3 - most
    assert [item.key for item in make_memory().list()] == ["c"][:most]
