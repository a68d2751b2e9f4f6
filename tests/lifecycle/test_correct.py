"""Give a record other words: itself it stays, and blocks what derives from it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.db.transaction import atomic

from prism_memory import backends, indexing, signals
from prism_memory.errors import (
    Conflict,
    Invalid,
    LimitExceeded,
    NotVisible,
    Unsupported,
)
from prism_memory.memory import Memory
from prism_memory.models import AuditEvent, Embedding, LegalHold, Record, Tombstone
from prism_memory.types import (
    Actor,
    Consent,
    Entry,
    Kind,
    Lineage,
    Origin,
    SourceRef,
    TombstoneReason,
    Trust,
)
from tests.factories import (
    NOON,
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember_one,
)
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

KEPT = (
    "id",
    "key",
    "kind",
    "tier",
    "namespace",
    "partition",
    "language",
    "sequence",
    "importance",
    "uses",
    "metadata",
    "trust",
    "writer",
    "consent_source",
    "consent_scope",
    "visible",
    "granted_at",
    "revoked_at",
    "gate",
    "source_id",
    "ordinal",
    "happened_at",
    "created_at",
    "expires_at",
    "valid_from",
    "valid_to",
)
OLD, NEW = "Ada lives in Lisbon.", "Ada lives in Porto."


def row(record_id: uuid.UUID) -> Record:
    return Record.objects.get(tenant="acme", id=record_id)


def chain(length: int, *, of: str = "root") -> list[uuid.UUID]:
    """Remember a root, and records each derived from the one before."""
    ids = [remember_one(OLD, key=of)]
    for step in range(length):
        above = of if not step else f"{of}-{step}"
        key = f"{of}-{step + 1}"
        ids.append(remember_one(f"From {key}.", key=key, lineage=Lineage((above,))))
    return ids


def drain(memory: Memory) -> None:
    """Make the vectors that wait in the memory's space, as a worker does."""
    space = indexing.find_active(using="default", alias=memory.embedder)
    assert space is not None
    indexing.drain(
        using="default", tenant="acme", space=space, embed=embed_passages, batch=8
    )


def embed_passages(texts: Any) -> Any:
    return backends.embed(backends.get_embedder(), texts, role="passage")


