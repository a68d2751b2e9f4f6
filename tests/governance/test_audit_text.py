"""B503: no verb writes a word of what is stored into the audit."""

from __future__ import annotations

import json
import uuid
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


def doors() -> list[Any]:
    memory, unknown = make_memory(), uuid.uuid4()
    return [
        *(("memory", name) for name in memory_calls(memory, unknown)),
        *(("lifecycle", name) for name in lifecycle_calls(unknown)),
    ]


def test_no_verb_writes_words_into_what_outlives_them() -> None:
    """B503: every verb of the door and of the package below it."""
    for place, (door, name) in enumerate(doors()):
        record_id = remember_marked(place)
        memory = make_memory()
        calls = (
            memory_calls(memory, record_id)
            if door == "memory"
            else lifecycle_calls(record_id)
        )
        calls[name]()
        seal(content=True)
        assert MARKER not in kept(), name
    assert AuditEvent.objects.filter(tenant="acme").count() > 3


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
