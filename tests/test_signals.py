"""Signals tell what is true: after the commit, and only then."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction
from django.dispatch import Signal

from prism_memory import signals
from prism_memory.models import Record
from tests.factories import make_memory, make_scope, remember_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nobody_is_woken(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False}


@contextmanager
def heard(signal: Signal) -> Iterator[list[dict[str, Any]]]:
    calls: list[dict[str, Any]] = []

    def note(**kwargs: Any) -> None:
        calls.append({k: v for k, v in kwargs.items() if k not in {"signal", "sender"}})

    signal.connect(note)
    try:
        yield calls
    finally:
        signal.disconnect(note)


def test_remembering_is_told_with_scope_and_ids() -> None:
    with heard(signals.remembered) as calls:
        record_id = remember_one()
    assert calls == [{"scope": make_scope(), "ids": (record_id,)}]


def test_remembering_the_same_again_is_no_news() -> None:
    remember_one()
    with heard(signals.remembered) as calls:
        remember_one()
    assert calls == []


def test_texts_that_wait_are_told_unless_the_caller_waits() -> None:
    with heard(signals.indexing_wanted) as calls:
        remember_one("a")
        remember_one("b", wait=True)
    assert calls == [{"tenant": "acme", "using": "default", "alias": "default"}]


@pytest.mark.parametrize("visible", [True, False])
def test_a_change_of_consent_is_told(visible: bool) -> None:
    record_id = remember_one()
    with heard(signals.consent_changed) as calls:
        make_memory().set_consent(record_id, visible=visible)
    assert calls == [{"scope": make_scope(), "id": record_id, "visible": visible}]


def test_a_change_of_labels_alone_is_no_news() -> None:
    record_id = remember_one()
    with heard(signals.consent_changed) as calls:
        make_memory().set_consent(record_id, label="profile")  # type: ignore[arg-type] # a word
    assert calls == []


def test_nothing_is_told_before_the_commit() -> None:
    with heard(signals.remembered) as calls:
        with transaction.atomic():
            remember_one()
            assert calls == []
        assert len(calls) == 1


def test_what_was_rolled_back_is_never_told() -> None:
    with (
        heard(signals.remembered) as calls,
        heard(signals.indexing_wanted) as wanted,
        transaction.atomic(),
    ):
        remember_one()
        transaction.set_rollback(True)
    assert not Record.objects.exists()
    assert (calls, wanted) == ([], [])


def test_a_receiver_that_fails_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(**kwargs: Any) -> None:
        raise RuntimeError

    signals.remembered.connect(fail)
    try:
        with caplog.at_level(logging.ERROR), heard(signals.remembered) as calls:
            record_id = remember_one()
    finally:
        signals.remembered.disconnect(fail)

    assert len(calls) == 1
    assert Record.objects.filter(tenant="acme", id=record_id).exists()
    assert "fail" in caplog.text
