"""What a line of an export says of a fact. Pure."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final

from prism_memory.errors import Invalid
from prism_memory.types import RestoredFact, RestoredVersion

LINKS: Final = ("supersedes", "superseded_by", "pending_supersedes")
IDS: Final = (*LINKS, "own_words")
FIELDS: Final = (
    *("key", "subject", "predicate", "value", "confidence", "provenance", "principal"),
    *("sensitivity", "closing", "closed_at", "closing_actor", "closing_reason"),
    *IDS,
    "versions",
)
TIMES: Final = ("valid_from", "valid_to", "recorded_from", "recorded_to")
VERSION: Final = ("acceptance", "gate", *TIMES, "cause", "actor", "reason")
REQUIRED: Final = ("acceptance", "valid_from", "recorded_from")


def restored_fact(fields: Mapping[str, Any]) -> RestoredFact | None:
    """Return the fact whose statement a line is; None where it is none.

    Raises:
        Invalid: It is no fact of this format; the error names the field.
    """
    given = fields.get("fact")
    if (given is None) != (fields["kind"] != "fact"):
        message = "kind fact goes with fact, and nothing else does."
        raise Invalid(message, field="fact")
    if given is None:
        return None
    found = _object(given, "fact", FIELDS)
    fact_id = _id(fields.get("id"), "id")
    if fact_id is None or fields["key"] != str(fact_id):
        message = "The key of a fact's record must be its id."
        raise Invalid(message, field="key")
    found |= {name: _id(found.get(name), f"fact.{name}") for name in IDS}
    found["closed_at"] = time_of(found.get("closed_at"), "fact.closed_at")
    found["versions"] = _versions(found.get("versions"))
    found.setdefault("key", "")
    return RestoredFact(id=fact_id, **found)


def _versions(value: object) -> tuple[RestoredVersion, ...]:
    if not isinstance(value, list):
        message = "fact.versions must be a list."
        raise Invalid(message, field="fact.versions")
    return tuple(_version(one) for one in value)


def _version(value: object) -> RestoredVersion:
    given = _object(value, "fact.versions", VERSION)
    for name in REQUIRED:
        if given.get(name) is None:
            message = f"versions.{name} is missing."
            raise Invalid(message, field=f"versions.{name}")
    times = {name: time_of(given.get(name), f"versions.{name}") for name in TIMES}
    return RestoredVersion(**given | times)


def _object(value: object, name: str, names: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not value.keys() <= set(names):
        message = f"{name} must be an object of {', '.join(names)}."
        raise Invalid(message, field=name)
    return dict(value)


def _id(value: object, name: str) -> uuid.UUID | None:
    if value is None:
        return None
    try:
        return uuid.UUID(value)  # type: ignore[arg-type] # else AttributeError
    except (ValueError, AttributeError, TypeError):
        message = f"{name} must be a UUID."
        raise Invalid(message, field=name) from None


def time_of(value: object, name: str) -> dt.datetime | None:
    """Return a time; one without an offset is refused where it is stored.

    Raises:
        Invalid: It is no time of ISO 8601.
    """
    if value is None:
        return None
    try:
        return dt.datetime.fromisoformat(value)  # type: ignore[arg-type] # else TypeError
    except (TypeError, ValueError):
        message = f"{name} must be a time in ISO 8601, with its offset."
        raise Invalid(message, field=name) from None
