"""Facts for tests: about Ada, on words that she said, unless said otherwise."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from prism_memory.memory import Memory
from prism_memory.models import FactVersion
from prism_memory.types import Acceptance, Entry, FactItem, Origin, Scope, Trust
from tests.factories import make_memory

USER = Trust.USER
MAY = dt.datetime(2025, 5, 1, tzinfo=dt.UTC)
JUNE = dt.datetime(2025, 6, 1, tzinfo=dt.UTC)
JULY = dt.datetime(2025, 7, 1, tzinfo=dt.UTC)


def said(
    text: str = "I live in Porto now.",
    trust: Trust = USER,
    scope: Scope | None = None,
    **fields: Any,
) -> uuid.UUID:
    """Remember words of somebody of this trust; return their record."""
    memory = make_memory(scope, origin=Origin(trust, str(trust)))
    (record_id,) = memory.remember(Entry(text, **fields)).accepted
    return record_id


def assert_one(
    value: str = "Porto",
    *,
    memory: Memory | None = None,
    trust: Trust = USER,
    **given: Any,
) -> FactItem:
    """Assert where Ada lives, on words of somebody of this trust."""
    memory = memory or make_memory()
    given.setdefault("valid_from", MAY)
    if "evidence" not in given:
        words = f"{trust} words: {value} {uuid.uuid4()}"
        given["evidence"] = [said(words, trust, memory.scope)]
    return memory.facts.assert_fact("Ada", "lives in", value, **given)


def supersede_one(old: Any, value: str = "Lisbon", **given: Any) -> FactItem:
    """Let Ada live elsewhere from June on."""
    memory = given.pop("memory", None) or make_memory()
    trust = given.pop("trust", USER)
    given.setdefault("valid_from", JUNE)
    if "evidence" not in given:
        given["evidence"] = [said(f"{trust}: {value} {uuid.uuid4()}", trust)]
    which = old.id if isinstance(old, FactItem) else old
    return memory.facts.supersede(which, "Ada", "lives in", value, **given)


def values(page: Any) -> list[str]:
    """Return what facts say, in their order."""
    return [fact.value for fact in page]


def versions(fact_id: uuid.UUID) -> list[FactVersion]:
    """Return all versions of a fact, the oldest first."""
    return [*FactVersion.objects.filter(fact_id=fact_id).order_by("recorded_from")]


ACCEPTED = Acceptance.ACCEPTED