class TestWhatStays:
    """B144, case_C36."""

    def test_all_but_the_words_stays(self):
        rich = Entry(
            OLD,
            key="home",
            namespace="n",
            partition="p",
            metadata={"topics": ["home"], "n": 1},
            consent=Consent(source="user", scope="profile"),  # type: ignore[arg-type]
            sequence=7,
            importance=0.25,
            source=SourceRef("chat", 3),
            language="english",
            happened_at=NOON,
            valid_from=NOON,
            lineage=Lineage(("message-1",)),
        )
        (record_id,) = make_memory().remember(rich).accepted
        before = row(record_id)
        done = make_memory(origin=Origin(Trust.SYSTEM, "root")).correct(record_id, NEW)
        after = row(record_id)
        assert {n: getattr(after, n) for n in KEPT} == {
            n: getattr(before, n) for n in KEPT
        }
        assert (done.id, done.version, done.changed) == (record_id, 2, True)
        assert (after.text, after.version) == (NEW, 2)
        assert bytes(after.sha256) != bytes(before.sha256)
        assert after.changed_at is not None
        assert before.changed_at is None
        edges = make_memory().recall("Porto", explain=True).explanations
        assert [ref.rpartition(":")[2] for ref in edges[0].source_refs] == ["message-1"]

    def test_the_words_are_prepared_as_those_of_remember(self):
        """The speaker and the day stand in the index texts, the text is verbatim."""
        given: dict[str, Any] = {
            "kind": Kind.TURN,
            "happened_at": NOON,
            "metadata": {"title": "Homes"},
        }
        corrected = remember_one(OLD, key="a", **given)
        make_memory().correct(corrected, NEW)
        fresh = row(remember_one(NEW, key="b", **given))
        after = row(corrected)
        for name in ("text", "lexical_text", "embed_text", "language"):
            assert getattr(after, name) == getattr(fresh, name), name
        assert bytes(after.sha256) == bytes(fresh.sha256)
        assert after.lexical_text != NEW

    def test_index_texts_of_the_writer_belong_to_the_old_words(self):
        record_id = remember_one(
            OLD, lexical_text="lisbon capital", embed_text="lisbon by the sea"
        )
        make_memory().correct(record_id, NEW)
        assert holding("lisbon") == []
        assert not make_memory().recall("capital", legs="text")

    def test_a_chunk_keeps_its_document(self):
        record_id = remember_one(OLD, kind=Kind.CHUNK, source=SourceRef("doc", 2))
        make_memory().correct(record_id, NEW)
        item = make_memory().get(record_id)
        assert (item.source, item.ordinal, item.text) == ("doc", 2, NEW)

    def test_secrets_and_the_redactor_apply(self):
        record_id = remember_one(OLD)
        memory = make_memory(secrets=["4711"], redactor=lambda text: text.upper())
        memory.correct(record_id, "the safe is 4711", reason="was 4711")
        assert row(record_id).text == "THE SAFE IS [redacted]"
        assert holding("4711") == []

    def test_a_key_that_holds_a_newer_secret_keeps_nobody_from_correcting(self):
        record_id = remember_one(OLD, key="safe-4711")
        make_memory(secrets=["4711"]).correct(record_id, NEW)
        assert row(record_id).text == NEW

    def test_it_stays_hidden_where_no_consent_was_given(self):
        record_id = remember_one(OLD, consent=Consent(visible=False))
        make_memory().correct(record_id, NEW)
        assert row(record_id).text == NEW
        assert len(make_memory().list()) == 0

    @pytest.mark.parametrize(
        "columns", [{"gate": "quarantined"}, {"retired_at": NOON}, {"expires_at": NOON}]
    )
    def test_what_withholds_it_goes_on_to(self, columns: dict[str, Any]):
        record = make_record(OLD, **columns)
        make_memory().correct(record.id, NEW)
        assert len(make_memory().list()) == 0


class TestFound:
    """B145, case_C15."""

    def test_it_is_found_by_the_new_words_and_not_by_the_old(self):
        memory = make_memory()
        record_id = remember_one("the zebra sleeps", wait=True)
        remember_one("a quiet day at home", wait=True)
        done = memory.correct(record_id, "the walrus swims")
        assert done.pending
        for legs in ("text", "hybrid"):
            assert [hit.id for hit in memory.recall("walrus", 1, legs=legs)] == [
                record_id
            ]
        assert record_id not in {h.id for h in memory.recall("zebra", legs="text")}

    def test_the_old_vector_never_answers_and_the_new_one_comes_with_the_drain(self):
        memory = make_memory()
        record_id = remember_one("the zebra sleeps", wait=True)
        memory.correct(record_id, "the walrus swims")
        assert not memory.recall("the zebra sleeps", legs="vector")
        assert memory.neighbors("the zebra sleeps") == ()
        assert memory.pending().pending == 1
        drain(memory)
        (hit, *_) = memory.recall("the walrus swims", legs="vector")
        assert hit.id == record_id
        assert hit.cosine == pytest.approx(1, abs=0.001)
        embedding = Embedding.objects.get(tenant="acme", record=record_id)
        assert (embedding.vector is not None, embedding.attempts) == (True, 1)

    def test_a_vector_of_another_embedder_goes_too(self, settings: Any):
        both = dict.fromkeys(
            ("default", "second"), settings.PRISM_MEMORY["EMBEDDERS"]["default"]
        )
        settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"EMBEDDERS": both}
        second = make_memory(embedder="second")
        second.remember(Entry("the zebra sleeps", key="k"), wait=True)
        (record_id,) = (
            make_memory()
            .remember(Entry("the zebra sleeps", key="k"), wait=True)
            .accepted
        )
        woken: list[str] = []

        def hear(*, alias: str, **kwargs: Any) -> None:
            woken.append(alias)

        signals.indexing_wanted.connect(hear)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "prism_memory.lifecycle.queueing.transaction.on_commit",
                lambda send, **_: send(),
            )
            make_memory().correct(record_id, "the walrus swims")
        signals.indexing_wanted.disconnect(hear)
        assert woken == ["default", "second"]
        assert Embedding.objects.filter(tenant="acme", vector=None).count() == 2
        for memory in (second, make_memory()):
            assert not memory.recall("the zebra sleeps", legs="vector")
            drain(memory)
            assert memory.recall("the walrus swims", legs="vector")[0].id == record_id

    def test_a_worker_that_read_the_old_words_writes_no_vector(self):
        """It claimed before the correction, and comes back after it."""
        memory = make_memory()
        record_id = remember_one("the zebra sleeps")
        space = indexing.find_active(using="default", alias="default")
        assert space is not None

        def embed(texts: Any) -> Any:
            if "the zebra sleeps" in texts:
                memory.correct(record_id, "the walrus swims")
            return embed_passages(texts)

        done = indexing.drain(
            using="default", tenant="acme", space=space, embed=embed, batch=8
        )
        assert (done.embedded, done.stale) == (1, 1)
        assert memory.recall("the walrus swims", legs="vector")[0].cosine > 0.99

    def test_an_auditor_is_told_that_it_changed(self):
        record_id = remember_one(OLD)
        before = row(record_id).created_at
        make_memory().correct(record_id, NEW)
        (hit,) = make_memory().recall("Ada", known_at=before)
        assert (hit.text, hit.changed) == (NEW, True)


