"""Corrections at the same moment as other writers, and cut off in the middle."""

from __future__ import annotations

import threading
import uuid
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory import backends, indexing, lifecycle
from prism_memory.errors import Conflict
from prism_memory.models import AuditEvent, ConsentGrant, Embedding, Record, Tombstone
from prism_memory.types import Actor, Entry, Lineage
from tests.factories import NOON, make_memory, make_scope, remember_one
from tests.lifecycle.test_concurrency import wait_for_a_lock, wait_for_a_waiter
from tests.tables import physical, table_names
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


def drain() -> None:
    embedder = backends.get_embedder()
    space = indexing.find_active(using="default", alias="default")
    assert space is not None
    indexing.drain(
        using="default",
        tenant="acme",
        space=space,
        embed=partial(backends.embed, embedder, role="passage"),
        batch=16,
    )


def correct(record_id: uuid.UUID, text: str) -> bool:
    """Tell whether it was not refused."""
    try:
        make_memory().correct(record_id, text)
    except Conflict:
        return False
    return True


def test_corrections_of_one_record_all_count_and_end_as_one_of_them():
    record_id = remember_one("the first", key="k")
    texts = [f"text {n}" for n in range(12)]
    together([partial(correct, record_id, text) for text in texts])
    record = Record.objects.get()
    assert record.text in texts
    assert record.version == 13
    events = AuditEvent.objects.filter(action="memory.correct").order_by("id")
    assert {event.detail["version"] for event in events} == {*range(2, 14)}
    assert Tombstone.objects.count() == 1


def test_a_correction_and_a_remember_of_the_key_end_as_one_of_them():
    """Its words, its hash and its vector are of one text."""
    for _ in range(5):
        key = str(uuid.uuid4())
        record_id = remember_one("zero", key=key)
        writes = [partial(remember_one, f"said {n} {key}", key=key) for n in range(4)]
        corrections = [
            partial(correct, record_id, f"meant {n} {key}") for n in range(4)
        ]
        together([*writes, *corrections])
        record = Record.objects.get(id=record_id)
        assert record.version == 9
        drain()
        (hit, *_) = make_memory().recall(record.text, legs="vector")
        assert (hit.id, hit.text) == (record_id, record.text)
        assert hit.cosine == pytest.approx(1, abs=0.001)


def test_what_was_written_while_it_waited_is_the_record_that_is_corrected():
    """Metadata that came meanwhile stays, and situates the new words."""
    record_id = remember_one("zero", key="k", metadata={"title": "Old"})
    written = threading.Event()

    def write() -> None:
        with transaction.atomic():
            remember_one("one", key="k", metadata={"title": "Fresh"})
            written.set()
            wait_for_a_waiter()

    def put_right() -> None:
        assert written.wait(60)
        make_memory().correct(record_id, "two")

    together([write, put_right])
    record = Record.objects.get()
    assert (record.text, record.metadata) == ("two", {"title": "Fresh"})
    assert "Fresh" in (record.embed_text or "")
    assert record.version == 3


def test_what_is_derived_meanwhile_is_blocked_too():
    """B145: whichever comes first, none of it is seen."""
    for round_ in range(6):
        root = remember_one("root", key=f"root-{round_}")
        entries = [
            Entry("first", key=f"first-{round_}", lineage=Lineage((f"root-{round_}",))),
            Entry(
                "second", key=f"second-{round_}", lineage=Lineage((f"first-{round_}",))
            ),
        ]
        together(
            [
                partial(make_memory().correct, root, f"put right {round_}"),
                *[partial(make_memory().remember, entry) for entry in entries],
                partial(make_memory().remember, entries),
            ]
        )
        keys = {item.key for item in make_memory().list()}
        assert keys == {f"root-{n}" for n in range(round_ + 1)}


def test_a_derivation_that_is_not_committed_yet_is_not_missed():
    root = remember_one("root", key="root")
    begun = threading.Event()

    def derive() -> None:
        with transaction.atomic():
            remember_one("derived", key="derived", lineage=Lineage(("root",)))
            begun.set()
            wait_for_a_lock()

    def put_right() -> int:
        assert begun.wait(60)
        return make_memory().correct(root, "put right").blocked

    assert together([derive, put_right])[1] == 1
    assert [item.key for item in make_memory().list()] == ["root"]


def test_a_revocation_meanwhile_is_never_undone():
    for _ in range(6):
        record_id = remember_one(str(uuid.uuid4()))
        hide = partial(make_memory().set_consent, record_id, visible=False)
        together([hide, *[partial(correct, record_id, f"text {n}") for n in range(3)]])
        assert Record.objects.get(id=record_id).visible is False
        assert len(make_memory().list()) == 0
        assert not correct(record_id, "late")


