"""Show and hide one record, and with it all that is derived from it."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.db import connection
from django.db.transaction import atomic

from prism_memory.errors import Invalid, NotVisible, Unsupported
from prism_memory.models import AuditEvent, Embedding, Record, Tombstone
from prism_memory.types import Actor, Entry, Kind, Lineage, Scope, SourceRef
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember_one,
)
from tests.tables import counts, physical

pytestmark = pytest.mark.django_db


def seen() -> set[str]:
    """Return the keys that the reader sees, by every way alike."""
    memory = make_memory()
    listed = {item.key for item in memory.list()}
    assert {hit.key for hit in memory.recall("words", 32)} == listed
    for record in Record.objects.filter(tenant="acme", scope_id=memory.scope.id):
        if record.key in listed:
            assert memory.get(record.id).key == record.key
        else:
            with pytest.raises(NotVisible):
                memory.get(record.id)
    return listed


def chain(*keys: str) -> list[uuid.UUID]:
    """Remember records, each derived from the one before."""
    entries = [
        Entry(f"words {key}", key=key, lineage=Lineage(keys[max(0, i - 1) : i]))
        for i, key in enumerate(keys)
    ]
    return [*make_memory().remember(entries).accepted]


def row(record_id: uuid.UUID) -> Record:
    return Record.objects.get(tenant="acme", id=record_id)


class TestRevoking:
    """B134, B135, B141."""

    def test_it_hides_the_record_and_all_derived_from_it_at_once(self):
        first, second, _ = chain("a", "b", "c")
        remember_one("words d", key="d", lineage=Lineage(("x", "b")))
        remember_one("words e", key="e")
        make_memory().set_consent(second, visible=False)
        assert seen() == {"a", "e"}
        make_memory().set_consent(first, visible=False)
        assert seen() == {"e"}

    def test_it_stamps_the_time_and_the_version_and_keeps_the_rest(self):
        """B138."""
        before = make_record()
        make_memory().set_consent(before.id, visible=False)
        after = row(before.id)
        assert after.visible is False
        assert after.revoked_at is not None
        assert after.granted_at == before.granted_at
        assert after.version == before.version + 1
        kept = ["text", "metadata", "sequence", "consent_source", "consent_scope"]
        assert [getattr(after, k) for k in kept] == [getattr(before, k) for k in kept]

    def test_nothing_is_embedded_again(self):
        """B138."""
        record = make_record(wait=True)
        make_record(
            "derived words", wait=True, fields={"lineage": Lineage((record.key,))}
        )
        before = physical("prism_memory_embedding", "acme")
        make_memory().set_consent(record.id, visible=False)
        make_memory().set_consent(record.id, visible=True)
        assert physical("prism_memory_embedding", "acme") == before
        assert not Embedding.objects.filter(tenant="acme", vector=None).exists()

    def test_what_lies_below_in_other_scopes_hides_too(self):
        """A thread's record, derived from the owner's."""
        owner = make_scope(agent="", thread="")
        source = remember_one("words", scope=owner, key="profile")
        remember_one("words derived", key="d", lineage=Lineage(("profile",)))
        make_memory(owner).set_consent(source, visible=False)
        assert seen() == set()

    def test_revoking_twice_is_revoking_once(self):
        (record_id,) = chain("a")
        for _ in range(2):
            make_memory().set_consent(record_id, visible=False)
        assert Tombstone.objects.filter(tenant="acme").count() == 1

    def test_a_cycle_ends(self):
        """B165."""
        memory = make_memory()
        first, _, _ = chain("a", "b", "c")
        memory.remember(Entry("words a", key="a", lineage=Lineage(("c",))))
        memory.set_consent(first, visible=False)
        assert seen() == set()
        memory.set_consent(first, visible=True)
        assert seen() == {"a", "b", "c"}


class TestDepthAndWidth:
    """B141: who derives, however deep or wide, cannot keep the owner from revoking.

    The caps of B157 to B160 are those of a person's deletions, which may refuse.
    """

    def test_a_chain_of_any_depth_is_followed(self):
        ids = chain(*"abcdefghijklmnop")
        make_memory().set_consent(ids[0], visible=False)
        assert seen() == set()
        make_memory().set_consent(ids[0], visible=True)
        assert seen() == set("abcdefghijklmnop")

    def test_any_number_of_derived_records_is_marked(self):
        source = remember_one("words", key="source")
        lineage = Lineage(("source",))
        make_memory().remember([Entry(f"{i}", lineage=lineage) for i in range(600)])
        make_memory().set_consent(source, visible=False)
        assert Tombstone.objects.filter(tenant="acme").count() == 601
        assert seen() == set()

    def test_a_lower_scope_cannot_veto(self):
        tenant = Scope("acme")
        plan = make_memory(tenant).remember(Entry("the plan", key="plan")).accepted[0]
        mallory = make_memory(Scope("acme", "mallory", "bot", "th"))
        lineage = Lineage(("plan",))
        mallory.remember([Entry(f"{i}", lineage=lineage) for i in range(300)])
        make_memory(tenant).set_consent(plan, visible=False)
        assert not mallory.list()


def isolate(level: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")


class TestIsolation:
    """What an older snapshot would miss is refused instead."""

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
    def test_an_older_snapshot_neither_revokes_nor_derives(self, level: str):
        source = remember_one("words", key="source")
        derived = Entry("from it", lineage=Lineage(("source",)))
        for change in (
            lambda: make_memory().set_consent(source, visible=False),
            lambda: make_memory().remember(derived),
        ):
            with atomic():
                isolate(level)
                with pytest.raises(Unsupported, match="READ COMMITTED"):
                    change()
        assert seen() == {"source"}

    @pytest.mark.django_db(transaction=True)
    def test_what_derives_nothing_may_be_remembered_there(self):
        with atomic():
            isolate("REPEATABLE READ")
            remember_one("words", key="plain")
        assert seen() == {"plain"}


class TestGrantingAnew:
    """B142, B143: it lifts what this root blocked, and nothing else."""

    def test_the_record_and_all_derived_come_back(self):
        """case_C36."""
        first, *_ = chain("a", "b", "c")
        memory = make_memory()
        memory.set_consent(first, visible=False)
        revoked = row(first)
        memory.set_consent(first, visible=True)
        assert seen() == {"a", "b", "c"}
        granted = row(first)
        assert (granted.visible, granted.revoked_at) == (True, None)
        assert revoked.revoked_at is not None
        assert granted.granted_at is not None
        assert granted.granted_at > revoked.revoked_at
        assert granted.version == 3

    def test_granting_what_is_granted_keeps_its_time(self):
        before = make_record()
        make_memory().set_consent(before.id, visible=True)
        assert row(before.id).granted_at == before.granted_at

    def test_another_roots_block_stays(self):
        first, second, _ = chain("a", "b", "c")
        memory = make_memory()
        memory.set_consent(first, visible=False)
        memory.set_consent(second, visible=False)
        memory.set_consent(first, visible=True)
        assert seen() == {"a"}
        memory.set_consent(second, visible=True)
        assert seen() == {"a", "b", "c"}

    @pytest.mark.parametrize("reason", ["corrected", "forgotten", "expired"])
    def test_another_reason_of_the_same_root_stays(self, reason):
        first, second = chain("a", "b")
        root = f"record:{first}"
        make_tombstone(
            row(second), root_ref=root, reason=reason, target_ref=f"record:{first}"
        )
        memory = make_memory()
        memory.set_consent(first, visible=False)
        memory.set_consent(first, visible=True)
        assert seen() == ({"a"} if reason == "corrected" else set())

    def test_a_hold_stays(self):
        """B154."""
        record = make_record()
        make_tombstone(record, reason="revoked", hold=True)
        make_memory().set_consent(record.id, visible=True)
        assert seen() == set()

    def test_tombstones_are_lifted_and_not_deleted(self):
        (record_id,) = chain("a")
        memory = make_memory()
        for visible in (False, True, False):
            memory.set_consent(record_id, visible=visible)
        stones = Tombstone.objects.filter(tenant="acme").order_by("at")
        assert [stone.cleared_at is None for stone in stones] == [False, True]

    def test_it_opens_what_strict_mode_left_out(self):
        """B136, B137. For facts see ``tests.facts.test_isolation``."""
        record_id = remember_one("words", kind=Kind.CHUNK, source=SourceRef("doc"))
        strict = make_memory(require_consent=True)
        assert (len(strict.list()), len(make_memory().list())) == (0, 1)
        strict.set_consent(record_id, visible=True)
        assert len(strict.list()) == len(strict.recall("words")) == 1


class TestOtherFields:
    """B138, B139."""

    def test_unset_ones_are_kept(self):
        record = make_record()
        make_memory().set_consent(record.id, label="profile")  # type: ignore[arg-type]
        after = row(record.id)
        assert (after.consent_source, after.consent_scope) == ("user", "profile")
        assert (after.visible, after.revoked_at) == (True, None)
        make_memory().set_consent(record.id, source="system")  # type: ignore[arg-type]
        after = row(record.id)
        assert (after.consent_source, after.consent_scope) == ("system", "profile")

    @pytest.mark.parametrize(
        ("given", "field"),
        [
            ({"source": "god"}, "source"),
            ({"label": "world"}, "scope"),
            ({"visible": "no"}, "visible"),
            ({"visible": 0}, "visible"),
            ({"reason": "a\0b"}, "reason"),
            ({"reason": 5}, "reason"),
        ],
    )
    def test_unknown_values_are_refused_and_change_nothing(self, given, field):
        record = make_record()
        with pytest.raises(Invalid) as refused:
            make_memory().set_consent(record.id, **given)
        assert refused.value.field == field
        assert row(record.id).version == 1
        assert not AuditEvent.objects.exists()

    def test_an_id_that_is_none_is_refused(self):
        with pytest.raises(Invalid):
            make_memory().set_consent("nonsense", visible=False)


class TestOutOfSight:
    """B25, B140: foreign and unknown look the same, and leave no trace."""

    @pytest.mark.parametrize(
        "beside",
        [
            {"tenant": "globex"},
            {"owner": "bob"},
            {"agent": "sales"},
            {"thread": "chat-2"},
            {"agent": "", "thread": ""},
            {"thread": ""},
        ],
    )
    def test_another_scopes_record_is_not_visible(self, beside):
        record_id = remember_one("words", scope=make_scope(**beside))
        before = counts()
        with pytest.raises(NotVisible) as refused:
            make_memory().set_consent(record_id, visible=False)
        with pytest.raises(NotVisible) as unknown:
            make_memory().set_consent(uuid.uuid4(), visible=False)
        assert str(refused.value) == str(unknown.value)
        assert counts() == before


class TestAudit:
    def test_it_says_who_what_when_and_why_without_text(self):
        (record_id, _) = chain("a", "b")
        memory = make_memory(actor=Actor("user:7"))
        before = dt.datetime.now(dt.UTC)
        memory.set_consent(record_id, visible=False, reason="asked by phone")
        event = AuditEvent.objects.get(tenant="acme")
        assert (event.actor, event.action) == ("user:7", "memory.set_consent")
        assert (event.target, event.reason) == (f"record:{record_id}", "asked by phone")
        assert event.detail == {"visible": False, "refs": 2}
        assert event.at >= before
        assert "words" not in repr(AuditEvent.objects.values().get())

    def test_each_decision_is_an_event(self):
        (record_id,) = chain("a")
        for visible in (False, True, False):
            make_memory().set_consent(record_id, visible=visible)
        events = AuditEvent.objects.filter(tenant="acme").order_by("at", "id")
        assert [event.detail["visible"] for event in events] == [False, True, False]


def test_the_same_content_of_another_owner_is_not_touched():
    """case_C14."""
    bob = make_scope(owner="bob")
    mine, theirs = remember_one("words"), remember_one("words", scope=bob)
    make_memory().set_consent(mine, visible=False)
    assert seen() == set()
    assert make_memory(bob).get(theirs).text == "words"


def test_expiry_is_not_lifted_by_consent():
    record = make_record(expires_at=NOON)
    make_memory().set_consent(record.id, visible=True)
    assert seen() == set()