class TestDependents:
    """B145, B146."""

    def test_they_are_blocked_and_it_is_not(self):
        first, *_ = chain(2)
        remember_one("Beside it.", key="beside")
        done = make_memory().correct(first, NEW)
        assert done.blocked == 2
        assert {item.key for item in make_memory().list()} == {"root", "beside"}
        stones = Tombstone.objects.filter(tenant="acme")
        root = f"record:{first}"
        assert {(s.root_ref, s.reason, s.supersedes_ref, s.hold) for s in stones} == {
            (root, "corrected", root, False)
        }
        assert stones.count() == 3

    def test_what_is_derived_later_is_blocked_too(self):
        """Its writer may have read the old words: derive anew under another root."""
        first, *_ = chain(0)
        make_memory().correct(first, NEW)
        remember_one("Late.", key="late", lineage=Lineage(("root",)))
        assert {item.key for item in make_memory().list()} == {"root"}

    def test_those_in_scopes_below_are_blocked(self):
        owner = make_scope(agent="", thread="")
        source = remember_one(OLD, scope=owner, key="profile")
        remember_one("Derived.", key="d", lineage=Lineage(("profile",)))
        assert make_memory(owner).correct(source, NEW).blocked == 1
        assert {item.key for item in make_memory().list()} == {"profile"}

    def test_a_second_correction_blocks_no_less(self):
        first, *_ = chain(1)
        memory = make_memory()
        memory.correct(first, NEW)
        assert memory.correct(first, OLD).blocked == 1
        assert Tombstone.objects.filter(tenant="acme").count() == 2
        assert {item.text for item in memory.list()} == {OLD}

    def test_a_revocation_after_it_and_its_end_leave_the_block(self):
        """B142."""
        first, *_ = chain(1)
        memory = make_memory()
        memory.correct(first, NEW)
        memory.set_consent(first, visible=False)
        assert len(memory.list()) == 0
        memory.set_consent(first, visible=True)
        assert {item.key for item in memory.list()} == {"root"}

    def test_one_that_is_blocked_itself_stays_so(self):
        first, second = chain(1)
        memory = make_memory()
        memory.correct(first, NEW)
        memory.correct(second, "Put right too.")
        assert {item.key for item in memory.list()} == {"root"}

    def test_eight_derivations_are_passed_and_nine_raise(self):
        """B157, B158: nothing is written then."""
        first, *_ = chain(8)
        assert make_memory().correct(first, NEW).blocked == 8
        deep, *_ = chain(9, of="deep")
        before = counts()
        with pytest.raises(LimitExceeded):
            make_memory().correct(deep, NEW)
        assert counts() == before
        assert row(deep).text == OLD
        assert row(deep).version == 1

    @pytest.mark.parametrize(("derived", "passes"), [(255, True), (256, False)])
    def test_256_refs_are_passed_and_one_more_raises(self, derived: int, passes: bool):
        """B160."""
        source = remember_one(OLD, key="root")
        lineage = Lineage(("root",))
        make_memory().remember([Entry(f"{i}", lineage=lineage) for i in range(derived)])
        before = counts()
        if passes:
            assert make_memory().correct(source, NEW).blocked == derived
            return
        with pytest.raises(LimitExceeded):
            make_memory().correct(source, NEW)
        assert counts() == before
        assert row(source).text == OLD

    def test_a_cycle_ends(self):
        """B165."""
        first, second = chain(1)
        make_edge(row(first), row(second))
        assert make_memory().correct(first, NEW).blocked == 1


