"""Bodies and queries of ``/erasures``."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from prism_memory.api.fields import Flag, Identifier, StrictInput, Text, WholeInQuery
from prism_memory.errors import Invalid


class EraseInput(StrictInput):
    """What to erase: exactly one of ``memory``, ``source`` and ``everything``."""

    memory = Text(required=False, help_text="A memory's id, of exactly this scope.")
    source = Text(  # type: ignore[assignment] # REST framework has one of its own
        required=False, help_text="A source's key, of exactly this scope."
    )
    everything = Flag(
        required=False,
        help_text="true: the whole scope of the request, with all below it. More than"
        " a thread needs the permission operate too.",
    )
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class PreviewErasureInput(StrictInput):
    """What would be erased: a memory, a source, or else all of the scope."""

    memory = Identifier(required=False, help_text="Of exactly this scope.")
    source = Text(  # type: ignore[assignment] # REST framework has one of its own
        required=False, help_text="A source's key, of exactly this scope."
    )


class ListErasuresInput(StrictInput):
    """The query of the list."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Rows of the page; GET limits tells how many."
    )


def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be erased: one name, or nothing for the whole scope.

    Raises:
        Invalid: None of them, or several: what is left out never means everything.
    """
    named = {name: given[name] for name in ("memory", "source") if name in given}
    if len(named) + bool(given.get("everything")) != 1:
        message = "Give one of memory, source, and everything: true."
        raise Invalid(message, field="everything")
    if "memory" in named:
        return {"record": _id(named["memory"])}
    return named


def _id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        message = "memory must be an id."
        raise Invalid(message, field="memory") from None
