"""Retire, restore, delete, replace and list sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from prism_memory import backends
from prism_memory.errors import (
    Conflict,
    Invalid,
    LimitExceeded,
    NotVisible,
    ProviderUnavailable,
    Unsupported,
)
from prism_memory.lifecycle.removal import remove
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.memory import Memory
from prism_memory.models import AuditEvent, Embedding, Record, Source
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Entry,
    IngestionState,
    Kind,
    Open,
    ReadMode,
    SourceItem,
    SourceRef,
    SourceState,
    TombstoneReason,
    Vector,
)
from tests.factories import make_memory, make_scope
from tests.ingest.documents import GUIDE, chunks, ids, ingest, librarian, vectors

pytestmark = pytest.mark.django_db

REFUNDS = "Refunds take thirty days."


def recalled(question: str = "refunds thirty days") -> list[str]:
    return [hit.text for hit in librarian().recall(question)]


class TestRetire:
    def test_it_leaves_search_and_stays_readable_by_id(self):
        """B286, B488."""
        ingest(wait=True)
        stored = ids()
        sources = librarian().sources
        done = sources.retire("guide", reason="outdated")
        assert (done.chunks, done.changed) == (3, True)
        assert not recalled()
        assert not vectors()
        assert librarian().get(stored[REFUNDS]).text.endswith(REFUNDS)
        assert sources.get("guide").state is SourceState.RETIRED
        event = AuditEvent.objects.get(tenant="acme", action="source.retire")
        assert (event.reason, event.detail) == ("outdated", {"records": 3})

    def test_it_is_restored_as_it_was(self):
        ingest(wait=True)
        ingest(GUIDE.replace("Monday", "Friday"), wait=True)
        sources, stored = librarian().sources, ids()
        sources.retire("guide")
        assert sources.restore("guide").chunks == 3
        assert ids() == stored
        assert recalled()[0].endswith(REFUNDS)
        assert sources.status("guide").state is IngestionState.PENDING
        assert not any("Monday" in text for text in recalled("Monday parcels"))

    def test_twice_changes_nothing(self):
        ingest()
        sources = librarian().sources
        assert not sources.restore("guide").changed
        sources.retire("guide")
        assert not sources.retire("guide").changed

    def test_a_retired_source_takes_nothing_in(self):
        ingest()
        memory = librarian()
        memory.remember(Entry("Hello.", kind=Kind.TURN, source=SourceRef("chat")))
        for key in ("guide", "chat"):
            memory.sources.retire(key)
        with pytest.raises(Conflict, match="retired"):
            ingest()
        with pytest.raises(Conflict, match="retired"):
            memory.remember(Entry("You there?", source=SourceRef("chat", 1)))
        memory.sources.restore("chat")
        assert memory.recall("Hello")[0].source == "chat"

    def test_a_hold_does_not_keep_it_from_leaving_search(self):
        ingest()
        memory = librarian()
        memory.hold(source=Source.objects.get(tenant="acme").id, matter="m")
        assert memory.sources.retire("guide").chunks == 3
        assert memory.sources.restore("guide").chunks == 3


class TestDelete:
    def test_it_goes_with_all_its_records(self):
        """B237."""
        ingest(wait=True)
        ingest(GUIDE.replace("thirty", "sixty"))
        ingest("Another.", key="other")
        done = librarian().sources.delete("guide", reason="gone")
        assert (done.found, done.deleted, done.kept) == (True, 4, ())
        assert {*Source.objects.values_list("key", flat=True)} == {"other"}
        assert Record.objects.filter(tenant="acme").count() == 1
        assert Embedding.objects.filter(tenant="acme").count() == 1
        assert AuditEvent.objects.get(action="source.delete").detail["deleted"] == 4

    def test_an_unknown_key_changes_nothing(self):
        assert not librarian().sources.delete("guide").found

    def test_what_a_hold_keeps_stays_with_its_source(self):
        ingest()
        memory, stored = librarian(), ids()
        memory.hold(record=stored[REFUNDS], matter="m")
        done = memory.sources.delete("guide")
        assert (done.deleted, done.kept) == (2, (stored[REFUNDS],))
        assert memory.sources.get("guide").key == "guide"

    def test_the_document_comes_in_fresh_afterwards(self):
        ingest()
        memory, stored = librarian(), ids()
        memory.forget(stored[REFUNDS])
        memory.sources.delete("guide")
        done = ingest()
        assert (done.added, done.withheld) == (3, 0)
        assert recalled()


class TestForgotten:
    def test_what_was_forgotten_does_not_come_back(self):
        """case_C12."""
        ingest(wait=True)
        memory, stored = librarian(), ids()
        memory.forget(stored[REFUNDS])
        for _ in range(2):
            done = ingest()
            assert (done.withheld, done.added, done.unchanged) == (1, 0, True)
        done = ingest("New.\n\n" + GUIDE)
        assert (done.withheld, done.added, done.chunks) == (1, 1, 3)
        assert not any("Refunds" in text for text in recalled())
        assert memory.recall("parcels leave")[0].citation == "guide#0004"

    def test_nor_where_it_was_all_there_was(self):
        """case_C12. The source stays, empty: what was forgotten is known by it."""
        ingest("Only this.")
        librarian().forget(ids()["Only this."])
        librarian().forget_thread()
        assert ingest("Only this.").withheld == 1
        assert not recalled("only this")

    def test_nor_what_was_corrected(self):
        """case_C12."""
        ingest(wait=True)
        memory, stored = librarian(), ids()
        memory.correct(stored[REFUNDS], "Refunds take sixty days.")
        done = ingest(GUIDE + "\nmore\n")
        assert done.withheld == 1
        assert Record.objects.get(id=stored[REFUNDS]).text.endswith("sixty days.")
        assert not any("thirty" in text for text in recalled())

    def test_nor_what_retention_took(self):
        """case_C12."""
        ingest()
        gone = chunks()[0].id
        with transaction.atomic():
            hold_lineage(using="default", tenant="acme", alone=True)
            remove(
                using="default",
                tenant="acme",
                ids=[gone],
                reason=TombstoneReason.EXPIRED,
                actor=Actor(),
                at=timezone.now(),
            )
        assert ingest().withheld == 1

    def test_what_is_held_back_by_hand_stays_out_of_sight_until_it_is_released(self):
        ingest()
        memory, stored = librarian(), ids()
        memory.forget(stored[REFUNDS], hold=True)
        assert ingest().unchanged
        assert not recalled()
        memory.release_forgotten(stored[REFUNDS], restore=True)
        assert recalled()


class TestReplace:
    def test_all_vectors_are_there_at_once(self):
        """B236."""
        ingest(wait=True)
        done = librarian().sources.replace("guide", GUIDE.replace("thirty", "sixty"))
        assert (done.added, done.retired, done.pending) == (1, 1, False)
        assert vectors() == set(ids().values())
        assert librarian().sources.status("guide").state is IngestionState.INDEXED

    def test_the_old_chunks_stay_when_the_embedder_fails(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        """B236."""
        ingest(wait=True)
        ingest("Another.", key="other", wait=True)
        before = {*Record.objects.values_list("id", "version", "retired_at")}

        def broken(*args: Any, **kwargs: Any) -> Sequence[Vector]:
            raise ProviderUnavailable

        monkeypatch.setattr(backends, "embed", broken)
        with pytest.raises(ProviderUnavailable):
            librarian().sources.replace("guide", "All new.")
        assert {*Record.objects.values_list("id", "version", "retired_at")} == before

    def test_it_embeds_only_what_is_new(self, monkeypatch: pytest.MonkeyPatch):
        """B239."""
        ingest(wait=True)
        seen: list[str] = []
        embed = backends.embed

        def watched(embedder: Any, texts: Sequence[str], **kw: Any) -> Sequence[Vector]:
            seen.extend(texts)
            return embed(embedder, texts, **kw)

        monkeypatch.setattr(backends, "embed", watched)
        librarian().sources.replace("guide", GUIDE.replace("thirty", "sixty"))
        assert seen == ["## Refunds\n\nRefunds take sixty days."]
        librarian().sources.replace("guide", GUIDE.replace("thirty", "sixty"))
        assert len(seen) == 1

    @pytest.mark.parametrize("verb", ["replace", "ingest"])
    def test_nothing_is_embedded_in_a_hosts_transaction(self, verb: str):
        given = {"wait": True} if verb == "ingest" else {}
        with transaction.atomic(), pytest.raises(Unsupported):
            getattr(librarian().sources, verb)("guide", GUIDE, **given)


class TestStates:
    def test_it_is_pending_until_all_have_their_vectors(self):
        """B238."""
        ingest()
        sources = librarian().sources
        found = sources.status("guide")
        assert (found.state, found.pending) == (IngestionState.PENDING, 3)
        assert (found.chunks, found.bytes) == (3, len(GUIDE))
        ingest(GUIDE + "\nmore\n", wait=True)
        ingest(wait=True)
        assert sources.status("guide").state is IngestionState.INDEXED
        assert sources.status("guide").pending == 0
        assert Source.objects.get(tenant="acme").ingestion == "indexed"

    def test_what_was_given_up_makes_it_partial_or_failed(self):
        """B238: with the error, and no secret in it."""
        ingest()
        waiting = Embedding.objects.filter(tenant="acme")
        gone = {"failed_at": chunks()[0].created_at, "error": "no hunter2"}
        waiting.update(**gone)
        sources = librarian(secrets=["hunter2"]).sources
        found = sources.status("guide")
        assert (found.state, found.failed) == (IngestionState.FAILED, 3)
        assert found.error == "no [redacted]"
        assert sources()[0].ingestion == found
        waiting.filter(record_id=chunks()[0].id).update(failed_at=None, error="")
        librarian().sources.status("guide")
        ingest("x", key="other", wait=True)
        assert sources.status("guide").state is IngestionState.PENDING

    def test_lists_page_to_the_last(self):
        """B238, case_C34."""
        for number in range(5):
            ingest(f"Words {number}.", key=f"doc-{number}")
        sources = librarian().sources
        page = sources(limit=2)
        keys = [item.key for item in page]
        while page.next_cursor:
            page = sources(limit=2, cursor=page.next_cursor)
            keys += [item.key for item in page]
        assert keys == [f"doc-{number}" for number in range(5)]
        with pytest.raises(LimitExceeded):
            sources(limit=201)
        for cursor in ("nonsense", librarian().list(limit=1).next_cursor):
            with pytest.raises(Invalid):
                sources(cursor=cursor)

    def test_chunks_are_read_in_order(self):
        """B211."""
        ingest("x\n\n" + GUIDE)
        ingest()
        sources = librarian().sources
        first = sources.chunks("guide", limit=2)
        rest = sources.chunks("guide", limit=2, cursor=first.next_cursor)
        assert [i.citation for i in (*first, *rest)] == [
            *("guide#0001", "guide#0002", "guide#0003")
        ]
        assert rest.next_cursor is None
        assert first.source.key == "guide"


def strangers() -> dict[str, Memory]:
    """Return memories from which Ada's chat is out of sight."""
    return {
        "tenant": make_memory(make_scope(tenant="globex")),
        "owner": make_memory(make_scope(owner="bob")),
        "agent": make_memory(make_scope(agent="sales")),
        "thread": make_memory(make_scope(thread="chat-2")),
        "above": make_memory(make_scope(thread="")),
    }