class TestRefused:
    """B140, B150."""

    def test_a_revoked_one(self):
        record_id = remember_one(OLD)
        make_memory().set_consent(record_id, visible=False)
        conflicts(record_id)
        make_memory().set_consent(record_id, visible=True)
        make_memory().correct(record_id, NEW)

    def test_one_that_a_forgetting_holds(self):
        record = make_record(OLD)
        make_tombstone(record, reason="legal_hold", hold=True)
        conflicts(record.id)
        with pytest.raises(Conflict):
            make_memory().remember(Entry(OLD, key=record.key))

    @pytest.mark.parametrize("on", ["record", "source", "scope", "owner", "tenant"])
    def test_one_under_a_legal_hold_is_neither_corrected_nor_overwritten(self, on: str):
        record_id = remember_one(OLD, key="home", source=SourceRef("chat"))
        hold = make_hold(row(record_id), on)
        conflicts(record_id)
        memory = make_memory()
        with pytest.raises(Conflict):
            memory.remember([Entry("b"), Entry(NEW, key="home")])
        assert [item.text for item in memory.list()] == [OLD]
        same = Entry(OLD, key="home", source=SourceRef("chat"))
        assert memory.remember(same).changed == frozenset()
        LegalHold.objects.filter(tenant="acme", id=hold.id).update(released_at=NOON)
        memory.correct(record_id, NEW)

    def test_the_lineage_of_a_held_one_is_not_rewritten(self):
        """B150: it is part of what is kept; the same again is no change."""
        ids = ("message-1", "message-2")
        record_id = remember_one(OLD, key="k", lineage=Lineage(ids))
        make_hold(row(record_id), "owner")
        before = counts()
        for other in (("message-1",), ("message-3",), ids[::-1], ()):
            with pytest.raises(Conflict):
                remember_one(OLD, key="k", lineage=Lineage(other))
        assert remember_one(OLD, key="k", lineage=Lineage(ids)) == record_id
        remember_one("New.", lineage=Lineage(("k",)))
        made = {name: after - before[name] for name, after in counts().items()}
        assert made["prism_memory_lineageedge"] == made["prism_memory_record"] == 1

    @pytest.mark.parametrize("level", ["record", "owner"])
    def test_a_hold_beside_it_does_not_matter(self, level: str):
        other = remember_one("Bob's.", scope=make_scope(owner="bob"))
        make_hold(Record.objects.get(tenant="acme", id=other), level)
        make_memory().correct(remember_one(OLD), NEW)

    @pytest.mark.parametrize("text", ["", " \n\t", "a\0b", "a\ud800b", 5, None, b"x"])
    def test_odd_text_and_nothing_is_changed(self, text: Any):
        """case_C21."""
        record_id = remember_one(OLD)
        before = counts()
        with pytest.raises(Invalid) as refused:
            make_memory().correct(record_id, text)
        assert refused.value.field == "text"
        assert (counts(), row(record_id).version) == (before, 1)

    def test_words_that_are_redacted_to_nothing(self):
        record_id = remember_one(OLD)
        with pytest.raises(Invalid):
            make_memory(redactor=lambda _: "").correct(record_id, NEW)
        assert row(record_id).text == OLD

    @pytest.mark.parametrize(
        "text",
        ["👩‍👩‍👧‍👦", "\u202eabc", "\ufeffx", "tag \U000e0041", "e\u0301", "x" * 16_384],
        ids=["joined", "rtl", "bom", "tags", "decomposed", "long"],
    )
    def test_text_that_can_be_stored_is_verbatim(self, text: str):
        """case_C21."""
        record_id = remember_one(OLD)
        make_memory().correct(record_id, text)
        assert make_memory().get(record_id).text == text

    def test_a_text_over_the_limit(self):
        record_id = remember_one(OLD)
        for memory, length in (
            (make_memory(), 16_385),
            (make_memory(limits={"text_characters": 5}), 6),
        ):
            with pytest.raises(LimitExceeded) as refused:
                memory.correct(record_id, "x" * length)
            assert refused.value.field == "text"
        assert row(record_id).text == OLD

    def test_a_reason_over_its_limit_undoes_all(self):
        first, *_ = chain(1)
        before = counts()
        with pytest.raises(LimitExceeded):
            make_memory().correct(first, NEW, reason="x" * 1_001)
        assert (counts(), row(first).text) == (before, OLD)

    @pytest.mark.django_db(transaction=True)
    def test_an_older_snapshot(self):
        record_id = remember_one(OLD)
        with atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            with pytest.raises(Unsupported):
                make_memory().correct(record_id, NEW)
        assert row(record_id).text == OLD


