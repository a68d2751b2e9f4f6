"""What readers get of rows that were edited behind the app's back: nothing."""

from __future__ import annotations

import logging
import uuid
from functools import partial
from typing import Any

import pytest

from prism_memory import integrity
from prism_memory.errors import Conflict, Misconfigured, NotVisible
from prism_memory.integrity import State
from prism_memory.models import Record
from prism_memory.signals import integrity_broken
from prism_memory.types import Entry, SourceRef
from tests.architecture.test_every_statement_names_the_tenant import (
    lifecycle_calls,
    memory_calls,
)
from tests.capture import captured, tenant_in_every_statement
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.governance.trail import KEYS, OTHER_KEYS, run
from tests.kept import undone

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _keys(settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "INTEGRITY_KEYS": KEYS}


def use(settings: Any, **given: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **given}


def state_of(record_id: uuid.UUID) -> State:
    (state,) = integrity.states(
        using="default", tenant="acme", record_ids=[record_id]
    ).values()
    return state


def edit(record_id: uuid.UUID, change: str) -> None:
    statement = f"UPDATE prism_memory_record SET {change} WHERE id = %(id)s"  # noqa: S608
    assert run(statement, {"id": record_id}) == 1


EDITS = {
    "text": "text = 'Ada drinks gin.'",
    "index text": "lexical_text = 'gin'",
    "embedded text": "embed_text = 'gin'",
    "metadata": 'metadata = \'{"topic": "gin"}\'',
    "trust": "trust = 'system'",
    "writer": "writer = 'mallory'",
    "consent label": "consent_scope = 'profile'",
    "granted": "granted_at = granted_at + interval '1 microsecond'",
    "sequence": "sequence = sequence + 1",
    "importance": "importance = 0.5",
    "version": "version = 2",
    "kind": "kind = 'note'",
    "expiry": "expires_at = '2100-01-01'",
    "no signature": "mac = NULL",
    "another's signature": "mac = sha256('x')",
    "another key": "mac_key = 'k9'",
}


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_an_edited_row_is_shown_to_nobody(change: str) -> None:
    edited = remember_one("Ada drinks tea.", wait=True)
    other = remember_one("Ada drinks tea at noon.", wait=True)
    edit(edited, change)
    memory = make_memory()

    with pytest.raises(NotVisible):
        memory.get(edited)
    assert [item.id for item in memory.list()] == [other]
    found = memory.recall("What does Ada drink?")
    assert [hit.id for hit in found] == [other]
    assert "signatures" in found.degraded
    assert [near.id for near in memory.neighbors("Ada drinks tea.")] == [other]


def test_what_was_not_edited_is_found() -> None:
    record_id = remember_one("Ada drinks tea.", wait=True)
    found = make_memory().recall("What does Ada drink?")
    assert [hit.id for hit in found] == [record_id]
    assert not found.degraded


def test_what_stands_beside_a_hit_is_looked_at_too() -> None:
    entries = [
        Entry(text, source=SourceRef("chat", place))
        for place, text in enumerate(["Before.", "Ada drinks tea.", "After."])
    ]
    before, _, after = make_memory().remember(entries).accepted
    edit(before, "text = 'Forged.'")
    found = make_memory().recall("tea", top_k=1, legs="text", message_range=1)
    assert [item.id for item in found.adjacent] == [after]


def test_a_page_is_full_though_some_are_withheld() -> None:
    ids = remember(*(f"Ada drinks tea {n}." for n in range(12)))
    for record_id in ids[:7]:
        edit(record_id, "text = 'Ada drinks tea, or gin.'")
    memory = make_memory()
    page = memory.list(limit=3)
    assert [item.id for item in page] == ids[7:10]
    page = memory.list(limit=3, cursor=page.next_cursor)
    assert [item.id for item in page] == ids[10:]
    assert page.next_cursor is None
    assert len(memory.recall("tea", top_k=5, legs="text").hits) == 5


