"""What a caller learns about the vectors to come (B87 to B91)."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from django.db import connections, transaction
from django.utils import timezone

from prism_memory import indexing
from prism_memory.errors import Unsupported
from prism_memory.models import Embedding
from prism_memory.types import ReadMode, Scope
from tests.factories import make_memory, make_scope
from tests.indexing.conftest import drain, pending


@pytest.mark.django_db
class TestRemembered:
    def test_by_default_nothing_is_embedded_yet(self):
        """B87."""
        remembered = make_memory().remember(["One.", "Two."])
        assert remembered.pending
        assert remembered.done.now().pending == set(remembered.accepted)

    def test_wait_returns_when_the_vectors_are_there(self):
        """B88."""
        memory = make_memory()
        remembered = memory.remember("Ada drinks tea.", wait=True)
        assert not remembered.pending
        assert remembered.done.now().indexed == set(remembered.accepted)
        (hit,) = memory.recall("tea", legs="vector").hits
        assert hit.id == remembered.accepted[0]

    def test_wait_ends_when_the_time_is_over(self):
        remembered = make_memory().remember("One.")
        state = remembered.done.wait(timeout_seconds=0)
        assert state.pending == set(remembered.accepted)

    def test_a_failure_is_told_with_its_reason(self):
        """B89."""
        remembered = make_memory().remember(["One.", "Two."])
        bad, good = remembered.accepted
        Embedding.objects.filter(record_id=bad).update(
            failed_at=timezone.now(), error="It is too long."
        )
        drain()
        state = remembered.done.wait()
        assert state.failed == {bad: "It is too long."}
        assert state.indexed == {good}

    def test_without_an_embedder_there_is_nothing_to_wait_for(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": {}}
        memory = make_memory()
        remembered = memory.remember("One.")
        assert not remembered.pending
        assert remembered.done.wait() == indexing.Indexed()
        assert memory.pending() == indexing.Pending()


@pytest.mark.django_db(transaction=True)
class TestInTransaction:
    def test_waiting_inside_one_is_refused(self):
        with transaction.atomic():
            done = make_memory().remember("One.").done
            with pytest.raises(Unsupported, match="open transaction"):
                done.wait()
            with pytest.raises(Unsupported, match="open transaction"):
                make_memory().remember("Two.", wait=True)
        assert pending().pending == 1

    def test_a_rollback_leaves_nothing_in_the_queue(self):
        with transaction.atomic():
            make_memory().remember("One.")
            transaction.set_rollback(True)
        assert pending() == indexing.Pending()

    def test_wait_sees_what_another_process_embeds(self):
        remembered = make_memory().remember("One.")

        def work():
            try:
                drain()
            finally:
                connections.close_all()

        thread = threading.Thread(target=work)
        thread.start()
        state = remembered.done.wait(timeout_seconds=30)
        thread.join()
        assert state.indexed == set(remembered.accepted)


@pytest.mark.django_db
class TestPending:
    def test_a_scope_sees_what_waits_in_its_own_chain(self):
        for scope in (Scope("acme"), Scope("acme", "ada"), Scope("acme", "bob")):
            make_memory(scope).remember("Text.")
        ada = Scope("acme", "ada")
        assert make_memory(ada).pending().pending == 2
        assert make_memory(ada, read=ReadMode.EXACT).pending().pending == 1
        assert pending().pending == 3
        assert pending("beta").pending == 0

    def test_the_oldest_is_dated(self):
        before = timezone.now() - dt.timedelta(seconds=60)
        memory = make_memory(make_scope())
        memory.remember(["One.", "Two."])
        Embedding.objects.filter(record_id=memory.list().items[0].id).update(
            created_at=before
        )
        assert memory.pending().oldest_at == before
        drain()
        assert memory.pending().oldest_at is None