def conflicts(record_id: uuid.UUID) -> None:
    """Assert that a correction is refused, also to the same words, with no trace."""
    before, text = counts(), row(record_id).text
    for words in (NEW, text):
        with pytest.raises(Conflict):
            make_memory().correct(record_id, words)
    assert (counts(), row(record_id).text) == (before, text)


def make_hold(record: Record, on: str) -> LegalHold:
    owner = record.scope.owner if on in {"scope", "owner"} else ""
    thread = on == "scope"
    refs = {"record": f"record:{record.id}", "source": f"source:{record.source_id}"}
    return LegalHold.objects.create(
        tenant=record.tenant,
        level=on if on in refs else "scope",
        target_ref=refs.get(on, f"scope:{uuid.uuid4()}"),
        owner=owner,
        agent=record.scope.agent if thread else "",
        thread=record.scope.thread if thread else "",
        placed_by="system",
        placed_at=NOON,
    )


class TestTheSameWords:
    def test_they_change_nothing_and_tell_nobody(self):
        first, *_ = chain(1)
        make_memory().remember("x", wait=True)
        before = counts()
        done = make_memory().correct(first, OLD, reason="again")
        assert (done.changed, done.version, done.blocked) == (False, 1, 0)
        assert counts() == before
        assert row(first).changed_at is None
        assert len(make_memory().list()) == 3

    def test_they_are_compared_after_redaction(self):
        record_id = remember_one("the safe is [redacted]")
        memory = make_memory(secrets=["4711"])
        assert not memory.correct(record_id, "the safe is 4711").changed


class TestRememberedAgain:
    """C12: what was corrected does not come back by being remembered again."""

    def test_the_old_words_alone_do_not_undo_a_correction(self):
        memory = make_memory()
        record_id = remember_one(OLD)
        memory.correct(record_id, NEW)
        before = counts()
        with pytest.raises(Conflict) as refused:
            memory.remember(["b", OLD])
        assert refused.value.field == "key"
        assert OLD not in str(refused.value)
        assert counts() == before
        assert [item.text for item in memory.list()] == [NEW]

    def test_they_are_another_record_under_a_key_or_elsewhere(self):
        memory = make_memory()
        memory.correct(remember_one(OLD), NEW)
        remember_one(OLD, key="again")
        remember_one(OLD, scope=make_scope(thread="chat-2"))
        assert sorted(item.text for item in memory.list()) == [OLD, NEW]

    def test_corrected_back_they_are_the_same_record_again(self):
        memory = make_memory()
        record_id = remember_one(OLD)
        memory.correct(record_id, NEW)
        memory.correct(record_id, OLD)
        assert memory.remember(OLD).accepted == (record_id,)

    def test_under_its_key_new_words_replace_it(self):
        memory = make_memory()
        record_id = remember_one(OLD, key="home")
        memory.correct(record_id, NEW)
        memory.remember(Entry("Ada lives in Faro.", key="home"))
        assert row(record_id).version == 3
        assert [item.text for item in memory.list()] == ["Ada lives in Faro."]


