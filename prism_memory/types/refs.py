"""Refs: how lineage, tombstones and shares name a thing.

``record:<uuid>``, or ``ext:<scope uuid>:<id>`` for something outside. In lineage also
``source:<uuid>``: a restricted document whose words what derives from it has outlived.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

RECORD: Final = "record:"

UUID_PATTERN: Final = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

REF_PATTERN: Final = f"^(record:{UUID_PATTERN}|ext:{UUID_PATTERN}:.+)$"
"""As the database checks it: one spelling of each ref, else two would be two things."""

SOURCE: Final = "source:"

LINEAGE_PATTERN: Final = f"^((record|source):{UUID_PATTERN}|ext:{UUID_PATTERN}:.+)$"
"""As ``REF_PATTERN``, of what a record is derived from."""


def record_ref(record_id: uuid.UUID) -> str:
    """Return the ref of a record."""
    return f"{RECORD}{record_id}"


def record_ids(refs: Iterable[str]) -> set[uuid.UUID]:
    """Return the ids of those refs that name records."""
    return {
        uuid.UUID(ref.removeprefix(RECORD)) for ref in refs if ref.startswith(RECORD)
    }


@dataclass(frozen=True)
class AbsenceScore:
    """Whether nothing denied was injected.

    Args:
        score: 1, or 0 where something was.
        found: Refs of what was.
        invariant: It holds or it does not: a 0 is never to be averaged away.
    """

    score: int
    found: tuple[str, ...] = ()
    invariant: bool = True


def revoked_ids_absent(
    injected: Iterable[uuid.UUID | str], denied: Iterable[uuid.UUID | str]
) -> AbsenceScore:
    """Tell whether none of the ``denied`` is among what was ``injected``.

    Args:
        injected: What a prompt was made of: ids of records, or refs.
        denied: What may not be used: as ``Memory.invalidated_ids`` lists it.

    Source: S0 (B168).
    """
    found = {*map(_as_ref, injected)} & {*map(_as_ref, denied)}
    return AbsenceScore(score=0 if found else 1, found=tuple(sorted(found)))


def _as_ref(given: uuid.UUID | str) -> str:
    """Return an id of a record, however it is written, as its ref."""
    try:
        return record_ref(uuid.UUID(str(given).removeprefix(RECORD)))
    except ValueError:
        return str(given)
