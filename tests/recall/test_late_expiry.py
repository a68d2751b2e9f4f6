"""What expires while the question is embedded is over when the answer comes."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Any

import pytest

from prism_memory.access import Reader
from prism_memory.models import ShareGrant
from prism_memory.recall import options
from tests.factories import NOON, make_memory, make_scope, remember_one

pytestmark = pytest.mark.django_db

SLOW = {
    "BACKEND": "tests.embedders.SlowEmbedder",
    "OPTIONS": {"pause_seconds": 0.15},
}
MEANWHILE = NOON + dt.timedelta(milliseconds=50)
MUCH_LATER = NOON + dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _asked_at_noon(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question is asked at noon, and takes 150 milliseconds to embed."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": {"default": SLOW}}
    monkeypatch.setattr(options, "Reader", partial(Reader, at=NOON))


def test_a_record_that_expires_meanwhile_is_not_recalled() -> None:
    remember_one("Ada drinks tea.", expires_at=MEANWHILE)
    kept = remember_one("Ada drinks black tea.", expires_at=MUCH_LATER)
    assert [hit.id for hit in make_memory().recall("tea")] == [kept]
    assert len(make_memory().recall("tea", legs="text")) == 2  # nothing to wait for


@pytest.mark.parametrize(("expires_at", "hits"), [(MEANWHILE, 1), (MUCH_LATER, 2)])
def test_a_share_that_expires_meanwhile_is_over(
    expires_at: dt.datetime, hits: int
) -> None:
    """B176."""
    given = remember_one("Ada drinks tea.")
    remember_one("Tea is drunk.", scope=make_scope(thread="chat-2"))
    make_memory().share_with("chat-2", [given])
    ShareGrant.objects.update(expires_at=expires_at)
    child = make_memory(make_scope(thread="chat-2"))
    found = child.recall("tea", share_from_parent_thread_id="chat-1")
    assert len(found) == hits
