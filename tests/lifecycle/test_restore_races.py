"""Restoring beside writers, with real commits."""

from __future__ import annotations

import threading

import pytest
from django.db import transaction

from prism_memory.governance.restore import Restoring
from prism_memory.models import Record
from prism_memory.types import Actor, Derived, Origin, Restored, Trust
from tests.factories import make_scope, remember_one
from tests.together import together, wait_for_a_row

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_waits_is_linked_in_the_order_in_which_writers_lock() -> None:
    """The order of the ids is not that of the keys: else two would wait in a circle."""
    later = (Derived(key="later"),)
    entries = [
        Restored("old", key="z", derived=later),
        Restored("old", key="a", derived=later),
        Restored("the source", key="later"),
    ]
    origin = Origin(Trust.DOCUMENT, "import")
    restore = Restoring("default", Actor("user:1"), origin)
    assert restore(make_scope(), entries[:2]) == 2
    assert restore(make_scope(), entries[2:]) == 1
    assert Record.objects.filter(gate="quarantined").count() == 2
    begun = threading.Event()

    def write() -> None:
        with transaction.atomic():
            remember_one("new", key="a")
            begun.set()
            wait_for_a_row()
            remember_one("new", key="z")

    def link() -> int:
        begun.wait(60)
        return Restoring("default", Actor("user:1"), origin, links=True)(
            make_scope(), entries
        )

    assert together([write, link])[1] == 2
    assert not Record.objects.filter(gate="quarantined").exists()
    assert Record.objects.filter(text="new").count() == 2
