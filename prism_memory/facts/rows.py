"""From rows of the statements about facts to what readers get."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from prism_memory.models.choices import GateState
from prism_memory.types import (
    Acceptance,
    Closing,
    FactChange,
    FactItem,
    Principal,
    Provenance,
    Scope,
    Sensitivity,
    Trust,
)

PLAIN: Final = (
    *("id", "key", "subject", "predicate", "value", "text", "gate", "gate_reason"),
    *("valid_from", "valid_to", "recorded_from", "recorded_to"),
    *("confidence", "importance", "writer", "actor", "reason"),
    *("supersedes", "superseded_by", "pending_supersedes"),
    *("closing_reason", "archived"),
)
WORDS: Final = ("text", "subject", "predicate", "value", "key")
"""The key too: it may be made of the words."""
FORGOTTEN: Final = Closing.FORGOTTEN.value
QUARANTINED: Final = GateState.QUARANTINED.value


def fact_item(
    row: Mapping[str, Any], tenant: str, *, quarantined: bool = False
) -> FactItem:
    """Return a version of a fact.

    The words of a forgotten fact are never among it, those of one that the gate holds
    back now only where the reader asked for such.
    """
    withheld = _withheld(row, quarantined=quarantined)
    shown = dict.fromkeys(WORDS, "") if withheld else {}
    return FactItem(
        **{name: row[name] for name in PLAIN} | shown,
        scope=Scope(
            tenant, owner=row["owner"], agent=row["agent"], thread=row["thread"]
        ),
        acceptance=Acceptance(row["acceptance"]),
        evidence=tuple(row["evidence"]),
        tags=() if withheld else tuple(_listed(row["tags"])),
        provenance=Provenance(row["provenance"]),
        principal=Principal(row["principal"]),
        sensitivity=Sensitivity(row["sensitivity"]),
        trust=Trust(row["trust"]),
        closing=Closing(row["closing"]),
        cause=FactChange(row["cause"]),
        withheld=withheld,
    )


def _withheld(row: Mapping[str, Any], *, quarantined: bool) -> str:
    if row["closing"] == FORGOTTEN:
        return FORGOTTEN
    return QUARANTINED if row["gate_now"] == QUARANTINED and not quarantined else ""


def _listed(tags: Any) -> list[str]:  # noqa: ANN401 - JSON as the driver reads it
    found = json.loads(tags) if isinstance(tags, str) else tags
    return found if isinstance(found, list) else []
