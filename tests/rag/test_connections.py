"""Whose connections a store closes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory.errors import Conflict
from tests.rag.documents import make_store

pytestmark = pytest.mark.django_db


def in_a_thread(work: Callable[[], Any]) -> Any:
    """Run it where no connection is open yet; close what it left."""
    answers: list[Any] = []

    def run() -> None:
        try:
            answers.append(work())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]


def test_what_the_store_opened_is_closed() -> None:
    """B489: and a closed store opens anew."""

    def work() -> list[bool]:
        states = [connection.connection is not None]
        store = make_store()
        for _ in range(2):
            store.generations()
            states.append(connection.connection is not None)
            store.close()
            store.close()
            states.append(connection.connection is not None)
        with make_store() as store, store.transaction():
            store.generations()
            states.append(connection.connection is not None)
        states.append(connection.connection is not None)
        return states

    assert in_a_thread(work) == [False, True, False, True, False, True, False]


def test_what_the_host_opened_stays() -> None:
    """B489: opened before, or anew since."""

    def work() -> list[bool]:
        connection.ensure_connection()
        with make_store() as store:
            store.generations()
        states = [connection.connection is not None]
        connection.close()
        other = make_store()
        other.generations()
        connection.close()
        connection.ensure_connection()
        other.close()
        return [*states, connection.connection is not None]

    assert in_a_thread(work) == [True, True]


def test_an_open_transaction_is_not_torn() -> None:
    """B489."""

    def work() -> str:
        store = make_store()
        store.generations()
        with transaction.atomic():
            try:
                store.close()
            except Conflict as error:
                return error.code
        return ""

    assert in_a_thread(work) == "conflict"
    assert connection.connection is not None
