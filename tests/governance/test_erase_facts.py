"""Erasing evidence: facts that rest on it alone go, others stand on what is left."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.governance import erasure
from prism_memory.models import (
    AuditEvent,
    ConflictDecision,
    Embedding,
    Entity,
    EntityMerge,
    Evidence,
    Fact,
    FactVersion,
    LineageEdge,
    Record,
    Review,
    Tombstone,
)
from prism_memory.types import Acceptance, FactItem, Lineage, Scope, SourceRef, Trust
from tests.factories import NOON, make_memory, make_scope
from tests.facts.asserted import said
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

MAIL = "mail"


@pytest.fixture(params=[1, 1_000])
def _pages(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism_memory.governance.erasure.pages.PAGE", request.param)


def turn(text: str, place: int = 0, **given: Any) -> uuid.UUID:
    return said(text, **{"scope": CHAT, **given}, source=SourceRef(MAIL, place))


def claim(value: str, *evidence: uuid.UUID, **given: Any) -> FactItem:
    memory = make_memory(given.pop("scope", CHAT))
    return memory.facts.assert_fact("Ada", "says", value, evidence=evidence, **given)


def held_now(fact: FactItem) -> FactVersion:
    return FactVersion.objects.get(fact_id=fact.id, recorded_to=None)


def hold(record_id: uuid.UUID) -> None:
    lifecycle.hold(
        using="default",
        scope=CHAT,
        actor=OPERATOR,
        at=timezone.now(),
        record_id=record_id,
    )


def foreseen(scope: Scope, **given: Any) -> Any:
    return erasure.foresee(using="default", scope=scope, **given)


@pytest.mark.usefixtures("_pages")
def test_a_fact_goes_with_its_last_evidence_and_stays_on_other() -> None:
    """B320, B321, B322: and the numbers are those of the tables."""
    first, second = turn("first", 0), turn("second", 1)
    kept = said("kept", scope=CHAT)
    alone = claim("alone", first, second)
    follows = claim("follows", alone.id)
    both = claim("both", first, kept)
    other = claim("other", kept)
    before = counts()
    seen = foreseen(CHAT, source_key=MAIL)
    done = erase(CHAT, source_key=MAIL)
    gone = {name: before[name] - count for name, count in counts().items()}
    assert seen.counts == done.counts
    assert seen.kept == done.kept
    for one in (seen, done):
        assert (one.evidence_links, one.facts_erased, one.facts_kept) == (4, 2, 1)
    assert {n: c for n, c in gone.items() if c > 0} == dict(done.counts)
    assert done.source_found
    assert {*Fact.objects.values_list("id", flat=True)} == {both.id, other.id}
    assert make_memory(CHAT).facts.get(both.id).evidence == (kept,)
    assert not LineageEdge.objects.filter(source_ref=f"record:{first}").exists()
    assert {i.id for i in make_memory(CHAT).facts("Ada").items} == {both.id, other.id}
    assert not Tombstone.objects.filter(target_ref=f"record:{both.id}").exists()
    assert follows.id not in {r.id for r in Record.objects.all()}


def test_what_is_left_is_judged_anew() -> None:
    """B329: a person's word about evidence that is gone holds no longer."""
    mail, tool = turn("mail"), said("tool", Trust.TOOL, CHAT)
    fact = claim("yes", mail, tool)
    make_memory(CHAT).facts.accept(fact.id)
    waiting = Review.objects.filter(record_id=fact.id, decided_at=None)
    assert not waiting.exists()
    was = held_now(fact)
    erase(CHAT, source_key=MAIL)
    now = held_now(fact)
    assert (now.acceptance, now.cause) == (Acceptance.PROPOSAL, "rejudged")
    was.refresh_from_db()
    assert was.recorded_to == now.recorded_from
    assert (now.valid_from, now.actor) == (was.valid_from, OPERATOR.name)
    assert waiting.get().why == "proposal"
    assert make_memory(CHAT).facts("Ada").items == ()
    page = AuditEvent.objects.get(action="memory.erase_page")
    assert (page.detail["spared"], page.detail["lowered"]) == (1, 1)


def test_deleting_evidence_promotes_nothing() -> None:
    """C26: who may forget a tool's words may not so accept what they proposed."""
    mail, tool = turn("mail"), said("tool", Trust.TOOL, CHAT)
    fact = claim("yes", mail, tool)
    make_memory(CHAT).forget(tool)
    assert held_now(fact).acceptance == Acceptance.PROPOSAL
    assert FactVersion.objects.filter(fact_id=fact.id).count() == 1
    assert make_memory(CHAT).facts.get(fact.id).evidence == (mail,)


def test_a_held_fact_and_its_evidence_are_not_erased() -> None:
    """B326: whatever the fact rests on; nothing is taken from it, and it is told."""
    mail = turn("mail")
    middle = claim("middle", mail)
    fact = claim("held", middle.id, said("free", scope=CHAT))
    hold(fact.id)
    before = counts()
    seen, done = foreseen(CHAT, source_key=MAIL), erase(CHAT, source_key=MAIL)
    assert (done.records, done.kept["records"], done.kept["sources"]) == (0, 1, 1)
    assert (seen.counts, seen.kept) == (done.counts, done.kept)
    assert make_memory(CHAT).forget(mail).kept == (mail,)
    wide = erase(ADA)
    assert (wide.records, wide.kept["records"], wide.facts_kept) == (0, 4, 2)
    after = counts()
    for table in ("record", "fact", "evidence", "lineageedge", "factversion", "entity"):
        assert after[f"prism_memory_{table}"] == before[f"prism_memory_{table}"], table


