"""Erase a record, a source, a thread, an agent, an owner, a tenant."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from django.db import connection, transaction
from django.utils import timezone
from psycopg import sql

from prism_memory import Memory, Origin, Trust, lifecycle
from prism_memory.errors import Invalid, Unsupported
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    Embedding,
    ErasureReceipt,
    LegalHold,
    Record,
    Run,
    Source,
    Tombstone,
)
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Entry, Kind, Lineage, Scope, SourceRef
from tests.factories import make_edge, make_memory, make_record, remember, remember_one
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase, furnish, texts
from tests.tables import counts, holding, table_names

pytestmark = pytest.mark.django_db

WORD = "xylophonequark"
SCOPES = {
    "thread": CHAT,
    "agent": Scope("acme", "ada", "support"),
    "owner": ADA,
    "tenant": Scope("acme"),
}


def checksum(tenant: str, owner: str | None = None) -> dict[str, str]:
    """Return a digest of all rows of a tenant, or of an owner's records."""
    found = {}
    for name in sorted(table_names()):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM information_schema.columns WHERE table_name = %s"
                " AND column_name = 'tenant'",
                [name],
            )
            if cursor.fetchone() is None:
                continue
            query = "SELECT row_to_json(t)::text FROM {} AS t WHERE tenant = %s"
            cursor.execute(
                sql.SQL(query).format(sql.Identifier(name)).as_string(None), [tenant]
            )
            rows = sorted(row for (row,) in cursor.fetchall())
        if owner is not None:
            rows = [row for row in rows if owner in row]
        found[name] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return found


@pytest.mark.parametrize("level", SCOPES)
def test_no_row_of_any_table_holds_the_words_after_an_erasure(level):
    """B325, B504."""
    for scope in SCOPES.values():
        furnish(scope, WORD)
    inside = [s for s in SCOPES.values() if SCOPES[level].opens(s)]
    outside = [s for s in SCOPES.values() if s not in inside]
    assert set(holding(WORD)) >= {
        "prism_memory_record",
        "prism_memory_source",
        "prism_memory_accesskey",
        "prism_memory_lineageedge",
    }
    done = erase(SCOPES[level])
    assert done.found
    assert done.level == level
    assert not any(done.kept.values())
    left = Record.objects.filter(text__contains=WORD)
    assert {row.scope.value for row in left} == set(outside)
    assert not ScopeRow.objects.filter(id__in=[scope.id for scope in inside])
    for scope in outside:
        erase(scope)
    assert holding(WORD) == []


def test_neither_names_nor_words_are_left_of_an_owner():
    """B325: in runs, audit, tombstones, receipts, keys and traces neither."""
    ada = Scope("acme", "zaphodbeeblebrox", "agentquark", "threadquark")
    furnish(ada, WORD)
    hold = lifecycle.hold(using="default", scope=ada, actor=OPERATOR, at=timezone.now())
    lifecycle.release(
        using="default",
        scope=ada,
        actor=OPERATOR,
        hold_id=hold.id,
        at=timezone.now(),
    )
    assert set(holding("zaphodbeeblebrox")) >= {
        "prism_memory_scope",
        "prism_memory_recalltrace",
        "prism_memory_accesskey",
        "prism_memory_legalhold",
    }
    erase(Scope("acme", "zaphodbeeblebrox"), reason="asked for")
    for word in ("zaphodbeeblebrox", "agentquark", "threadquark", WORD):
        assert holding(word) == []


def test_a_receipt_counts_what_was_removed_from_each_table():
    """C10, B321: small; the large one is in test_erase_pages."""
    furnish(CHAT, WORD)
    furnish(Scope("acme", "bob"), "other")
    before = counts()
    done = erase(ADA)
    after = counts()
    grown = {"tombstone", "auditevent", "run", "erasurereceipt"}
    removed = {name: before[name] - after[name] for name in before}
    expected = {
        name: count
        for name, count in removed.items()
        if count and name.removeprefix("prism_memory_") not in grown
    }
    assert done.counts == expected
    assert done.kinds == {"entry": 2, "turn": 1}
    row = ErasureReceipt.objects.get(id=done.id)
    assert (row.counts, row.kept, row.found) == (done.counts, done.kept, True)
    assert done.vectors == 3 == before["prism_memory_embedding"] - 3


def test_a_report_tells_what_a_source_held():
    """B320, B321."""
    memory = make_memory(CHAT)
    doc = [
        Entry(f"part {i}", kind=Kind.CHUNK, source=SourceRef("doc", i))
        for i in range(3)
    ]
    said = Entry("a turn of it", kind=Kind.TURN, source=SourceRef("doc", 3))
    memory.remember([*doc, said, "no part"], wait=True)
    done = erase(CHAT, source_key="doc")
    assert done.source_found
    assert (done.chunks, done.records, done.vectors) == (3, 4, 4)
    assert (done.evidence_links, done.facts_erased, done.facts_kept) == (0, 0, 0)
    assert texts() == {"no part"}
    assert not Source.objects.exists()
    assert Embedding.objects.count() == 1


