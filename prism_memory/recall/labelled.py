"""Say of each recalled fact whether it may be relied on."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace

from django.db.models import Q

from prism_memory.access import Reader
from prism_memory.models import FactVersion
from prism_memory.types import Acceptance, Hit, Kind


def facts_of(hits: Sequence[Hit]) -> list[uuid.UUID]:
    """Return the ids of those hits that are facts."""
    return [hit.id for hit in hits if hit.kind is Kind.FACT]


def labelled(*, using: str, reader: Reader, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits, each fact with its acceptance. One query.

    Args:
        hits: What the reader sees. Of a fact as it was known at an earlier moment, the
            acceptance is of that moment.
    """
    found = _acceptances(using, reader, facts_of(hits))
    return tuple(
        replace(hit, acceptance=found[hit.id]) if hit.id in found else hit
        for hit in hits
    )


def _acceptances(
    using: str, reader: Reader, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, Acceptance]:
    held, known_at = Q(recorded_to=None), reader.known_at
    if known_at is not None:
        held |= Q(recorded_to__gt=known_at)
        held &= Q(recorded_from__lte=known_at)
    rows = FactVersion.objects.using(using).filter(
        held, tenant=reader.scope.tenant, fact_id__in=ids
    )
    pairs = rows.values_list("fact_id", "acceptance")
    return {fact_id: Acceptance(word) for fact_id, word in pairs}