def test_a_held_fact_is_blocked_by_what_else_goes_and_loses_no_evidence() -> None:
    """B326: what it cites is kept, and may be used no more."""
    root, free = turn("root"), said("free", scope=CHAT)
    note = said("note", scope=CHAT, lineage=Lineage((f"record:{root}",)))
    fact = claim("held", note, free)
    hold(fact.id)
    assert erase(CHAT, source_key=MAIL).kept["derived"] == 2
    assert Evidence.objects.filter(fact_id=fact.id).count() == 2
    assert make_memory(CHAT).facts("Ada").items == ()


def test_no_word_of_what_was_claimed_is_left_anywhere() -> None:
    """B325, B327: in no column of any table; ids stay, and that it was."""
    word = "zebrafish"
    evidence = turn(f"{word} said")
    memory = make_memory(CHAT)
    fact = memory.facts.assert_fact(
        f"{word} subject",
        f"{word} predicate",
        f"{word} value",
        text=f"{word} statement",
        key=f"{word}-key",
        tags=[word],
        metadata={"about": word},
        evidence=[evidence],
    )
    merged = Entity.objects.get(name=f"{word} value")
    root = Entity.objects.create(
        tenant="acme",
        scope_id=CHAT.id,
        name=f"{word} root",
        label=word,
        created_at=NOON,
    )
    EntityMerge.objects.create(
        tenant="acme", scope_id=CHAT.id, entity=merged, into=root, actor="a", at=NOON
    )
    Entity.objects.filter(id=merged.id).update(merged_into=root.id)
    memory.facts.retract(fact.id, reason=f"{word} reason")
    assert {"prism_memory_fact", "prism_memory_entity"} <= {*holding(word)}
    seen = foreseen(CHAT, source_key=MAIL)
    done = erase(CHAT, source_key=MAIL)
    assert seen.counts == done.counts
    assert set(holding(word)) <= {"prism_memory_auditevent"}  # a person's reason
    assert done.counts["prism_memory_entity"] == 3
    assert AuditEvent.objects.filter(target=f"record:{fact.id}").exists()


def test_an_entity_stays_while_anything_speaks_of_it() -> None:
    """B418: and after a purge in any case."""
    mail = turn("mail")
    gone, kept = claim("Zoe", mail), claim("Yan", said("kept", scope=CHAT))
    make_memory(CHAT).facts.purge(claim("Xia", said("x", scope=CHAT)).id)
    assert gone.id != kept.id
    erase(CHAT, source_key=MAIL)
    assert {*Entity.objects.values_list("name", flat=True)} == {"ada", "yan", "xia"}
    erase(ADA)
    assert not Entity.objects.exists()


def test_an_entity_of_a_held_fact_stays_and_its_scope() -> None:
    fact = claim("held", said("words", scope=CHAT))
    hold(fact.id)
    claim("gone", said("more", scope=CHAT))
    seen, done = foreseen(ADA), erase(ADA)
    assert (seen.counts, seen.kept) == (done.counts, done.kept)
    assert {*Entity.objects.values_list("name", flat=True)} == {"ada", "held"}


def test_what_waits_for_it_goes_too() -> None:
    """B328: vectors not made yet, decisions about it, reviews."""
    fact = claim("yes", turn("mail"), said("more", scope=CHAT))
    other = claim("no", said("other", Trust.TOOL, CHAT))
    for one in (fact, other):
        ConflictDecision.objects.create(
            tenant="acme",
            fact_id=one.id,
            scope_id=CHAT.id,
            verdict="pending",
            stage="defer",
            actor="a",
            at=NOON,
        )
    erase(CHAT, record_id=other.id)
    assert [d.fact_id for d in ConflictDecision.objects.all()] == [fact.id]
    assert not Review.objects.filter(record_id=other.id).exists()
    assert not Embedding.objects.filter(record_id=other.id).exists()


def test_strangers_facts_stay_as_they_are() -> None:
    """C11, B324: of another tenant, owner, agent and thread."""
    levels = ("tenant", "owner", "agent", "thread")
    for scope in (CHAT, *(make_scope(**{level: "other"}) for level in levels)):
        claim("mine", turn("words", scope=scope), scope=scope)
        more, two = turn("more", 1, scope=scope), turn("two", 2, scope=scope)
        claim("also", more, two, scope=scope)
    before = rows_of_strangers()
    make_memory(CHAT).forget(Record.objects.filter(text="two", scope_id=CHAT.id)[0].id)
    assert erase(CHAT, source_key=MAIL).facts_erased == 2
    assert rows_of_strangers() == before


def rows_of_strangers() -> dict[str, list[str]]:
    homes: dict[Any, str] = {
        Record: "scope_id",
        Fact: "scope_id",
        Entity: "scope_id",
        Tombstone: "scope_id",
        FactVersion: "fact__scope_id",
        Evidence: "fact__scope_id",
        LineageEdge: "record__scope_id",
    }
    return {
        model.__name__: sorted(
            map(str, model.objects.exclude(tenant="acme", **{home: CHAT.id}).values())
        )
        for model, home in homes.items()
    }


def test_a_fact_far_away_that_stands_is_counted_once() -> None:
    """B321: though each page takes some of what it cites."""
    wide = Scope("acme", "ada")
    one, two = (said(f"n {n}", scope=CHAT) for n in range(2))
    kept = said("kept", scope=wide)
    far = make_memory(CHAT)
    fact = far.facts.assert_fact("Ada", "is", "far", evidence=[one, two, kept])
    Record.objects.filter(id=fact.id).update(scope_id=wide.id)
    Fact.objects.filter(id=fact.id).update(scope_id=wide.id)
    done = erase(CHAT)
    assert (done.facts_kept, done.facts_erased, done.evidence_links) == (1, 0, 2)
    assert Evidence.objects.filter(fact_id=fact.id).count() == 1
