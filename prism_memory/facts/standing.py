"""The facts that a claim meets, as they stand inside its transaction."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg import sql

from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.facts.candidates import COMPARED, LEEWAY, seeing
from prism_memory.facts.conflict import Existing
from prism_memory.integrity import intact
from prism_memory.types import Acceptance, Claim


def standing(
    *,
    using: str,
    reader: Reader,
    claim: Claim,
    words: bytes,
    cosines: Mapping[uuid.UUID, float],
    at: dt.datetime,
) -> tuple[list[Existing], dt.datetime]:
    """Return what a claim meets, and when it begins: the nearest, and the same words.

    One query. Of exactly the reader's scope: neither is anything else returned to who
    repeats it, nor replaced. A claim that says no time begins after what was written
    before it, whatever the clocks say.

    Args:
        words: See ``folded_sha256``.
        cosines: What is near.
        at: The time of writing.
    """
    # Whatever their time and gate, and although nobody consented yet: to who says the
    # same words they tell nothing, and what is near was found as strictly as the reader
    # is.
    here = seeing(replace(reader, strict=False), at, waiting=True)
    given = {
        **here.parameters(),
        "scope_id": reader.scope.id,
        "words": words,
        "near_ids": list(cosines),
        "principal": claim.principal.value,
    }
    statement = sql.SQL(named("conflicts")["standing"]).format(visible=here.condition())
    rows = queries.fetch(using, statement.as_string(None), given)
    shown = {row["id"]: (row["version"], row["text"]) for row in rows}
    whole = intact(using=using, tenant=reader.scope.tenant, shown=shown)
    rows = [row for row in rows if row["id"] in whole]
    if claim.valid_from is None:
        at = max([at, *(_end(row) for row in rows if row["valid_from"] <= at + LEEWAY)])
    return _fewest([_existing(row, claim, cosines, at) for row in rows]), at


def _end(row: Mapping[str, Any]) -> dt.datetime:
    """Return the first moment after a fact began."""
    starts: dt.datetime = row["valid_from"]
    return starts + dt.timedelta(microseconds=1)


def _existing(
    row: Mapping[str, Any],
    claim: Claim,
    cosines: Mapping[uuid.UUID, float],
    at: dt.datetime,
) -> Existing:
    names = ("id", "text", "subject", "predicate", "value", "is_open")
    return Existing(
        **{name: row[name] for name in names},
        # One that the gate has shut meanwhile speaks of nothing but its own words.
        cosine=cosines.get(row["id"]) if row["is_open"] else None,
        acceptance=Acceptance(row["acceptance"]),
        is_of_other_time=_is_of_other_time(row, claim, at),
        starts_later=row["valid_from"] >= (claim.valid_from or at),
    )


def _is_of_other_time(row: Mapping[str, Any], claim: Claim, at: dt.datetime) -> bool:
    if row["valid_to"] != claim.valid_to:
        return True
    if claim.valid_from is None:
        return bool(row["valid_from"] > at)
    return bool(row["valid_from"] != claim.valid_from)


def _fewest(found: Sequence[Existing]) -> list[Existing]:
    """Return the nearest that are compared, and what only its words brought."""
    near = [old for old in found if old.cosine is not None]
    near.sort(key=lambda old: (-(old.cosine or 0.0), old.id))
    return near[:COMPARED] + [old for old in found if old.cosine is None]
