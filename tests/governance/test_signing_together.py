"""Signing beside writers, with real commits."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import transaction

from prism_memory.models import Record
from tests.factories import remember_one
from tests.governance.test_content import sign, use
from tests.governance.trail import KEYS, OTHER_KEYS, wrongs
from tests.together import together, wait_for_a_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("before", "rotate", "counts"),
    [
        ({}, False, {"signed": 1, "rotated": 0, "wrong": 0}),
        (KEYS, True, {"signed": 0, "rotated": 1, "wrong": 0}),
    ],
)
def test_a_signer_locks_records_as_writers_lock_them(
    settings: Any, *, before: Any, rotate: bool, counts: dict[str, int]
) -> None:
    """The order of the ids is not that of the keys: else two would wait in a circle."""
    use(settings, INTEGRITY_KEYS=before)
    for key in ("z", "a", "m"):
        remember_one("before", key=key)
    use(settings, INTEGRITY_KEYS=OTHER_KEYS, INTEGRITY_ENFORCED=False)
    begun = threading.Event()

    def write() -> None:
        with transaction.atomic():
            remember_one("after", key="a")
            begun.set()
            wait_for_a_row()
            remember_one("after", key="z")

    def run() -> Any:
        begun.wait(60)
        return sign(rotate=rotate).counts

    # The writer signed what it wrote.
    assert together([write, run])[1] == counts
    assert not wrongs(content=True)
    assert Record.objects.get(key="z").text == "after"
