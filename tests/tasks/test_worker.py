"""A real worker over the real broker (B90, B91)."""

from __future__ import annotations

from collections import Counter

import pytest

from prism_memory.models import Embedding
from tests.factories import make_memory, make_scope, remember
from tests.indexing.conftest import counted, pending
from tests.tasks.conftest import kill, until, worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_remembered_is_embedded_by_a_worker(environment, queue, calls):
    """No sweep runs here: it is the commit that wakes the worker."""
    with worker(environment, queue, pool="prefork"):
        memory = make_memory()
        remembered = memory.remember(["Ada drinks tea.", "Bob plays chess."])
        state = remembered.done.wait(timeout_seconds=60)
        assert state.indexed == set(remembered.accepted)
        (hit, _) = memory.recall("tea", legs="vector").hits
        assert hit.text == "Ada drinks tea."
        assert Counter(calls.texts()) == {"Ada drinks tea.": 1, "Bob plays chess.": 1}


def test_what_a_killed_worker_held_comes_back_and_is_embedded_once(
    environment, queue, calls
):
    """Killed outright in the middle of a batch; the sweep finds what it left."""
    texts = [f"Note {n}." for n in range(12)]
    remember(*texts)
    with worker(environment | {"PRISM_TEST_PAUSE": "60"}, queue) as first:
        held = until(calls.read, "the first batch")[0]["texts"]
        kill(first)
    rows = Embedding.objects.exclude(claimed_until=None)
    assert {row.record.text for row in rows.select_related("record")} == set(held)
    assert pending().pending == 12
    with worker(environment, queue, "-B", "-s", f"{calls.path}-beat"):
        until(lambda: pending().pending == 0, "the vectors")
    assert pending().failed == 0
    assert Counter(calls.texts()) == Counter([*texts, *held])
    tries = Embedding.objects.values_list("record__text", "attempts")
    assert dict(tries) == {text: 1 + (text in held) for text in texts}
    assert counted() == {make_scope().id: 12}
