"""Strengthen records for having been recalled. Never part of a read."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Final

from django.db import transaction

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.types import STRENGTH_AT_FIRST, STRENGTH_AT_MOST, STRENGTH_STEP

QUERIES_AT_MOST: Final = 64
"""Different questions that are kept of one record."""


def reinforce(
    *,
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    query_sha256: bytes,
    at: dt.datetime,
) -> tuple[uuid.UUID, ...]:
    """Count one recall of each record, and its question if it is a new one.

    Two queries. N calls at one time count exactly N. Strength grows by 0.1 with each
    recall, up to 2.0; after 64 different questions of a record, no more are noted.

    Args:
        ids: Those that are not there, or are another tenant's, are passed over.
        query_sha256: As a trace holds it, 32 bytes.

    Returns:
        The records that were strengthened.
    """
    if not ids:
        return ()
    given = {
        "tenant": tenant,
        "record_ids": sorted(set(ids)),
        "query_sha256": query_sha256,
        "at": at,
        "first": STRENGTH_AT_FIRST,
        "step": STRENGTH_STEP,
        "most": STRENGTH_AT_MOST,
        "queries": QUERIES_AT_MOST,
    }
    sql = named("reinforce")
    with transaction.atomic(using=using):
        rows = queries.fetch(using, sql["strengthen"], given)
        done = [row["record_id"] for row in rows]
        queries.execute(using, sql["note_query"], {**given, "record_ids": done})
    return tuple(done)
