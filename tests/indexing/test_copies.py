"""B481, B488: an external index holds what PostgreSQL holds, whatever it lost."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_memory import backends, indexing
from prism_memory.governance import erasure
from prism_memory.models import Embedding, Record, VectorCopy
from prism_memory.types import Actor
from tests.factories import NOON, make_memory, make_scope, remember, remember_one
from tests.indexes import WATCHED, WatchedIndex, chosen, watched
from tests.indexing.conftest import drain, space
from tests.tries import examples

pytestmark = pytest.mark.django_db


@pytest.fixture
def index() -> Iterator[WatchedIndex]:
    with chosen(WATCHED):
        yield watched()


def states(tenant: str = "acme") -> dict[str, int]:
    return indexing.count_copies(using="default", tenant=tenant).get("watched", {})


def behind(tenant: str = "acme") -> bool:
    return indexing.is_waiting(using="default", space=space(), tenant=tenant)


def test_without_an_external_index_nothing_is_noted() -> None:
    remember_one(wait=True)

    assert not VectorCopy.objects.exists()
    assert indexing.copy(using="default", tenant="acme", space=space()).copied == 0
    assert indexing.reconcile(using="default", tenant="acme", space=space()) == 0


def test_an_update_that_was_lost_comes_with_the_next(index: WatchedIndex) -> None:
    index.down = True
    (one,) = remember("Tea", wait=True)
    assert (states(), index.held()) == ({"wanted": 1}, set())
    assert drain().behind == "It is down."
    assert behind()

    index.down = False
    assert drain().behind == ""
    assert (states(), index.held(), behind()) == ({"held": 1}, {one}, False)


def test_a_forgotten_record_leaves_the_index(index: WatchedIndex) -> None:
    """B488."""
    one, other = remember("Tea", "Coffee", wait=True)
    make_memory().forget([one])
    assert states() == {"gone": 1, "held": 1}
    assert behind()

    drain()
    assert (states(), index.held()) == ({"held": 1}, {other})


def test_new_words_are_copied_anew(index: WatchedIndex) -> None:
    one = remember_one("Tea", wait=True)
    before = index.vector(one)
    make_memory().correct(one, "Coffee")
    drain()

    row = Embedding.objects.get(tenant="acme", record_id=one)
    assert index.vector(one) == row.vector != before


def test_a_vector_made_anew_is_copied_anew(index: WatchedIndex) -> None:
    one = remember_one("Tea", wait=True)
    index.lose()
    make_memory().rebuild_index()
    assert states() == {"wanted": 1}

    drain()
    assert index.held() == {one}


def test_what_changes_while_it_is_told_is_told_again(index: WatchedIndex) -> None:
    index.meanwhile = lambda: make_memory().rebuild_index()
    one = remember_one("Tea", wait=True)

    copy = VectorCopy.objects.get(tenant="acme", record_id=one)
    assert (copy.state, copy.claimed_until, index.held()) == ("held", None, {one})
    assert copy.version == 2


def test_what_goes_while_it_is_told_is_taken_back(index: WatchedIndex) -> None:
    index.meanwhile = lambda: make_memory().forget(
        list(Record.objects.values_list("id", flat=True))
    )
    remember_one("Tea", wait=True)
    assert states() == {"gone": 1}

    drain()
    assert (states(), index.held()) == ({}, set())


def test_what_another_worker_tells_is_left_to_it(index: WatchedIndex) -> None:
    index.down = True
    remember("Tea", wait=True)
    index.down = False
    VectorCopy.objects.filter(state="wanted").update(claimed_until="2999-01-01T00:00Z")
    assert (drain().behind, index.held(), behind()) == ("", set(), False)

    VectorCopy.objects.filter(state="wanted").update(claimed_until=NOON)
    drain()
    assert len(index.held()) == 1


def test_one_tenant_at_a_time(index: WatchedIndex) -> None:
    index.down = True
    remember("Tea", wait=True)
    remember("Tea", scope=make_scope(tenant="other"), wait=True)
    index.down = False
    drain()

    assert (len(index.held()), index.held("other")) == (1, set())
    assert states("other") == {"wanted": 1}


def test_reconcile_finds_what_nobody_noted(index: WatchedIndex) -> None:
    """Whoever took a vector, or wrote one, by whatever way."""
    one, other = remember("Tea", "Coffee", wait=True)
    Embedding.objects.filter(record_id=one).delete()
    VectorCopy.objects.filter(record_id=other).delete()
    assert indexing.reconcile(using="default", tenant="acme", space=space()) == 2
    assert states() == {"gone": 1, "wanted": 1}

    drain()
    assert (states(), index.held()) == ({"held": 1}, {other})
    assert indexing.reconcile(using="default", tenant="acme", space=space()) == 0


def test_an_index_of_another_name_is_filled_anew(index: WatchedIndex) -> None:
    one = remember_one(wait=True)
    with chosen({**WATCHED, "OPTIONS": {"label": "another"}}):
        drain()
        assert watched().held() == {one}
        forgotten = indexing.forget_index(
            using="default", tenant="acme", index="watched"
        )
    assert forgotten == 2  # and that it was complete
    assert states() == {}


def test_an_erasure_has_it_delete_and_says_so(index: WatchedIndex) -> None:
    """B488."""
    remember("Tea", "Coffee", wait=True)
    scope = make_scope(agent="", thread="")
    done = erasure.erase(using="default", scope=scope, actor=Actor("a"), at=NOON)

    assert done.counts["prism_memory_vectorcopy"] == 2
    assert "copies" not in done.kept
    assert (index.held(), states()) == (set(), {})


def test_an_erasure_says_what_is_still_to_be_deleted(index: WatchedIndex) -> None:
    remember("Tea", "Coffee", wait=True)
    index.down = True
    scope = make_scope(agent="", thread="")
    done = erasure.erase(using="default", scope=scope, actor=Actor("a"), at=NOON)

    assert done.kept["copies"] == 2
    assert len(index.held()) == 2

    index.down = False
    drain()
    assert index.held() == set()


STEPS = st.lists(
    st.sampled_from(["remember", "forget", "correct", "down", "up", "drain"]),
    max_size=12,
)


@settings(max_examples=examples(15))
@given(steps=STEPS)
def test_in_the_end_it_holds_what_postgresql_holds(steps: list[str]) -> None:
    """Against the plain model: the vectors of PostgreSQL themselves."""
    memory = make_memory(make_scope(tenant=f"tenant {uuid.uuid4()}"))
    tenant = memory.scope.tenant
    with chosen(WATCHED):
        index, ids = watched(), list[uuid.UUID]()
        for number, step in enumerate(steps):
            if step == "remember":
                ids += memory.remember(f"text {number}", wait=number % 2 == 0).accepted
            elif step == "forget" and ids:
                memory.forget([ids.pop()])
            elif step == "correct" and ids:
                memory.correct(ids[0], f"other words {number}")
            elif step in ("down", "up"):
                index.down = step == "down"
            elif step == "drain":
                drain(tenant)
        index.down = False
        drain(tenant)
        rows = Embedding.objects.filter(tenant=tenant, vector__isnull=False)
        assert (
            index.held(tenant)
            == set(rows.values_list("record_id", flat=True))
            == {*ids}
        )
        for row in rows:
            assert index.vector(row.record_id) == row.vector
        assert set(states(tenant)) <= {"held"}


def _claims_end() -> None:
    VectorCopy.objects.update(claimed_until=NOON)


def test_what_lands_after_its_claim_ended_does_not_stay(index: WatchedIndex) -> None:
    """B488: the upsert of a worker that was given up, after all was erased and told."""

    def meanwhile() -> None:
        _claims_end()
        make_memory().forget(
            list(Embedding.objects.values_list("record_id", flat=True))
        )
        assert indexing.tell_removed(using="default", tenant="acme").removed == 1
        assert indexing.count_gone(using="default", tenant="acme") == 0

    index.meanwhile = meanwhile
    remember_one("Ada's secret", wait=True)
    assert indexing.count_gone(using="default", tenant="acme") == 1
    drain()
    assert (index.held(), states()) == (set(), {})


def test_an_older_vector_that_lands_late_is_told_again(index: WatchedIndex) -> None:
    def meanwhile() -> None:
        remember_one("Coffee", key="k", wait=True)
        _claims_end()
        indexing.copy(using="default", tenant="acme", space=space())

    index.meanwhile = meanwhile
    one = remember_one("Tea", key="k", wait=True)
    drain()
    stored = Embedding.objects.get(record=one)
    assert states() == {"held": 1}
    assert index.vector(one) == pytest.approx(list(stored.vector), abs=1e-3)


def test_a_late_deletion_takes_nothing_that_came_back(
    index: WatchedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = remember_one("Tea", wait=True)
    real = type(index).delete
    late: list[Any] = []

    def delete(self: WatchedIndex, *given: Any) -> None:
        if not late:
            late.append(given)
            _claims_end()
            row = VectorCopy.objects.filter(record_id=one)
            row.update(state="wanted", version=9)
            indexing.copy(using="default", tenant="acme", space=space())
        real(self, *given)

    monkeypatch.setattr(type(index), "delete", delete)
    VectorCopy.objects.filter(record_id=one).update(state="gone")
    drain()
    assert late
    drain()
    assert (index.held(), states()) == ({one}, {"held": 1})


def test_an_error_of_its_own_is_an_outage(
    index: WatchedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object, **_given: object) -> None:
        raise RuntimeError

    (one,) = remember("Tea", wait=True)
    with monkeypatch.context() as patch:
        patch.setattr(WatchedIndex, "upsert", fails)
        patch.setattr(WatchedIndex, "delete", fails)
        remember_one("Coffee", wait=True)
        assert "RuntimeError" in drain().behind
        make_memory().forget([one])
        assert "RuntimeError" in drain().behind
    assert index.held() == {one}
    assert drain().behind == ""
    assert len(index.held()) == 1
    assert one not in index.held()


def test_a_queue_that_is_never_empty_leaves_time_for_the_copies(
    index: WatchedIndex,
) -> None:
    index.down = True
    remember("Tea", "Coffee", wait=True)
    index.down = False
    clock = [0.0]

    def embed(texts: Any) -> Any:
        clock[0] += 1.0
        remember_one(f"Tea {clock[0]}")
        return backends.embed(backends.get_embedder(), texts, role="passage")

    with mock.patch("time.monotonic", side_effect=lambda: clock[0]):
        done = drain(embed=embed, max_seconds=8.0, batch=1)

    assert done.embedded < 8
    assert len(index.held()) >= 2
