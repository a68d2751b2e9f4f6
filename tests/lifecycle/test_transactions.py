"""Remember inside a host's transaction, and what is told after the commit."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from prism_memory import indexing, signals
from prism_memory import memory as memories
from prism_memory.errors import Conflict, Invalid, Unsupported
from prism_memory.models import Embedding, Record
from prism_memory.types import Entry, Lineage
from tests.factories import make_memory, remember_one
from tests.lifecycle.embedders import POISON, Choosy, Down, Slow, embedding_with
from tests.tables import counts

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def told() -> Iterator[list[tuple[str, Any]]]:
    """What the signals said, in order."""
    heard: list[tuple[str, Any]] = []

    def remembered(*, ids: Any, **kwargs: Any) -> None:
        heard.append(("remembered", set(ids)))

    def wanted(*, tenant: str, **kwargs: Any) -> None:
        heard.append(("indexing_wanted", tenant))

    def changed(*, id: uuid.UUID, visible: bool, **kwargs: Any) -> None:  # noqa: A002
        heard.append(("consent_changed", (id, visible)))

    signals.remembered.connect(remembered)
    signals.indexing_wanted.connect(wanted)
    signals.consent_changed.connect(changed)
    yield heard
    signals.remembered.disconnect(remembered)
    signals.indexing_wanted.disconnect(wanted)
    signals.consent_changed.disconnect(changed)


class Rollback(Exception):
    pass


class TestHostTransaction:
    def test_its_rollback_leaves_nothing_and_tells_nobody(self, told):
        """B315."""
        before = counts()
        with transaction.atomic():
            ids = make_memory().remember(["a", "b"]).accepted
            make_memory().set_consent(ids[0], visible=False)
            assert Record.objects.count() == 2
            transaction.set_rollback(True)
        assert counts() == before
        assert told == []

    def test_its_commit_tells_all_in_order(self, told):
        with transaction.atomic():
            first = remember_one("a")
            second = remember_one("b")
            make_memory().set_consent(first, visible=False)
            assert told == []
        assert told == [
            ("remembered", {first}),
            ("indexing_wanted", "acme"),
            ("remembered", {second}),
            ("indexing_wanted", "acme"),
            ("consent_changed", (first, False)),
        ]

    @pytest.mark.parametrize(
        "bad",
        [
            {"text": ""},
            {"text": "a", "key": "held", "consent": {"visible": False}},
            {"text": "a", "lineage": {"source_ids": ["record:nonsense"]}},
        ],
        ids=["before the transaction", "conflict", "lineage"],
    )
    def test_a_failure_undoes_only_itself_and_it_goes_on(self, bad, told):
        """B314."""
        with transaction.atomic():
            first = remember_one("a", key="held")
            with pytest.raises((Invalid, Conflict)):
                make_memory().remember(["lost", bad])
            second = remember_one("b")
        assert {r.text for r in Record.objects.all()} == {"a", "b"}
        assert [ids for what, ids in told if what == "remembered"] == [
            {first},
            {second},
        ]

    def test_a_database_error_undoes_only_itself(self):
        """B314: a savepoint is what keeps the host's transaction alive."""
        with transaction.atomic():
            remember_one("a")

            def fail(execute: Any, sql: str, *rest: Any) -> Any:
                if "INTO prism_memory_embedding " in sql:
                    return execute("SELECT 1/0", None, *rest[1:])
                return execute(sql, *rest)

            with connection.execute_wrapper(fail), pytest.raises(DatabaseError):
                remember_one("lost")
            remember_one("b")
        assert {r.text for r in Record.objects.all()} == {"a", "b"}

    def test_waiting_in_it_is_refused_and_nothing_is_stored(self):
        before = counts()
        with transaction.atomic(), pytest.raises(Unsupported) as refused:
            make_memory().remember("a", wait=True)
        assert refused.value.field == "wait"
        assert counts() == before

    def test_done_cannot_be_waited_for_in_it(self):
        with transaction.atomic():
            remembered = make_memory().remember("a")
            with pytest.raises(Unsupported):
                remembered.done.wait(0.1)
            assert remembered.done.now().pending == set(remembered.accepted)
        assert remembered.done.wait(0).pending == set(remembered.accepted)

    def test_what_is_indexed_already_is_not_waited_for(self):
        make_memory().remember("a", wait=True)
        with transaction.atomic():
            again = make_memory().remember("a")
            assert again.done.wait().indexed == set(again.accepted)