class TestTold:
    def test_the_audit_says_who_what_and_why_without_words(self):
        first, *_ = chain(1)
        memory = make_memory(actor=Actor("user:7"))
        memory.correct(first, NEW, reason="asked by phone")
        event = AuditEvent.objects.get(tenant="acme")
        assert (event.actor, event.action) == ("user:7", "memory.correct")
        assert (event.target, event.reason) == (f"record:{first}", "asked by phone")
        assert event.detail == {"version": 2, "blocked": 1}
        stored = repr(AuditEvent.objects.values().get())
        assert "Lisbon" not in stored
        assert "Porto" not in stored

    def test_the_hook_is_told_after_the_tombstones_and_before_the_body(self):
        """B155."""
        first, second = chain(1)
        heard: list[Any] = []

        def invalidated(*, reason: Any, ids: Any, hold: bool, **kwargs: Any) -> None:
            stones = Tombstone.objects.filter(tenant="acme").count()
            heard.append((reason, set(ids), hold, stones, row(first).text))

        signals.invalidated.connect(invalidated)
        try:
            make_memory().correct(first, NEW)
            make_memory().correct(first, OLD)
        finally:
            signals.invalidated.disconnect(invalidated)
        refs = {f"record:{first}", f"record:{second}"}
        told = (TombstoneReason.CORRECTED, refs, False, 2)
        assert heard == [(*told, OLD), (*told, NEW)]

    def test_a_hook_that_fails_keeps_all_as_it_was(self):
        """B146."""

        def invalidated(**kwargs: Any) -> None:
            raise ArithmeticError

        first, *_ = chain(1)
        before = counts()
        signals.invalidated.connect(invalidated)
        try:
            with pytest.raises(ArithmeticError):
                make_memory().correct(first, NEW)
        finally:
            signals.invalidated.disconnect(invalidated)
        assert (counts(), row(first).text) == (before, OLD)

    @pytest.mark.django_db(transaction=True)
    def test_after_the_commit_it_is_announced(self):
        record_id = remember_one(OLD)
        heard: list[Any] = []

        def corrected(*, scope: Any, id: uuid.UUID, **kwargs: Any) -> None:  # noqa: A002
            heard.append((scope, id))

        signals.corrected.connect(corrected)
        try:
            make_memory().correct(record_id, OLD)
            assert heard == []
            with atomic():
                make_memory().correct(record_id, NEW)
                assert heard == []
        finally:
            signals.corrected.disconnect(corrected)
        assert heard == [(make_scope(), record_id)]


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
    def test_another_scopes_record_is_not_corrected(self, beside: dict[str, str]):
        record_id = remember_one(OLD, scope=make_scope(**beside))
        before = counts()
        messages = set()
        for wanted in (record_id, uuid.uuid4()):
            for text in (NEW, OLD):
                with pytest.raises(NotVisible) as refused:
                    make_memory().correct(wanted, text)
                messages.add(str(refused.value))
        assert len(messages) == 1
        assert counts() == before
        assert Record.objects.get(id=record_id).text == OLD

    def test_the_names_decide_not_the_hash(self):
        """A scope's id alone opens nothing."""
        record = make_record(OLD)
        type(record.scope).objects.filter(tenant="acme", id=record.scope_id).update(
            thread="chat-9"
        )
        with pytest.raises(NotVisible):
            make_memory().correct(record.id, NEW)

    def test_an_id_that_is_none_is_refused(self):
        with pytest.raises(Invalid):
            make_memory().correct("nonsense", NEW)

    def test_the_same_content_of_another_owner_is_not_touched(self):
        """case_C14."""
        bob = make_scope(owner="bob")
        theirs = remember_one(OLD, scope=bob)
        make_memory().correct(remember_one(OLD), NEW)
        assert make_memory(bob).get(theirs).text == OLD
