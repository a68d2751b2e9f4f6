"""B503: no verb writes a word of what is stored into the audit."""

from __future__ import annotations

import json
import uuid
from functools import partial
from typing import Any

import pytest

from prism_memory.models import AuditEvent, AuditSeal, Run, Tombstone
from prism_memory.types import Entry, SourceRef
from tests.architecture.test_every_statement_names_the_tenant import (
    lifecycle_calls,
    memory_calls,
)
from tests.factories import make_memory
from tests.governance.trail import seal
from tests.kept import undone

pytestmark = pytest.mark.django_db

MARKER = "zanzibar"

KEPT = (AuditEvent, AuditSeal, Tombstone, Run)
"""What outlives a record."""


def remember_marked(place: int) -> uuid.UUID:
    """Remember something that says the marker in every part that holds content."""
    entry = Entry(
        f"The {MARKER} of number {place}.",
        lexical_text=f"{MARKER} words {place}",
        embed_text=f"{MARKER} meaning {place}",
        metadata={MARKER: [MARKER]},
        source=SourceRef("chat", place, uri=f"https://example.org/{MARKER}"),
    )
    (record_id,) = make_memory().remember(entry, wait=True).accepted
    return record_id


DOORS: dict[str, Any] = {
    "memory": partial(memory_calls, make_memory()),
    "lifecycle": lifecycle_calls,
}


@pytest.mark.parametrize("door", DOORS)
def test_no_verb_writes_words_into_what_outlives_them(door: str) -> None:
    """B503: every verb of the door and of the package below it."""
    record_id = remember_marked(1)
    for name in DOORS[door](record_id):
        with undone():
            DOORS[door](record_id)[name]()
            seal(content=True)
            assert MARKER not in kept(), name


def kept() -> str:
    rows = [model.objects.filter(tenant="acme").values() for model in KEPT]
    return json.dumps([list(each) for each in rows], default=repr)


def test_the_look_is_not_blind() -> None:
    AuditEvent.objects.create(
        tenant="acme",
        actor="user:1",
        action="memory.test",
        target="record:1",
        detail={"deep": [{"down": f"a {MARKER}"}]},
        at="2026-01-01T00:00:00Z",
    )
    assert MARKER in kept()
