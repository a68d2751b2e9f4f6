"""Whatever verb takes a reason refuses what is no text, and does nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from prism_memory.errors import Invalid
from prism_memory.memory import Memory
from prism_memory.types import uuid7
from tests.factories import make_memory, remember_one
from tests.tables import counts

pytestmark = pytest.mark.django_db

VERBS: dict[str, Callable[[Memory, uuid.UUID, Any], object]] = {
    "set_consent": lambda m, i, why: m.set_consent(i, visible=False, reason=why),
    "correct": lambda m, i, why: m.correct(i, "other words", reason=why),
    "forget": lambda m, i, why: m.forget(i, reason=why),
    "forget_thread": lambda m, _, why: m.forget_thread(why),
    "release_forgotten": lambda m, i, why: m.release_forgotten(i, reason=why),
    "hold": lambda m, i, why: m.hold(record=i, reason=why),
    "release": lambda m, i, why: m.release(m.hold(record=i).id, reason=why),
    "share_with": lambda m, i, why: m.share_with("chat-2", [i], reason=why),
    "revoke_share": lambda m, _, why: m.revoke_share("chat-2", reason=why),
    "erase": lambda m, _, why: m.erase(record=uuid7(), reason=why),
    "start_erasure": lambda m, _, why: m.start_erasure(reason=why),
    "start_export": lambda m, _, why: m.start_export(reason=why),
    "delete_export": lambda m, i, why: m.delete_export(i, reason=why),
}


@pytest.mark.parametrize("reason", [["x"], {"x": 1}, 5, None, b"x", "a\0b"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_reason_is_a_text(verb: str, reason: Any) -> None:
    record_id = remember_one()
    memory = make_memory()
    before = counts()
    with pytest.raises(Invalid) as refused:
        VERBS[verb](memory, record_id, reason)
    assert refused.value.field == "reason"
    if verb != "release":  # which has a hold to release
        assert counts() == before
