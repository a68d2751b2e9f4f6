"""Sweeps of a tenant by its policies, as runs that go on where they were cut."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.errors import NotVisible
from prism_memory.governance import retention
from prism_memory.governance.retention import page
from prism_memory.models import AuditEvent, Record, RetentionPolicy, Run, Tombstone
from prism_memory.types import Scope, SourceRef
from tests.factories import make_edge, make_memory, make_record, make_scope
from tests.governance.retention.written import (
    ACTOR,
    make_policy,
    old,
    place_hold,
    run,
)
from tests.tables import counts

pytestmark = pytest.mark.django_db

LEVELS = {
    "tenant": make_scope(owner="", agent="", thread=""),
    "owner": make_scope(agent="", thread=""),
    "agent": make_scope(thread=""),
    "thread": make_scope(),
}


def sweep_all(*tenants: str, **given: Any) -> retention.Pass:
    return retention.sweep_all(
        using="default",
        tenants=tenants or ("acme",),
        actor=ACTOR,
        **{"batch": 500} | given,
    )


def everywhere() -> set[uuid.UUID]:
    return set(Record.objects.values_list("id", flat=True))


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_narrows_to_the_scopes_of_it(level: str) -> None:
    written = {name: old(9, scope=scope) for name, scope in LEVELS.items()}
    make_policy(level=level, max_age_days=1)
    assert sweep_all().swept[0].counts["deleted"] == 1
    assert everywhere() == set(written.values()) - {written[level]}


def test_a_thread_without_an_agent_is_a_thread() -> None:
    old(9, scope=make_scope(agent=""))
    make_policy(level="thread", max_age_days=1)
    assert sweep_all().swept[0].counts["deleted"] == 1


@pytest.mark.parametrize("kind", ["entry", "turn", "note"])
def test_a_kind_narrows_to_records_of_it(kind: str) -> None:
    written = {name: old(9, kind=name) for name in ("entry", "turn", "note")}
    make_policy(kind=kind, max_age_days=1)
    sweep_all()
    assert everywhere() == set(written.values()) - {written[kind]}


def test_chunks_go_only_where_they_are_named() -> None:
    """B151."""
    chunk = old(9, kind="turn", source=SourceRef("manual"))
    Record.objects.filter(tenant="acme", id=chunk).update(kind="chunk")
    make_policy("all", max_age_days=1)
    sweep_all()
    assert everywhere() == {chunk}
    make_policy("chunks", kind="chunk", max_age_days=1)
    sweep_all()
    assert not everywhere()


@pytest.mark.parametrize("tier", ["", "episodic", "semantic", None])
def test_a_tier_narrows_and_none_does_not(tier: str | None) -> None:
    written = {name: old(9, tier=name) for name in ("", "episodic", "semantic")}
    make_policy(tier=tier, max_age_days=1)
    sweep_all()
    gone = set(written.values()) if tier is None else {written[tier]}
    assert everywhere() == set(written.values()) - gone


def test_what_has_passed_its_own_time_goes() -> None:
    at = timezone.now()
    past = old(1, expires_at=at)
    later = old(1, expires_at=at + dt.timedelta(days=1))
    never = old(1)
    make_policy(expired=True)
    sweep_all()
    assert everywhere() == {later, never}
    assert past not in everywhere()


def test_number_is_counted_in_each_scope_for_itself() -> None:
    for scope in LEVELS.values():
        for n in range(3):
            old(1, scope=scope, sequence=n)
    make_policy(max_entries=2)
    assert sweep_all().swept[0].counts["deleted"] == 4
    rows = Record.objects.values_list("sequence", flat=True)
    assert sorted(rows) == [1, 1, 1, 1, 2, 2, 2, 2]


def test_number_is_counted_among_what_the_policy_is_about() -> None:
    notes = [old(1, kind="note", sequence=n) for n in range(2)]
    entries = [old(1, sequence=n) for n in range(2, 9)]
    make_policy(kind="note", max_entries=1)
    sweep_all()
    assert everywhere() == {notes[1], *entries}


def test_any_policy_that_says_go_wins_but_for_a_hold() -> None:
    """B189."""
    aged, many, expired = old(30, sequence=50), old(1, sequence=1), old(1, sequence=60)
    stays, held = old(1, sequence=70), old(40, sequence=80)
    Record.objects.filter(id=expired).update(expires_at=timezone.now())
    place_hold(f"record:{held}")
    make_policy("age", max_age_days=7)
    make_policy("number", max_entries=3)
    make_policy("expiry", expired=True)
    done = sweep_all()
    assert everywhere() == {stays, held}
    assert not {aged, many, expired} & everywhere()
    assert sum(one.counts["kept"] for one in done.swept) == 1


def test_what_holds_keep_never_starves_a_sweep() -> None:
    """B189: pages full of held rows are passed."""
    for n in range(5):
        place_hold(f"record:{old(30 + n, sequence=n)}")
    free = old(20, sequence=9)
    done = run(make_policy(max_age_days=7), batch=2)
    assert free not in everywhere()
    assert done.counts == {"deleted": 1, "kept": 5, "scopes": 1}


def test_dependents_are_blocked_and_get_their_own_time() -> None:
    """B190."""
    root = Record.objects.get(id=old(30))
    child = make_record("child", scope=make_scope(thread="chat-2"))
    make_edge(child, root)
    run(make_policy(max_age_days=7))
    assert everywhere() == {child.id}
    stone = Tombstone.objects.get(target_ref=f"record:{child.id}")
    assert (stone.reason, stone.root_ref) == ("expired", f"record:{root.id}")


def test_a_policy_that_is_off_does_nothing() -> None:
    old(30)
    policy = make_policy(max_age_days=1)
    retention.change_policy(
        using="default",
        scope=Scope("acme"),
        actor=ACTOR,
        policy_id=policy.id,
        at=timezone.now(),
        enabled=False,
    )
    assert sweep_all() == retention.Pass()
    assert not Run.objects.exists()


def test_every_scope_is_reached_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "SCOPES", 3)
    for n in range(10):
        for _ in range(n % 4):
            old(9, scope=make_scope(thread=f"chat-{n}"))
        old(0, scope=make_scope(thread=f"chat-{n}"))
    done = run(make_policy(max_age_days=1), batch=2)
    assert (done.ended, Record.objects.count()) == ("done", 10)
    assert done.counts == {
        "deleted": sum(n % 4 for n in range(10)),
        "kept": 0,
        "scopes": 10,
    }


def test_a_run_says_how_far_it_is_and_ends() -> None:
    for _ in range(3):
        old(9)
    policy = make_policy(max_age_days=1)
    done = run(policy, batch=2)
    row = Run.objects.get()
    assert (row.id, row.kind, row.target) == (done.run_id, "retention", str(policy.id))
    assert (row.state, row.counts) == ("done", {"deleted": 3, "kept": 0, "scopes": 1})
    assert [
        one.id
        for one in retention.list_runs(using="default", scope=Scope("acme"), limit=5)
    ] == [row.id]
    assert not retention.list_runs(using="default", scope=Scope("globex"), limit=5)
    with pytest.raises(NotVisible):
        retention.get_run(using="default", scope=Scope("globex"), run_id=row.id)


def test_what_is_cut_by_its_time_goes_on_there() -> None:
    """B200: the cursor is saved with each page."""
    for n in range(5):
        old(9, sequence=n)
    policy = make_policy(max_age_days=1)
    first = run(policy, batch=2, end=0)
    assert (first.ended, Record.objects.count()) == ("unfinished", 3)
    second = run(policy, batch=2, end=0)
    assert (second.run_id, Record.objects.count()) == (first.run_id, 1)
    last = run(policy, batch=2)
    assert (last.run_id, last.ended, last.counts["deleted"]) == (
        first.run_id,
        "done",
        5,
    )


def test_what_falls_due_meanwhile_is_for_the_next() -> None:
    """case_C20: no lost pass."""
    for n in range(3):
        old(9, sequence=n)
    policy = make_policy(max_age_days=1)
    first = run(policy, batch=2, end=0)
    late = old(9, sequence=-5)
    assert run(policy, batch=2).run_id == first.run_id
    assert everywhere() == {late}
    second = run(policy)
    assert second.run_id != first.run_id
    assert not everywhere()


def test_what_is_remembered_meanwhile_neither_counts_nor_goes() -> None:
    """case_C20: a sweep ends, however fast others write."""
    for n in range(3):
        old(9, sequence=n)
    policy = make_policy(max_entries=1)
    first = run(policy, batch=1, end=0)
    assert first.counts["deleted"] == 1
    new = {old(0, sequence=sequence) for sequence in (10, 11)}
    again = run(policy, batch=1)
    assert (again.run_id, again.counts["deleted"]) == (first.run_id, 2)
    assert len(everywhere()) == 3
    assert new < everywhere()
    run(policy)
    assert len(everywhere()) == 1


def test_a_time_that_is_over_is_told_with_where_to_go_on() -> None:
    for tenant in ("acme", "globex"):
        for _ in range(2):
            old(9, scope=make_scope(tenant=tenant))
        make_policy(tenant=tenant, max_age_days=1)
    names = ("acme", "globex")
    position, deleted = None, 0
    for _ in range(9):
        done = sweep_all(*names, batch=1, max_seconds=0, after=position)
        position = done.position
        assert len(done.swept) == 1
        if position is None:
            break
    deleted = sum(run.counts["deleted"] for run in Run.objects.all())
    assert (position, deleted, Record.objects.count()) == (None, 4, 0)


def test_tenants_have_policies_of_their_own_and_nothing_else_is_touched() -> None:
    """B22: strangers are as they were, row by row."""
    mine, foreign = old(9), old(9, scope=make_scope(tenant="globex"))
    make_policy(max_age_days=1)
    make_policy(tenant="globex", max_age_days=100)
    before = list(Record.objects.filter(tenant="globex").values())
    sweep_all("acme", "globex")
    assert everywhere() == {foreign}
    assert list(Record.objects.filter(tenant="globex").values()) == before
    assert mine not in everywhere()
    assert not Tombstone.objects.filter(tenant="globex").exists()


@pytest.mark.parametrize("verb", ["disable", "change", "delete"])
def test_a_policy_that_is_changed_ends_its_sweep_and_begins_anew(verb: str) -> None:
    first, last = old(9, sequence=1), old(9, sequence=2)
    policy = make_policy(max_age_days=1)
    assert run(policy, batch=1, end=0).ended == "unfinished"
    stale = RetentionPolicy.objects.get(id=policy.id)
    changes: dict[str, dict[str, Any]] = {
        "disable": {"enabled": False},
        "change": {"changed_at": timezone.now(), "max_age_days": 5},
        "delete": {},
    }
    change = changes[verb]
    rows = RetentionPolicy.objects.filter(id=policy.id)
    _ = rows.update(**change) if change else rows.delete()
    assert run(stale, batch=1).ended == "changed"
    assert everywhere() == {last}
    row = Run.objects.get()
    assert (row.state, row.cursor.get("scope")) == ("cancelled", None)
    assert first not in everywhere()


def test_a_sweep_is_audited_page_by_page() -> None:
    """B503: with ids and counts."""
    for _ in range(3):
        old(9)
    policy = make_policy(max_age_days=1)
    done = run(policy, batch=2)
    events = AuditEvent.objects.filter(action="retention.sweep").order_by("id")
    assert [event.detail["deleted"] for event in events] == [2, 1]
    assert {event.detail["run"] for event in events} == {str(done.run_id)}
    assert {event.target for event in events} == {f"policy:{policy.id}"}


def test_a_preview_counts_what_a_sweep_then_does() -> None:
    """By policy, scope and hold; and nothing changes."""
    bob = make_scope(owner="bob")
    place_hold(f"record:{old(30)}")
    for scope, n in ((make_scope(), 1), (bob, 3)):
        for _ in range(n):
            old(20, scope=scope)
        old(0, scope=scope)
    make_policy("age", max_age_days=7)
    make_policy("number", max_entries=1)
    before = counts()
    age, number = retention.preview_policies(
        using="default", scope=Scope("acme"), at=timezone.now()
    )
    assert counts() == before
    assert (age.name, age.due, age.kept, age.counted) == ("age", 4, 1, 2)
    assert [(s.owner, s.due, s.kept) for s in age.scopes] == [
        ("bob", 3, 0),
        ("ada", 1, 1),
    ]
    assert (number.due, number.kept, age.complete) == (4, 1, True)
    done = sweep_all()
    assert done.swept[0].counts["deleted"] == 4


def test_a_preview_tells_when_its_time_was_not_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old(9)
    policy = make_policy(max_age_days=1)
    told = retention.preview_policy(
        using="default", policy=policy, at=timezone.now(), max_seconds=0
    )
    assert (told.complete, told.counted, told.due) == (False, 0, 0)


def test_strangers_never_see_what_a_preview_counts() -> None:
    old(9, scope=make_scope(tenant="globex"))
    make_policy(max_age_days=1)
    (told,) = retention.preview_policies(
        using="default", scope=Scope("acme"), at=timezone.now()
    )
    assert (told.due, told.counted) == (0, 0)


def test_what_went_is_not_remembered_anew_by_accident() -> None:
    """The same words may be said again; they are a new record."""
    make_memory().remember("tea", wait=False)
    Record.objects.update(created_at=timezone.now() - dt.timedelta(days=9))
    run(make_policy(max_age_days=1))
    (record_id,) = make_memory().remember("tea").accepted
    assert make_memory().get(record_id).text == "tea"