def test_a_recall_asks_again_where_most_were_withheld() -> None:
    good = remember_one("Tea with Ada, a long time ago, in a far away place.")
    ids = remember(*(f"tea tea tea {n}" for n in range(40)))
    for record_id in ids:
        edit(record_id, "writer = 'mallory'")
    found = make_memory().recall("tea", top_k=1, legs="text")
    assert [hit.id for hit in found] == [good]


def test_it_is_told_without_a_word_of_what_is_stored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    record_id = remember_one("the secret words")
    edit(record_id, "text = 'the secret gin'")
    told: list[Any] = []

    def listen(**given: Any) -> None:
        told.append((given["tenant"], given["using"], given["states"]))

    integrity_broken.connect(listen)
    try:
        with caplog.at_level(logging.WARNING, "prism_memory"):
            make_memory().recall("secret", legs="text")
    finally:
        integrity_broken.disconnect(listen)
    assert told == [("acme", "default", {record_id: State.CHANGED})]
    assert str(record_id) in caplog.text
    assert "secret" not in caplog.text


def test_what_another_thread_shares_is_looked_at_too() -> None:
    parent = make_memory(make_scope(thread="planning"))
    good, edited = parent.remember(["Tea at noon.", "Tea at nine."]).accepted
    parent.share_with("chat-1", [good, edited])
    edit(edited, "text = 'Gin at nine, with tea.'")
    found = make_memory().recall(
        "tea", legs="text", share_from_parent_thread_id="planning"
    )
    assert [hit.id for hit in found] == [good]


def test_every_statement_names_the_tenant() -> None:
    """B22: those of signatures too."""
    with tenant_in_every_statement("acme") as seen:
        record_id = remember_one("Ada drinks tea.", wait=True)
        memory = make_memory()
        memory.recall("tea", message_range=1)
        memory.list()
        memory.get(record_id)
        memory.set_consent(record_id, visible=True)
        memory.correct(record_id, "Ada drinks coffee.")
        integrity.sign(using="default", tenant="acme", record_ids=[record_id])
    assert [sql for sql, _ in seen.statements if "record.mac" in sql]


def test_when_off_nothing_is_asked_and_nothing_written(settings: Any) -> None:
    use(settings, INTEGRITY_KEYS={})
    with captured() as seen:
        record_id = remember_one("Ada drinks tea.", wait=True)
        memory = make_memory()
        memory.recall("tea", message_range=1)
        memory.list()
        memory.get(record_id)
        memory.set_consent(record_id, visible=False)
    assert not [sql for sql, _ in seen.statements if "record.mac" in sql]
    assert Record.objects.get(tenant="acme").mac is None


def test_the_recall_statement_is_the_same_on_and_off(settings: Any) -> None:
    remember_one("Ada drinks tea.", wait=True)

    def statements() -> list[str]:
        with captured() as seen:
            make_memory().recall("tea")
        return [sql for sql, _ in seen.statements if "ranked AS MATERIALIZED" in sql]

    make_memory().recall("tea")  # what is learnt of the place changes how it is asked
    on = statements()
    use(settings, INTEGRITY_KEYS={})
    assert on == statements()
    assert on


def test_while_signing_readers_get_all(settings: Any) -> None:
    use(settings, INTEGRITY_KEYS={})
    record_id = remember_one("Ada drinks tea.")
    use(settings, INTEGRITY_KEYS=KEYS)
    assert not make_memory().recall("tea", legs="text").hits
    use(settings, INTEGRITY_ENFORCED=False)
    assert [hit.id for hit in make_memory().recall("tea", legs="text")] == [record_id]


def test_keys_that_cannot_be_used_stop_a_read(settings: Any) -> None:
    """What was meant to sign must not be taken for off."""
    remember_one("Ada drinks tea.")
    use(settings, INTEGRITY_KEYS={"k1": "short"})
    with pytest.raises(Misconfigured):
        make_memory().recall("tea", legs="text")
    with pytest.raises(Misconfigured):
        remember_one("More.")


