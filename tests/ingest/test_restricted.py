"""A document that was never open, and who is told what of it."""

from __future__ import annotations

import pytest

from prism_memory.errors import NotVisible
from prism_memory.models import AuditEvent, Source
from tests.documents import ADA, ADA_ALONE, GRANTS, STRANGERS, memory_of
from tests.factories import remember_one
from tests.facts.asserted import assert_one
from tests.ingest.documents import GUIDE, ids, ingest, librarian

pytestmark = pytest.mark.django_db

WORDS = "Refunds take thirty days."


def test_a_document_is_restricted_from_its_first_moment() -> None:
    """And audited so; also one that was open, of the same words, and never opened."""
    done = ingest(restricted=True)
    assert Source.objects.get().restricted
    for who in (None, ADA):
        assert not memory_of(who).list().items
    event = AuditEvent.objects.get(action="source.access")
    assert event.target == f"source:{done.source_id}"
    memory_of(None).sources.set_access({"guide": GRANTS})
    assert ingest(memory={"authorization": ADA}).unchanged
    assert Source.objects.get().restricted
    ingest(key="menu")
    assert memory_of(None).list().items
    assert not ingest(key="menu", restricted=True).unchanged
    assert not memory_of(None).list().items
    assert AuditEvent.objects.filter(action="source.access").count() == 3


def test_deleted_and_ingested_anew_it_is_open_unless_told_so() -> None:
    ingest(restricted=True)
    memory_of(None).sources.delete("guide")
    ingest(restricted=True)
    assert not memory_of(None).list().items
    memory_of(None).sources.delete("guide")
    ingest()
    assert memory_of(None).list().items


@pytest.mark.parametrize("verb", ["ingest", "replace"])
def test_who_may_not_read_a_document_does_not_learn_its_words_by_guessing(
    verb: str, transactional_db: None
) -> None:
    del transactional_db  # ``replace`` embeds outside of any transaction
    ingest()
    memory_of(None).sources.set_access({"guide": GRANTS})
    for who in STRANGERS.values():
        for text in (GUIDE, "# Guide\n\nOther words."):
            with pytest.raises(NotVisible) as refused:
                getattr(librarian(authorization=who).sources, verb)("guide", text)
            assert refused.value.field == "key"
    text = GUIDE.replace("Monday", "Friday")
    assert getattr(librarian(authorization=ADA).sources, verb)("guide", text).added == 1


def test_generations_count_what_a_memory_may_read() -> None:
    ingest(generation=1)
    ingest("# Menu\n\nSoup.", key="menu", generation=1)
    memory_of(None).sources.set_access({"guide": GRANTS})
    assert memory_of(None).generations().records == {1: 1}
    assert memory_of(ADA).generations().records == {1: 4}
    assert memory_of(ADA_ALONE).generations().records == {1: 3}


def test_the_history_of_a_forgotten_fact_is_of_who_may_read_it() -> None:
    ingest()
    hr = memory_of(ADA)
    hr.sources.set_access({"guide": GRANTS})
    fact = assert_one(evidence=[ids()[WORDS], remember_one("Open.")], memory=hr)
    hr.facts.forget(fact.id)
    assert [item.id for item in hr.facts.history(fact.id).items] == [fact.id]
    for who in STRANGERS.values():
        with pytest.raises(NotVisible):
            memory_of(who).facts.history(fact.id)