@pytest.mark.parametrize(
    "given",
    [
        {"source_key": "nothing"},
        {"record_id": Record(text="").id},
        {"scope": Scope("acme", "nobody")},
    ],
)
def test_an_unknown_key_is_told_and_changes_nothing(given):
    """B323."""
    furnish(CHAT, WORD)
    before = counts()
    done = erase(given.pop("scope", CHAT), **given)
    assert not done.found
    assert not done.source_found
    assert done.counts == {}
    changed = {name for name, count in counts().items() if count != before[name]}
    assert changed == {"prism_memory_erasurereceipt", "prism_memory_auditevent"}
    assert holding("nothing") == []


def test_another_scopes_source_of_the_same_key_stays():
    """B324."""
    for scope in (CHAT, ADA, Scope("acme", "bob"), Scope("globex", "ada")):
        make_memory(scope).remember(Entry(str(scope), source=SourceRef("doc")))
    done = erase(ADA, source_key="doc")
    assert done.counts["prism_memory_source"] == 1
    assert texts() == {str(s) for s in (CHAT, Scope("acme", "bob"))} | {
        str(Scope("globex", "ada"))
    }


def test_another_owner_and_another_tenant_are_unchanged():
    """case_C11."""
    bob, globex = (
        Scope("acme", "bob", "support", "chat-1"),
        replace(CHAT, tenant="globex"),
    )
    furnish(CHAT, WORD)
    furnish(bob, "bobswords")
    furnish(globex, WORD)
    mine, theirs = checksum("acme", "bob"), checksum("globex")
    records = {name: v for name, v in mine.items() if "scope" in name}
    erase(ADA)
    assert checksum("globex") == theirs
    assert {
        name: v for name, v in checksum("acme", "bob").items() if "scope" in name
    } == records
    assert texts(bob) == {"bobswords one", "bobswords two", "bobswords three"}


def test_the_same_words_of_two_owners_are_two():
    """case_C14."""
    bob = Scope("acme", "bob")
    for scope in (ADA, bob):
        remember_one("the same", scope=scope, key="k", wait=True)
    assert erase(ADA).records == 1
    assert [hit.text for hit in make_memory(bob).recall("the same")] == ["the same"]
    assert erase(bob).records == 1


def test_what_is_derived_goes_too_wherever_it_is():
    """And what is derived from that."""
    root = remember_one("root", scope=CHAT)
    memory = make_memory(replace(CHAT, thread="chat-2"))
    owner = remember_one("at the owner's", scope=ADA)
    far = (
        make_memory(CHAT)
        .remember(
            Entry("first", lineage=Lineage((f"record:{root}", f"record:{owner}")))
        )
        .accepted[0]
    )
    make_memory(CHAT).remember(Entry("second", lineage=Lineage((f"record:{far}",))))
    memory.remember(Entry("elsewhere", lineage=Lineage((f"record:{owner}",))))
    memory.remember("apart")
    done = erase(ADA, record_id=owner)
    assert done.records == 4
    assert texts() == {"root", "apart"}
    assert Tombstone.objects.filter(reason="forgotten").count() == 4


def test_what_was_erased_does_not_come_back():
    """case_C12: neither by a rebuild nor by lineage; the same words are new ones."""
    first = remember_one("tea", scope=CHAT, key="k", wait=True)
    erase(CHAT, record_id=first)
    again = remember_one("tea", scope=CHAT, key="k", wait=True)
    assert again != first
    assert [item.id for item in make_memory(CHAT).list()] == [again]
    late = make_record("late", scope=CHAT)
    make_edge(late, f"record:{first}")
    assert late.id not in [item.id for item in make_memory(CHAT).list()]


def test_a_record_or_a_source_not_both():
    with pytest.raises(Invalid):
        erase(CHAT, record_id=remember_one("a"), source_key="doc")


def test_a_scope_is_not_erased_inside_an_open_transaction():
    remember_one("a", scope=CHAT)
    with transaction.atomic(), transaction.atomic(), pytest.raises(Unsupported):
        erase(ADA)
    with transaction.atomic():
        assert erase(CHAT, record_id=Record.objects.get().id).records == 1