def test_an_old_key_verifies_and_the_new_one_signs(settings: Any) -> None:
    old = remember_one("Ada drinks tea.")
    use(settings, INTEGRITY_KEYS=OTHER_KEYS)
    new = remember_one("Bob drinks tea.")
    assert {hit.id for hit in make_memory().recall("tea", legs="text")} == {old, new}
    keys = Record.objects.filter(tenant="acme").values_list("id", "mac_key")
    assert dict(keys) == {old: "k1", new: "k2"}


class TestWrites:
    def test_a_change_of_consent_keeps_the_signature_true(self) -> None:
        record_id = remember_one()
        make_memory().set_consent(record_id, visible=False)
        assert state_of(record_id) is State.INTACT
        make_memory().set_consent(record_id, visible=True)
        assert state_of(record_id) is State.INTACT

    def test_a_correction_keeps_the_signature_true(self) -> None:
        record_id = remember_one()
        make_memory().correct(record_id, "Ada drinks coffee, not tea.")
        assert state_of(record_id) is State.INTACT
        assert make_memory().get(record_id).text == "Ada drinks coffee, not tea."

    def test_a_new_text_under_the_same_key_is_signed(self) -> None:
        (record_id,) = remember("Tea.", key="drink")
        assert remember("Coffee.", key="drink") == [record_id]
        assert state_of(record_id) is State.INTACT

    def test_a_change_does_not_vouch_for_an_edit(self) -> None:
        """And a revocation must work whatever was edited."""
        record_id = remember_one()
        edit(record_id, "text = 'Ada drinks gin.'")
        make_memory().set_consent(record_id, visible=False)
        assert Record.objects.get(tenant="acme").revoked_at is not None
        assert state_of(record_id) is State.CHANGED
        make_memory().set_consent(record_id, visible=True)
        assert not make_memory().recall("gin", legs="text").hits

    def test_what_was_edited_cannot_be_remembered_over(self) -> None:
        (record_id,) = remember("Tea.", key="drink")
        edit(record_id, "visible = TRUE, consent_source = 'system'")
        with pytest.raises(Conflict):
            remember("Coffee.", key="drink")
        with pytest.raises(Conflict):
            remember("Tea.", key="drink")

    def test_what_has_no_signature_yet_is_signed_when_it_is_changed(
        self, settings: Any
    ) -> None:
        use(settings, INTEGRITY_KEYS={})
        one, other = remember("Tea.", "Coffee.")
        use(settings, INTEGRITY_KEYS=KEYS, INTEGRITY_ENFORCED=False)
        make_memory().set_consent(one, visible=False)
        assert state_of(one) is State.INTACT
        use(settings, INTEGRITY_ENFORCED=True)
        make_memory().set_consent(other, visible=False)
        assert state_of(other) is State.UNSIGNED

    def test_a_transaction_that_fails_leaves_the_old_signature(self) -> None:
        record_id = remember_one()
        with (
            pytest.raises(ZeroDivisionError),
            integrity.carried(using="default", tenant="acme", record_ids=[record_id]),
        ):
            raise ZeroDivisionError
        assert state_of(record_id) is State.INTACT


DOORS: dict[str, Any] = {
    "memory": partial(memory_calls, make_memory()),
    "lifecycle": lifecycle_calls,
}


@pytest.mark.parametrize("door", DOORS)
def test_every_verb_leaves_every_record_signed(door: str) -> None:
    """A verb that changes what is signed, and does not sign, fails here."""
    record_id = remember_one("tea", wait=True)
    for name in DOORS[door](record_id):
        with undone():
            DOORS[door](record_id)[name]()
            check_all_are_signed(name)


def check_all_are_signed(after: str) -> None:
    ids = Record.objects.filter(tenant=make_scope().tenant).values_list("id")
    states = integrity.states(
        using="default", tenant="acme", record_ids=[i for (i,) in ids]
    )
    assert set(states.values()) <= {State.INTACT}, after
