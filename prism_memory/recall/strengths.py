"""How strong recalling made records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from prism_memory.access import Reader
from prism_memory.models import Reinforcement


def strengths_of(
    using: str, reader: Reader, ids: Sequence[str]
) -> dict[str, tuple[float, dt.datetime | None]]:
    """Return strength and last recall of those that were ever recalled. One query.

    Args:
        ids: Of records that are in sight.
    """
    rows = Reinforcement.objects.using(using).filter(
        tenant=reader.scope.tenant, record_id__in=ids
    )
    found = rows.values_list("record_id", "strength", "last_recalled_at")
    return {str(record_id): (strength, last) for record_id, strength, last in found}
