"""When a record last changed in its words, its gate or its consent."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest

from prism_memory.lifecycle import set_consent
from prism_memory.models import Record
from prism_memory.types import Actor, ConsentScope, ConsentSource, Entry
from tests.factories import NOON, make_memory, make_scope, remember_one

pytestmark = pytest.mark.django_db


def changed_at(record_id: uuid.UUID) -> dt.datetime | None:
    return Record.objects.get(tenant="acme", id=record_id).changed_at


def again(text: str = "words", **fields: Any) -> None:
    make_memory().remember(Entry(text, key="k", **fields))


def consent(record_id: uuid.UUID, **changes: Any) -> None:
    actor = Actor("ada")
    set_consent(
        using="default",
        scope=make_scope(),
        actor=actor,
        record_id=record_id,
        at=NOON,
        **changes,
    )


@pytest.fixture
def record_id() -> uuid.UUID:
    return remember_one("words", key="k", metadata={"n": 1})


def test_a_new_record_has_not_changed(record_id: uuid.UUID) -> None:
    assert changed_at(record_id) is None


def test_what_leaves_the_words_as_they_are_is_no_change(record_id: uuid.UUID) -> None:
    again(metadata={"n": 1})
    again(metadata={"n": 2}, importance=0.5)
    assert changed_at(record_id) is None


@pytest.mark.parametrize(
    "fields", [{"text": "other words"}, {"lexical_text": "w"}, {"embed_text": "w"}]
)
def test_other_words_are_a_change(record_id: uuid.UUID, fields: dict[str, str]) -> None:
    row = Record.objects.get(tenant="acme", id=record_id)
    again(**fields)
    first = changed_at(record_id)
    assert first is not None
    assert first > row.created_at
    again(**fields, metadata={"n": 3})
    assert changed_at(record_id) == first


def test_what_comes_back_from_retirement_has_changed(record_id: uuid.UUID) -> None:
    """It was not in sight meanwhile."""
    Record.objects.filter(tenant="acme", id=record_id).update(retired_at=NOON)
    again(metadata={"n": 1})
    assert changed_at(record_id) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"visible": False},
        {"source": ConsentSource.AGENT},
        {"label": ConsentScope.PROFILE},
    ],
    ids=str,
)
def test_another_consent_is_a_change(
    record_id: uuid.UUID, changes: dict[str, Any]
) -> None:
    consent(record_id, **changes)
    assert changed_at(record_id) == NOON


def test_the_same_consent_is_none(record_id: uuid.UUID) -> None:
    row = Record.objects.get(tenant="acme", id=record_id)
    same = {"source": ConsentSource(row.consent_source), "visible": True}
    consent(record_id, **same, label=ConsentScope(row.consent_scope))
    assert changed_at(record_id) is None


def test_consent_granted_anew_is_a_change(record_id: uuid.UUID) -> None:
    """What was revoked meanwhile was not in sight."""
    rows = Record.objects.filter(tenant="acme", id=record_id)
    rows.update(visible=False, revoked_at=NOON)
    consent(record_id, visible=True)
    assert changed_at(record_id) == NOON
