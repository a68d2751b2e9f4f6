"""A restriction stays, whatever becomes of the document's words. B213, B214."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from prism_memory.access import Reader, visible
from prism_memory.errors import Conflict
from prism_memory.models import LineageEdge, Record, Source
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Entry,
    Grant,
    Kind,
    Lineage,
    Permission,
    Scope,
    SourceRef,
)
from tests.documents import ADA, EVE, GRANTS, derived, document, memory_of
from tests.factories import ADA as WRITER
from tests.factories import make_scope, remember_one

pytestmark = pytest.mark.django_db


def read_by(who: Authorization | None, *ids: uuid.UUID) -> set[uuid.UUID]:
    """Return those that somebody recalls, lists and gets; all agree."""
    memory = memory_of(who)
    listed = {item.id for item in memory.list(limit=200).items} & {*ids}
    hits = memory.recall("Bob earns words", 32).hits
    assert listed == {hit.id for hit in hits} & {*ids}
    return listed


def turn(text: str, source: str | None = "talk", **given: Any) -> uuid.UUID:
    place = None if source is None else SourceRef(source)
    fields = {"key": "t1", "kind": Kind.TURN, "source": place, **given}
    return remember_one(text, wait=True, **fields)


@pytest.mark.parametrize("source", [None, "mine", "talk"])
@pytest.mark.parametrize("text", ["Bob earns 5000", "x"])
def test_who_may_not_read_a_record_does_not_overwrite_it(
    source: str | None, text: str
) -> None:
    """Nor do the same words tell whether they are; else what derives would be open."""
    said = turn("Bob earns 5000")
    note = derived("words of Bob", said)
    memory_of(None).sources.set_access({"talk": GRANTS})
    place = None if source is None else SourceRef(source)
    entry = Entry(text, key="t1", kind=Kind.TURN, source=place)
    for who in (None, EVE):
        # Beside another that goes to its source, which is then locked already.
        beside = Entry("y", key="t2", kind=Kind.TURN, source=SourceRef("talk"))
        for entries in ([entry], [beside, entry]):
            with pytest.raises(Conflict) as refused:
                memory_of(who).remember(entries)
            assert refused.value.field == "key"
    assert read_by(None, said, note) == set()
    assert read_by(ADA, said, note) == {said, note}


@pytest.mark.parametrize("source", [None, "mine"])
def test_no_record_leaves_a_restricted_source(source: str | None) -> None:
    said = turn("Bob earns 5000")
    memory_of(None).sources.set_access({"talk": GRANTS})
    place = None if source is None else SourceRef(source)
    entry = Entry("z", key="t1", kind=Kind.TURN, source=place)
    beside = Entry("y", key="t2", kind=Kind.TURN, source=SourceRef("talk"))
    for entries in ([entry], [beside, entry]):
        with pytest.raises(Conflict) as refused:
            memory_of(ADA).remember(entries)
        assert refused.value.field == "source"
    stays = Entry("z", key="t1", kind=Kind.TURN, source=SourceRef("talk"))
    assert memory_of(ADA).remember([stays]).accepted == (said,)
    assert Record.objects.get(id=said).text == "z"


def test_what_draws_upon_a_restricted_document_is_not_overwritten_either() -> None:
    """Its lineage could be taken from it, and from what derives from it."""
    (chunk,) = document("salaries", "Bob earns 5000", grants=GRANTS)
    first = derived("first words", chunk, key="n1")
    second = derived("second words", first)
    entry = Entry("x", key="n1", kind=Kind.NOTE, lineage=Lineage(("elsewhere",)))
    with pytest.raises(Conflict):
        memory_of(None).remember([entry])
    assert read_by(None, first, second) == set()
    assert read_by(ADA, first, second) == {first, second}


def spared(*cited: uuid.UUID) -> uuid.UUID:
    """Return a fact that cites these, and an open entry."""
    told = remember_one("Somebody spoke of Bob")
    hr = memory_of(ADA)
    text = "Bob earns 5000, words"
    fact = hr.facts.assert_fact(
        "Bob", "earns", "5000", text=text, evidence=[*cited, told]
    )
    return fact.id


def forget(chunk: uuid.UUID) -> None:
    memory_of(ADA).forget(chunk)


def delete(_chunk: uuid.UUID) -> None:
    memory_of(ADA).sources.delete("salaries")


def propagate(_chunk: uuid.UUID) -> None:
    by = Grant(make_scope(), frozenset(Permission), WRITER, Actor(), ADA)
    memory_of(ADA).propagate_deletion(source="salaries", by=by)


def erase(_chunk: uuid.UUID) -> None:
    memory_of(ADA).erase(source="salaries")


@pytest.mark.parametrize("how", [forget, delete, propagate, erase])
@pytest.mark.parametrize("through", [False, True], ids=["itself", "a note of it"])
def test_a_fact_stays_closed_when_the_document_it_cites_goes(
    how: Any, through: bool
) -> None:
    """B329: it is spared for what else it cites, and that says nothing of readers."""
    (chunk,) = document("salaries", "Bob earns 5000", grants=GRANTS)
    cited = derived("Bob's pay", chunk) if through else chunk
    fact = spared(cited)
    note = derived("of the fact, words", fact)
    how(chunk)
    assert Record.objects.filter(id=fact).exists()
    assert not Record.objects.filter(id__in=[chunk, cited]).exists()
    left = Source.objects.exists()  # else nobody can be granted it any more
    for who in (None, EVE, ADA):
        assert read_by(who, fact, note) == (
            {fact, note} if who is ADA and left else set()
        )
    governs = Reader(make_scope(), include_restricted=True)
    assert visible(using="default", reader=governs).filter(id=fact).exists()


def test_while_the_source_lives_its_grants_say_who_reads_what_outlived_its_words() -> (
    None
):
    chunk, _ = document("salaries", "Bob earns 5000", "Eve earns 1", grants=GRANTS)
    fact = spared(chunk)
    forget(chunk)
    assert read_by(None, fact) == read_by(EVE, fact) == set()
    assert read_by(ADA, fact) == {fact}
    memory_of(None).sources.set_access({"salaries": [AccessGrant("eve")]})
    assert read_by(EVE, fact) == {fact}
    assert read_by(ADA, fact) == set()


def test_open_documents_leave_nothing_behind() -> None:
    """Nor does another tenant's closed one close anything."""
    other = Scope("globex", "ada")
    document("salaries", "Bob earns 5000", scope=other, grants=GRANTS)
    (chunk,) = document("menu", "Bob gets soup")
    fact = spared(chunk)
    forget(chunk)
    assert read_by(None, fact) == {fact}
    assert not LineageEdge.objects.filter(source_ref__startswith="source:").exists()
