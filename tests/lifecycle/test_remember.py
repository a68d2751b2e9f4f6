"""Remember: upsert by identity, all or nothing, and what an identical write leaves."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

import pytest

from prism_memory.errors import Conflict, Invalid, LimitExceeded, NotVisible
from prism_memory.memory import Memory
from prism_memory.models import Embedding, LineageEdge, Record
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import (
    Consent,
    Entry,
    Lineage,
    Origin,
    SourceRef,
    Trust,
)
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


def stored(record_id: uuid.UUID) -> Record:
    return Record.objects.select_related("source").get(tenant="acme", id=record_id)


def one(memory: Memory, given: Any, **more: Any) -> Record:
    (record_id,) = memory.remember(given, **more).accepted
    return stored(record_id)


class TestUpsert:
    """B95: by scope, kind, namespace, partition and key."""

    def test_the_same_key_replaces_text_vector_and_metadata(self):
        memory = make_memory()
        first = memory.remember({"text": "old", "key": "k", "metadata": {"n": 1}})
        memory.remember("bystander", wait=True)
        before = Embedding.objects.get(tenant="acme", record_id=first.accepted[0])
        again = memory.remember({"text": "new", "key": "k"}, wait=True)
        assert again.accepted == first.accepted
        assert again.changed == frozenset(first.accepted)
        record = stored(first.accepted[0])
        assert (record.text, record.metadata, record.version) == ("new", {}, 2)
        after = Embedding.objects.get(tenant="acme", record_id=record.id)
        assert after.vector is not None
        assert bytes(after.sha256) == hashlib.sha256(b"new").digest()
        assert bytes(after.sha256) != bytes(before.sha256)

    @pytest.mark.parametrize(
        "apart",
        [{"kind": "note"}, {"namespace": "n"}, {"partition": "p"}, {"key": "k2"}],
        ids=lambda given: next(iter(given)),
    )
    def test_another_identity_is_another_record(self, apart):
        memory = make_memory()
        given = {"text": "words", "key": "k"}
        assert one(memory, given).id != one(memory, {**given, **apart}).id

    def test_another_scope_is_another_record(self):
        """B12, B21, B56."""
        for scope in (
            make_scope(),
            make_scope(thread="chat-2"),
            make_scope(owner="bob"),
        ):
            remember_one("words", scope=scope, key="doc-1")
        assert Record.objects.filter(tenant="acme", key="doc-1").count() == 3

    def test_a_write_lands_at_exactly_the_opened_scope(self):
        """B20."""
        scope = make_scope()
        record = make_record(scope=scope)
        assert record.scope.value == scope
        above = make_memory(make_scope(thread="", agent=""))
        assert len(above.list()) == 0

    def test_a_text_without_a_key_is_its_own_key(self):
        """B56, B85."""
        memory = make_memory()
        first, again = one(memory, "words"), one(memory, "words")
        assert first.id == again.id
        assert first.key == hashlib.sha256(b"words").hexdigest()

    def test_ids_come_back_in_the_callers_order(self):
        memory = make_memory()
        old = memory.remember(["c", "a"]).accepted
        ids = memory.remember(["a", "b", "c", "a"]).accepted
        assert [stored(i).text for i in ids] == ["a", "b", "c", "a"]
        assert {ids[0], ids[2]} == set(old)

    def test_a_retired_record_is_revived(self):
        record = make_record(retired_at=NOON)
        assert one(make_memory(), record.text).retired_at is None


class TestIdenticalContent:
    def given(self) -> list[Entry]:
        return [
            Entry(
                "words",
                key="k",
                metadata={"b": [1, 2.5, None], "a": {"x": "y"}},
                importance=0.3,
                lineage=Lineage(("m1", "m2")),
                source=SourceRef("chat", 4, "https://example.org"),
                happened_at=NOON,
                expires_at=NOON.replace(year=2100),
                valid_from=NOON,
                consent=Consent(),
            ),
            Entry("more words"),
        ]

    @pytest.mark.parametrize("wait", [True, False])
    def test_changes_no_row_at_all(self, wait):
        memory = make_memory()
        tables = ["record", "lineageedge", "embedding", "source", "scope"]
        names = [f"prism_memory_{table}" for table in tables]
        first = memory.remember(self.given(), wait=wait)
        before = {name: physical(name, "acme") for name in names}
        again = memory.remember(self.given())
        assert {name: physical(name, "acme") for name in names} == before
        assert again.accepted == first.accepted
        assert again.changed == frozenset()
        assert again.pending is not wait
        assert {stored(i).version for i in again.accepted} == {1}

    @pytest.mark.parametrize(
        "change",
        [
            {"text": "other"},
            {"metadata": {}},
            {"importance": 0.31},
            {"importance": None},
            {"happened_at": None},
            {"expires_at": None},
            {"valid_to": NOON.replace(year=2101)},
            {"source": SourceRef("chat", 5)},
            {"source": None},
            {"language": "simple"},
            {"lexical_text": "ox"},
            {"embed_text": "ox"},
            {"tier": "semantic"},
            {"origin": Origin(Trust.TOOL, "search")},
            {"sequence": 77},
        ],
        ids=lambda given: next(iter(given)),
    )
    def test_any_other_field_is_a_change(self, change):
        memory = make_memory()
        given: dict[str, Any] = {"text": "w", "key": "k", "importance": 0.3}
        given |= {"happened_at": NOON}
        given |= {"metadata": {"n": 1}, "expires_at": NOON.replace(year=2100)}
        given |= {"source": SourceRef("chat", 4)}
        first = one(memory, Entry(**given))
        record = one(memory, Entry(**{**given, **change}))
        assert record.id == first.id
        assert record.version == 2

    def test_only_a_changed_text_is_embedded_again(self):
        memory = make_memory()
        memory.remember({"text": "w", "key": "k"}, wait=True)
        again = memory.remember({"text": "w", "key": "k", "metadata": {"n": 1}})
        assert again.changed
        assert not again.pending

    def test_what_still_waits_from_before_is_embedded_by_wait(self):
        """B88."""
        memory = make_memory()
        assert memory.remember("words").pending
        assert memory.remember("words").pending
        assert not memory.remember("words", wait=True).pending
        assert memory.recall("words", legs="vector")[0].text == "words"


class TestRefusals:
    def test_a_revoked_record_is_not_overwritten(self):
        memory = make_memory()
        record = one(memory, {"text": "old", "key": "k"})
        memory.set_consent(record.id, visible=False)
        with pytest.raises(Conflict):
            memory.remember({"text": "new", "key": "k"})
        with pytest.raises(Conflict):
            memory.remember({"text": "old", "key": "k"})
        assert stored(record.id).text == "old"

    def test_a_held_record_is_not_overwritten(self):
        """B150."""
        record = make_record(fields={"key": "k"})
        make_tombstone(record, reason="legal_hold", hold=True)
        with pytest.raises(Conflict):
            make_memory().remember({"text": "new", "key": "k"})
        assert stored(record.id).text == record.text

    def test_a_scope_under_whose_id_another_is_stored_is_refused(self):
        """Of two names with one hash, the second writes nothing into the first."""
        remember_one("a")
        ScopeRow.objects.filter(tenant="acme").update(owner="eve")
        before = counts()
        with pytest.raises(Conflict) as refused:
            make_memory().remember("b")
        assert refused.value.field == "scope"
        assert counts() == before

    def test_a_hold_that_was_cleared_holds_no_more(self):
        record = make_record(fields={"key": "k"})
        make_tombstone(record, reason="legal_hold", hold=True, cleared_at=NOON)
        assert one(make_memory(), {"text": "new", "key": "k"}).text == "new"

    def test_anothers_hold_of_the_same_key_does_not_matter(self):
        """case_C14."""
        record = make_record(scope=make_scope(owner="bob"), fields={"key": "k"})
        make_tombstone(record, reason="legal_hold", hold=True)
        assert one(make_memory(), {"text": "new", "key": "k"}).text == "new"


BAD: dict[str, Any] = {
    "validation": {"text": ""},
    "NUL": {"text": "a\0b"},
    "surrogate": {"text": "a\ud800"},
    "limit": {"text": "a" * 16_385},
    "payload": {"text": "a", "metadata": {"k": "a" * 65_536}},
    "lineage": {"text": "a", "lineage": {"source_ids": [f"record:{uuid.uuid4()}"]}},
    "malformed ref": {"text": "a", "lineage": {"source_ids": ["record:nonsense"]}},
    "revoked": {"text": "a", "key": "revoked"},
    "held": {"text": "a", "key": "held"},
    "consent": {"text": "a", "key": "consented", "consent": {"visible": False}},
    "duplicate": {"text": "a", "key": "good-1"},
    "reflection": {"text": "a", "reflection": {"n": 1}},
    "ordinal": {"text": "a", "source": {"key": "s", "ordinal": 2**31}},
    "chunk": {"text": "a", "kind": "chunk"},
}


@pytest.mark.parametrize("bad", BAD)
def test_one_bad_item_stores_nothing_of_the_batch(bad):
    """B57."""
    memory = make_memory(importance_from=lambda _: float("nan"))
    ids = memory.remember(
        [{"text": key, "key": key} for key in ("revoked", "held", "consented")]
    ).accepted
    memory.set_consent(ids[0], visible=False)
    make_tombstone(stored(ids[1]), reason="legal_hold", hold=True)
    before = counts(), physical("prism_memory_record", "acme")
    good: list[Any] = [
        {
            "text": f"{i}",
            "key": f"good-{i}",
            "source": {"key": "new"},
            "lineage": {"source_ids": ["m"]},
        }
        for i in range(50)
    ]
    for place in (0, 25, 50):
        batch = [*good[:place], BAD[bad], *good[place:]]
        with pytest.raises((Invalid, LimitExceeded, Conflict, NotVisible)):
            memory.remember(batch)
        assert (counts(), physical("prism_memory_record", "acme")) == before, place


def test_nothing_to_remember_is_nothing():
    """case_C04."""
    before = counts()
    remembered = make_memory(make_scope(tenant="new")).remember([])
    assert (remembered.accepted, remembered.pending) == ((), False)
    assert counts() == before


def test_a_hundred_rows_cost_as_many_statements_as_one(django_assert_num_queries):
    """case_C33: the number does not depend on the batch."""
    memory = make_memory()
    memory.remember("the scope and the space exist")

    def batch(name: str, size: int) -> list[Entry]:
        return [
            Entry(
                f"{name}-{i}",
                source=SourceRef(f"{name}-{i % 7}", i),
                lineage=Lineage((f"m{i}", "the first")),
            )
            for i in range(size)
        ]

    # The space; a savepoint and its release; the lineage's lock; the scope; two for
    # the sources; the upsert; keys; three for lineage; the queue.
    with django_assert_num_queries(13):
        memory.remember(batch("a", 1))
    with django_assert_num_queries(13):
        memory.remember(batch("b", 100))
    with django_assert_num_queries(6):
        memory.remember("bare")
    with django_assert_num_queries(6):
        memory.remember([f"bare-{i}" for i in range(100)])
    # And what stood before, where something did.
    with django_assert_num_queries(7):
        memory.remember([f"bare-{i}" for i in range(100)])


def test_lineage_is_kept_unless_it_is_given():
    memory = make_memory()
    record = one(memory, Entry("a", key="k", lineage=Lineage(("m1",))))
    memory.remember(Entry("b", key="k"))
    assert LineageEdge.objects.filter(tenant="acme", record_id=record.id).count() == 1