def test_an_erasure_leaves_an_audit_without_words():
    """B327."""
    furnish(CHAT, WORD)
    done = erase(ADA, reason="the owner asked")
    events = AuditEvent.objects.filter(action__startswith="memory.erase")
    start, *told, end = events.order_by("id")
    assert {event.action for event in told} == {"memory.erase_page"}
    assert sum(e.detail["deleted"] for e in told) == done.records
    assert (start.action, start.reason) == ("memory.erase_start", "the owner asked")
    assert (end.action, end.target) == ("memory.erase", f"scope:{ADA.id}")
    assert end.detail["receipt"] == str(done.id)
    assert WORD not in json.dumps([event.detail for event in events])


AGENT = replace(CHAT, thread="")


class TestHolds:
    """B153, B154, B326, B435: what a hold keeps stays, with all that it needs."""

    def hold(self, scope, **given):
        return lifecycle.hold(
            using="default", scope=scope, actor=OPERATOR, at=timezone.now(), **given
        )

    def test_of_a_record(self):
        ids = furnish(CHAT, WORD)
        self.hold(CHAT, record_id=ids[0])
        done = erase(ADA)
        assert texts() == {f"{WORD} one"}
        assert done.kept == {
            "records": 1,
            "facts": 0,
            "sources": 0,
            "scopes": 1,
            "derived": 0,
            "spared": 0,
        }
        assert Embedding.objects.count() == 1
        assert make_memory(CHAT).get(ids[0]).text == f"{WORD} one"

    def test_of_a_source(self):
        furnish(CHAT, WORD)
        source = Source.objects.get()
        self.hold(CHAT, source=source.id)
        done = erase(ADA)
        assert texts() == {f"{WORD} three"}
        assert (done.kept["records"], done.kept["sources"]) == (1, 1)
        again = erase(CHAT, source_key=source.key)
        assert (again.records, again.kept["sources"]) == (0, 1)

    @pytest.mark.parametrize("scope", [CHAT, AGENT, ADA, Scope("acme")])
    def test_of_a_scope(self, scope):
        furnish(CHAT, WORD)
        before = counts()
        self.hold(scope)
        done = erase(ADA)
        assert done.records == 0
        assert done.kept["records"] == 3
        after = counts()
        grown = {"auditevent", "run", "erasurereceipt", "legalhold", "scope"}
        if scope == CHAT:  # the thread that it was shared with goes
            grown |= {"sharegrant", "sharegrantitem"}
        assert {n for n in after if after[n] != before[n]} <= {
            f"prism_memory_{name}" for name in grown
        }
        assert AccessKey.objects.count() == 1

    def test_of_a_scope_beside_it_does_not_matter(self):
        furnish(CHAT, WORD)
        self.hold(replace(CHAT, thread="chat-2"))
        self.hold(Scope("acme", "bob"))
        assert erase(CHAT).kept["records"] == 0
        assert texts() == set()

    def test_that_a_forgetting_placed(self):
        (first, *_) = remember("kept", "gone", scope=CHAT)
        lifecycle.forget(
            using="default",
            scope=CHAT,
            actor=OPERATOR,
            ids=[first],
            at=timezone.now(),
            hold=True,
        )
        assert erase(ADA).kept["records"] == 1
        assert texts() == {"kept"}

    def test_what_derives_from_the_erased_is_kept_and_blocked(self):
        remember_one("root", scope=CHAT)
        other = Scope("acme", "ada", "support", "chat-2")
        owner = remember_one("owner", scope=ADA)
        held = (
            make_memory(other)
            .remember(Entry("held", lineage=Lineage((f"record:{owner}",))))
            .accepted[0]
        )
        self.hold(other, record_id=held)
        done = erase(ADA, record_id=owner)
        assert (done.records, done.kept["derived"]) == (1, 1)
        assert texts() == {"root", "held"}
        assert len(make_memory(other, read="exact").list()) == 0

    def test_after_the_release_it_goes(self):
        ids = furnish(CHAT, WORD)
        hold = self.hold(CHAT, record_id=ids[0])
        erase(ADA)
        lifecycle.release(
            using="default",
            scope=CHAT,
            actor=OPERATOR,
            hold_id=hold.id,
            at=timezone.now(),
        )
        assert erase(ADA).records == 1
        assert holding(WORD) == []
        assert LegalHold.objects.count() == 1


def test_a_finished_erasure_begins_anew_with_the_next_call():
    for _ in range(2):
        remember_one("tea", scope=CHAT)
        assert erase(ADA).records == 1
    assert Run.objects.filter(state="done").count() == 2


def test_a_pending_embedding_of_what_is_erased_is_nothing_to_do():
    """B328, B500."""
    memory = Memory(CHAT, origin=Origin(Trust.USER, "ada"))
    memory.remember("waits for its vector")
    assert memory.pending().pending == 1
    erase(ADA)
    assert memory.pending().pending == 0
