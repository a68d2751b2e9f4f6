"""The other places where a document says what one of its chunks says.

What is taken out at one place goes at each of them, in every generation, and is known
by its words where the document says them again later (C12).
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.types import record_ref, words_id


def same_words(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, str]:
    """Return the chunks that say what some of ``ids`` say, these too, with their keys.

    One query.
    """
    given = {"tenant": tenant, "record_ids": list(ids)}
    rows = queries.fetch(using, named("removal")["same_words"], given)
    return {row["id"]: row["key"] for row in rows}


def marks_of_words(
    *, tenant: str, same: Mapping[uuid.UUID, str], going: Collection[uuid.UUID]
) -> list[tuple[str, str]]:
    """Return refs of words that are taken out, each with the chunk that they were in.

    Args:
        same: As from ``same_words``.
        going: Which of them go.
    """
    words = {words_id(tenant, same[one]): one for one in sorted(same) if one in going}
    return [
        (record_ref(stands_for), record_ref(one))
        for stands_for, one in words.items()
        if stands_for not in same
    ]