class TestReceivers:
    def test_one_that_fails_changes_nothing(self, told, caplog):
        def broken(**kwargs: Any) -> None:
            message = "receiver"
            raise RuntimeError(message)

        signals.remembered.connect(broken)
        signals.consent_changed.connect(broken)
        try:
            record_id = remember_one("a")
            make_memory().set_consent(record_id, visible=False)
        finally:
            signals.remembered.disconnect(broken)
            signals.consent_changed.disconnect(broken)
        assert Record.objects.get().visible is False
        assert [what for what, _ in told] == [
            "remembered",
            "indexing_wanted",
            "consent_changed",
        ]
        assert "receiver" in caplog.text

    def test_they_see_what_was_committed(self):
        seen: list[str] = []

        def look(*, ids: Any, **kwargs: Any) -> None:
            assert not connection.in_atomic_block
            seen.extend(
                Record.objects.filter(id__in=ids).values_list("text", flat=True)
            )

        signals.remembered.connect(look)
        try:
            remember_one("a")
        finally:
            signals.remembered.disconnect(look)
        assert seen == ["a"]

    def test_nothing_new_tells_nothing(self, told):
        remember_one("a")
        told.clear()
        remember_one("a")
        make_memory().remember([])
        assert told == []

    def test_who_waits_wakes_nobody(self, told):
        make_memory().remember("a", wait=True)
        assert [what for what, _ in told] == ["remembered"]


class TestWaiting:
    """B88, B89."""

    def test_all_are_found_by_vector_when_it_returns(self):
        memory = make_memory()
        remembered = memory.remember([f"word{i}" for i in range(70)], wait=True)
        assert (remembered.pending, remembered.degraded) == (False, "")
        assert remembered.done.now().indexed == set(remembered.accepted)
        assert len(memory.recall("word3", 32, legs="vector")) == 32

    def test_an_outage_keeps_the_records_and_says_why(self):
        with embedding_with(Down):
            remembered = make_memory().remember(
                [f"word{i}" for i in range(40)], wait=True
            )
        assert Record.objects.count() == 40
        assert remembered.pending
        assert remembered.degraded == "Nobody is at home."
        state = remembered.done.now()
        assert state.pending == set(remembered.accepted)
        assert set(state.errors.values()) == {"Nobody is at home."}
        assert make_memory().pending().pending == 40

    def test_waiting_ends_with_its_time_and_the_answer_says_so(self):
        """The time is over within the first batch, so there is no second."""
        Slow.asked.clear()
        with embedding_with(Slow, WAIT_SECONDS=Slow.SECONDS / 2):
            memory = make_memory(limits={"embed_batch": 2})
            remembered = memory.remember(["a", "b", "c", "d", "e"], wait=True)
            state = remembered.done.now()
        assert len(Slow.asked) == 1
        assert remembered.pending
        assert remembered.degraded == memories.OUT_OF_TIME
        assert len(state.indexed) == 2
        assert (len(state.pending), state.errors, state.failed) == (3, {}, {})
        assert not make_memory().remember(["c", "d", "e"], wait=True).pending

    def test_after_an_outage_waiting_again_embeds_them(self):
        with embedding_with(Down):
            make_memory().remember(["word1", "word2"], wait=True)
        Embedding.objects.update(next_try_at="2026-01-01T00:00:00Z")
        assert not make_memory().remember(["word1", "word2"], wait=True).pending
        assert len(make_memory().recall("word1", legs="vector")) == 2

    def test_a_refused_text_is_named_with_its_reason_and_the_rest_is_found(self):
        with embedding_with(Choosy):
            memory = make_memory()
            remembered = memory.remember(["fine", f"a {POISON}", "good"], wait=True)
            fine, bad, good = remembered.accepted
            state = remembered.done.now()
        assert remembered.pending
        assert remembered.degraded == "It tastes bitter."
        assert state.indexed == {fine, good}
        assert state.errors == {bad: "It tastes bitter."}
        assert state.failed == {}

    def test_one_that_was_given_up_is_reported_by_done(self):
        with embedding_with(Choosy, EMBED_ATTEMPTS=1):
            memory = make_memory()
            remembered = memory.remember(["fine", f"a {POISON}"])
            fine, bad = remembered.accepted
            memory.remember("fine", wait=True)
            memory.remember(f"a {POISON}", wait=True)
            state = remembered.done.wait(0.1)
            again = memory.remember(f"a {POISON}", wait=True)
        assert state == indexing.Indexed(frozenset({fine}), {bad: "It tastes bitter."})
        assert not again.pending
        assert again.done.now().failed == {bad: "It tastes bitter."}
        assert memory.pending().failed == 1


def test_lineage_that_fails_late_stores_nothing():
    """B57: the edges are the last thing written."""
    before = counts()
    with pytest.raises(Invalid):
        make_memory().remember(
            ["a", Entry("b", lineage=Lineage(("m", "record:nonsense")))]
        )
    assert counts() == before