@pytest.mark.parametrize("who", ["tenant", "owner", "agent", "thread", "above"])
def test_strangers_see_and_change_nothing(who: str):
    """B1, B22, B324, case_C01."""
    ingest()
    sources = strangers()[who].sources
    assert not sources()
    for verb in (sources.get, sources.status, sources.chunks):
        with pytest.raises(NotVisible):
            verb("guide")
    for change in (sources.retire, sources.restore):
        with pytest.raises(NotVisible):
            change("guide")
    assert not sources.delete("guide").found
    assert len(chunks()) == 3


def test_a_reader_sees_the_sources_of_the_levels_above():
    above = make_scope(agent="", thread="")
    ingest(scope=above)
    ingest("Ours.", key="ours")
    reader, exactly = librarian(), librarian(read=ReadMode.EXACT)
    assert [item.key for item in reader.sources()] == ["guide", "ours"]
    assert [item.key for item in exactly.sources()] == ["ours"]
    assert reader.sources.get("guide").scope == above
    with pytest.raises(NotVisible):
        reader.sources.status("guide")
    ingest("Ours.")
    found: SourceItem = reader.sources.get("guide")
    assert found.scope == make_scope()


def test_a_document_that_is_not_granted_is_not_listed():
    """B212, B213: nor is it there by its key."""
    ingest()
    ingest("Open.", key="open")
    librarian().sources.set_access({"guide": [AccessGrant(principal="ada")]})
    as_ada = librarian(authorization=Authorization("ada", open=Open.ALLOW)).sources
    as_bob = librarian(authorization=Authorization("bob", open=Open.ALLOW)).sources
    assert [item.key for item in as_ada()] == ["guide", "open"]
    assert len(as_ada.chunks("guide")) == 3
    for sources in (as_bob, librarian().sources):
        assert [item.key for item in sources()] == ["open"]
        for verb in (sources.get, sources.status, sources.chunks):
            with pytest.raises(NotVisible):
                verb("guide")


def test_withheld_chunks_are_not_read_from_a_source():
    """B29: nor does a count of them tell their words."""
    ingest()
    memory, stored = librarian(), ids()
    memory.set_consent(stored[REFUNDS], visible=False)
    shown = memory.sources.chunks("guide")
    assert stored[REFUNDS] not in {item.id for item in shown}
    assert len(shown) == 2


def test_an_erased_source_leaves_nothing():
    """B320."""
    ingest(wait=True)
    ingest(GUIDE.replace("thirty", "sixty"))
    done = librarian().erase(source="guide")
    assert done.chunks == 4
    assert not Source.objects.filter(tenant="acme").exists()
    assert not Record.objects.filter(tenant="acme").exists()