def test_what_is_held_is_what_was_there_when_the_hold_was_placed():
    """B150: the hold waits for a correction that began before it, or refuses it."""
    for _ in range(6):
        record_id = remember_one(str(uuid.uuid4()))

        def place(record_id: uuid.UUID = record_id) -> str:
            lifecycle.hold(
                using="default",
                scope=make_scope(),
                actor=Actor(),
                at=NOON,
                record_id=record_id,
            )
            return Record.objects.get(id=record_id).text

        kept, *_ = together(
            [place, *[partial(correct, record_id, f"text {n}") for n in range(3)]]
        )
        assert Record.objects.get(id=record_id).text == kept


def test_a_hold_waits_for_a_remember_that_overwrites():
    """B150: what is held is what was there when the hold was placed."""
    record_id = remember_one("zero", key="k")
    written = threading.Event()

    def overwrite() -> None:
        with transaction.atomic():
            remember_one("one", key="k")
            written.set()
            wait_for_a_waiter()

    def place() -> str:
        assert written.wait(60)
        lifecycle.hold(
            using="default",
            scope=make_scope(),
            actor=Actor(),
            at=NOON,
            record_id=record_id,
        )
        return Record.objects.get(id=record_id).text

    assert together([overwrite, place])[1] == "one"
    with pytest.raises(Conflict):
        remember_one("two", key="k")


def test_revocations_and_grants_at_once_leave_their_history_in_order():
    """The last is the state in force, and each is later than the one before."""
    record_id = remember_one("words")
    wishes = [n % 2 == 0 for n in range(10)]
    together([partial(make_memory().set_consent, record_id, visible=w) for w in wishes])
    found = [*make_memory().consent_history(record_id)]
    assert len(found) == len({decision.at for decision in found}) == 10
    record = Record.objects.get()
    assert found[-1].visible == record.visible
    assert (found[-1].granted_at, found[-1].revoked_at) == (
        record.granted_at,
        record.revoked_at,
    )
    blocked = Tombstone.objects.filter(cleared_at=None).exists()
    assert blocked is not record.visible


def test_writers_of_other_tenants_do_not_wait():
    mine = remember_one("mine")
    other = make_scope(tenant="globex")
    theirs = remember_one("theirs", scope=other)
    with transaction.atomic():
        make_memory().correct(mine, "put right")
        together([partial(make_memory(other).correct, theirs, "put right")])


class Killed(BaseException):
    """As a process that ends."""


class AtStatement:
    """Ends the caller before the n-th statement on the app's tables."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        if "prism_memory" in sql:
            self.left -= 1
            if self.left < 0:
                raise Killed
        return execute(sql, *rest)


def stored() -> dict[str, set[tuple[str, str]]]:
    return {name: physical(name, "acme") for name in table_names() if _tenanted(name)}


def _tenanted(name: str) -> bool:
    return name not in {
        "prism_memory_embeddingspace",
        "prism_memory_tenant",
        "prism_memory_accesskey",
    }


@pytest.mark.parametrize("verb", ["correct", "revoke", "grant", "remember"])
def test_cut_off_before_any_statement_nothing_has_happened(verb: str):
    """B146: and the same call works afterwards."""
    root = remember_one("root", key="root", wait=True)
    remember_one("derived", key="derived", lineage=Lineage(("root",)), wait=True)
    memory = make_memory()
    if verb == "grant":
        memory.set_consent(root, visible=False)
    calls = {
        "correct": partial(memory.correct, root, "put right"),
        "revoke": partial(memory.set_consent, root, visible=False),
        "grant": partial(memory.set_consent, root, visible=True),
        "remember": partial(
            memory.remember,
            {"text": "new", "consent": {}, "lineage": {"source_ids": ["root"]}},
        ),
    }
    before = stored()
    call: Any = calls[verb]
    for number in range(100):
        try:
            with connection.execute_wrapper(AtStatement(number)):
                call()
        except Killed:
            assert stored() == before, number
        else:
            break
    assert number >= 5
    assert stored() != before
    text = {"correct": "put right"}.get(verb, "root")
    assert Record.objects.get(id=root).text == text
    decided = ConsentGrant.objects.count()
    assert decided == {"correct": 0, "revoke": 1, "grant": 2, "remember": 1}[verb]
    assert Embedding.objects.filter(vector=None).count() == (
        1 if verb in {"correct", "remember"} else 0
    )
