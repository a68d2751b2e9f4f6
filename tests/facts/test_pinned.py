"""Who derives much from a fact keeps nobody from ending it."""

from __future__ import annotations

import uuid

import pytest

from prism_memory.errors import LimitExceeded
from prism_memory.memory import Memory
from prism_memory.models import Fact, Record
from prism_memory.signals import invalidated
from prism_memory.types import (
    Entry,
    Kind,
    Lineage,
    Origin,
    ReviewAction,
    Trust,
    record_ref,
)
from tests.factories import make_memory, make_scope
from tests.facts.asserted import assert_one

pytestmark = pytest.mark.django_db

MANY = 257
"""One more than what is deleted at once."""


def pin(fact_id: uuid.UUID) -> set[str]:
    """Let an agent derive notes from a fact; return them."""
    agent = Memory(make_scope(), origin=Origin(Trust.AGENT, "bot"))
    lineage = Lineage((record_ref(fact_id),))
    notes = [Entry(f"n{n}", kind=Kind.NOTE, lineage=lineage) for n in range(MANY)]
    done = [
        *agent.remember(notes[:128]).accepted,
        *agent.remember(notes[128:]).accepted,
    ]
    return {record_ref(note) for note in done}


@pytest.mark.parametrize("verb", ["retract", "forget", "reject"])
def test_a_fact_is_ended_however_much_derives_from_it(verb: str) -> None:
    """B417: and the host is told of all that is blocked by it."""
    told: list[str] = []
    fact = assert_one(trust=Trust.TOOL)
    notes = pin(fact.id)
    memory = make_memory()

    def hear(ids: tuple[str, ...], **given: object) -> None:
        told.extend(ids)

    invalidated.connect(hear)
    try:
        if verb == "reject":
            (review,) = memory.facts.reviews()
            memory.facts.decide(review.id, ReviewAction.REJECT)
        else:
            getattr(memory.facts, verb)(fact.id)
    finally:
        invalidated.disconnect(hear)
    assert Fact.objects.get().closing == (
        "forgotten" if verb == "forget" else "retracted"
    )
    assert {*told} == notes | {record_ref(fact.id)}
    assert len(told) == len({*told})
    assert [item.kind for item in memory.list(limit=5)] == ["entry"]


def test_what_is_too_much_to_purge_is_erased() -> None:
    """B417: what deletes as much as others like says what does not."""
    fact = assert_one()
    pin(fact.id)
    memory = make_memory()
    with pytest.raises(LimitExceeded, match="erase") as refused:
        memory.facts.purge(fact.id)
    assert refused.value.field == "lineage"
    memory.erase(record=fact.id)
    assert not Fact.objects.exists()
    assert Record.objects.count() == 1  # what it cited
