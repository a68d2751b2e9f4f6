"""case_C12: what was taken out of a document comes back by no other way into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from prism_memory.errors import Invalid
from prism_memory.lifecycle import removal
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import Record, Source, Tombstone
from prism_memory.types import Actor, Entry, Kind, SourceRef, TombstoneReason
from tests.ingest.documents import chunks, ingest, librarian

pytestmark = pytest.mark.django_db

SECRET = "# Codes\n\nThe door opens with 1234."


def seen() -> list[str]:
    return [hit.text for hit in librarian().recall("Which code opens the door?")]


def only() -> Any:
    (row,) = Record.objects.filter(tenant="acme", kind="chunk")
    return row.id


def due(*ids: Any) -> None:
    """Let retention take records."""
    with transaction.atomic():
        hold_lineage(using="default", tenant="acme", alone=True)
        removal.remove(
            using="default",
            tenant="acme",
            ids=ids,
            reason=TombstoneReason.EXPIRED,
            actor=Actor("task:retain"),
            at=timezone.now(),
        )


HIDE: dict[str, Callable[[Any], object]] = {
    "forget": lambda one: librarian().forget(one),
    "forget, on hold": lambda one: librarian().forget(one, hold=True),
    "revoke": lambda one: librarian().set_consent(one, visible=False),
    "quarantine": lambda one: librarian().quarantine(one, reason="odd"),
    "correct": lambda one: librarian().correct(one, "Ask the porter."),
}


@pytest.mark.parametrize("way", HIDE)
def test_what_was_taken_out_of_a_generation_does_not_come_by_another(way: str) -> None:
    ingest(SECRET, generation=1)
    HIDE[way](only())
    done = ingest(SECRET, generation=2)
    assert (done.added, done.withheld) == (0, 1)
    librarian().set_current_generation(2)
    assert not [text for text in seen() if "1234" in text]


@pytest.mark.parametrize("way", HIDE)
def test_nor_by_a_second_place_in_the_document(way: str) -> None:
    ingest(SECRET)
    HIDE[way](only())
    done = ingest(SECRET + "\n\n" + SECRET)
    assert done.added == 0
    assert not [text for text in seen() if "1234" in text]


@pytest.mark.parametrize("way", [way for way in HIDE if way != "correct"])
def test_what_is_taken_out_at_one_place_is_at_all(way: str) -> None:
    """A swap back to an older generation shows nothing either."""
    ingest(SECRET, generation=1)
    ingest(SECRET + "\n\n" + SECRET, generation=2)
    librarian().set_current_generation(2)
    (first, *_) = Record.objects.filter(tenant="acme", generation=2).order_by("key")
    HIDE[way](first.id)
    assert not seen()
    librarian().set_current_generation(1)
    assert not seen()
    assert ingest(SECRET, generation=3).added == 0


def test_consent_that_is_given_again_is_given_at_all_places() -> None:
    ingest(SECRET + "\n\n" + SECRET)
    first, second = (row.id for row in chunks())
    librarian().set_consent(first, visible=False)
    librarian().set_consent(second, visible=True)
    assert len(seen()) == 2


def test_a_hold_is_released_at_all_places() -> None:
    ingest(SECRET + "\n\n" + SECRET)
    first, second = (row.id for row in chunks())
    librarian().forget(first, hold=True)
    librarian().release_forgotten([second], restore=True)
    assert len(seen()) == 2
    librarian().forget(first, hold=True)
    assert librarian().release_forgotten([first]).deleted == 2
    assert not chunks()


def test_what_is_merely_due_goes_alone() -> None:
    """Retention takes the old generation, and nothing of the one that is read."""
    ingest(SECRET, generation=1)
    old = only()
    ingest(SECRET, generation=2)
    due(old)
    librarian().set_current_generation(2)
    assert len(seen()) == 1
    assert ingest(SECRET, generation=2).unchanged


def test_other_documents_may_say_it() -> None:
    """What a person forgot was of this document; and a new one of its key is new."""
    ingest(SECRET)
    ingest(SECRET, key="other")
    first = chunks()[0]
    librarian().forget(first.id)
    assert [hit.source for hit in librarian().recall("Which code?")] == ["other"]
    librarian().sources.delete("guide")
    assert ingest(SECRET).added == 1


def test_deleting_a_document_leaves_no_more_tombstones_than_chunks() -> None:
    ingest(SECRET)
    librarian().sources.delete("guide")
    assert Tombstone.objects.filter(tenant="acme").count() == 1


def test_remembering_takes_no_key_of_a_documents_chunk() -> None:
    """Nor one that a chunk will bear: the document could not be ingested any more."""
    ingest(SECRET)
    (row,) = chunks()
    source = Source.objects.get(tenant="acme", key="guide")
    for key in (row.key, f"{source.id}:{'0' * 64}:0", f"{source.id}:{'a' * 64}:3:g2"):
        forged = Entry("forged", key=key, kind=Kind.CHUNK, source=SourceRef("z"))
        with pytest.raises(Invalid) as caught:
            librarian().remember([forged])
        assert caught.value.field == "key"
    assert chunks()[0].text == row.text
