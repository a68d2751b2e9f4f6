from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

from prism_memory import indexing
from prism_memory.models import Embedding, Record
from tests.factories import NOON, make_memory, make_record, make_scope, remember
from tests.indexing.conftest import space

pytestmark = pytest.mark.django_db


def enqueue(tenant: str = "acme", alias: str = "default") -> int:
    found = indexing.find_active(using="default", alias=alias)
    assert found is not None
    return indexing.enqueue_missing(using="default", tenant=tenant, space=found)


def test_what_was_written_without_an_embedder_is_queued() -> None:
    with override_settings(PRISM_MEMORY={}):
        remember("Ada drinks tea.", "Bob plays chess.")
    remember("The train leaves at noon.")
    assert Embedding.objects.count() == 1

    assert enqueue() == 2

    assert make_memory().pending().pending == 3
    assert enqueue() == 0


def test_a_queued_record_waits_for_the_text_that_it_has() -> None:
    """The hash of the text is the one that remember writes."""
    remember("Ada drinks tea.", embed_text="Ada: tea ☕")
    before = Embedding.objects.get().sha256
    Embedding.objects.all().delete()

    assert enqueue() == 1
    assert Embedding.objects.get().sha256 == before


def test_another_tenants_records_are_not_queued() -> None:
    remember("Ada drinks tea.")
    theirs = make_scope(tenant="beta")
    remember("Theirs.", scope=theirs)
    Embedding.objects.filter(tenant="beta").delete()

    assert enqueue() == 0
    assert not Embedding.objects.filter(tenant="beta").exists()


def test_a_retired_record_is_not_queued() -> None:
    """B488."""
    remember("Ada drinks tea.")
    retired = make_record("Old.", retired_at=NOON)
    Embedding.objects.filter(record_id=retired.id).delete()

    assert enqueue() == 0


def test_pages_reach_the_last_record(monkeypatch: pytest.MonkeyPatch) -> None:
    with override_settings(PRISM_MEMORY={}):
        remember(*[f"Note {number}." for number in range(7)])
    remember("The first with a vector.")
    monkeypatch.setattr("prism_memory.indexing.enqueue.PAGE_ROWS", 3)

    assert enqueue() == 7
    assert Embedding.objects.count() == Record.objects.count() == 8


def test_a_new_alias_gets_vectors_for_what_was_there() -> None:
    """B485 in its simplest form: nothing is mixed, nothing is lost."""
    remember("Ada drinks tea.", wait=True)
    other: dict[str, Any] = {
        "BACKEND": "prism_memory.backends.hashing.HashEmbedder",
        "OPTIONS": {"dimensions": 32, "for_tests": True},
    }
    embedders = {**settings.PRISM_MEMORY["EMBEDDERS"], "other": other}
    with override_settings(PRISM_MEMORY={"EMBEDDERS": embedders, "EMBEDDER": "other"}):
        call_command("prism_memory_index", "enqueue", "--tenant", "acme")
        assert make_memory().recall("tea").degraded == "some records have no vector yet"
        call_command("prism_memory_index", "drain", "--tenant", "acme")
        found = make_memory().recall("tea")

    assert found.degraded == ""
    assert [hit.method for hit in found] == ["hybrid"]
    assert Embedding.objects.count() == 2
    assert space().identity.dimensions == 64
