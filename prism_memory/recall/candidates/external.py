"""An external index of vectors, as the vector leg asks it. No database here."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from functools import partial

from prism_memory.backends import Place, VectorIndex, get_vector_index, nearest
from prism_memory.conf import settings
from prism_memory.errors import ProviderUnavailable
from prism_memory.recall.candidates.vector import External
from prism_memory.types import Vector


def external_of(*, tenant: str, space_id: int) -> External | None:
    """Return how the index of the setting is asked for one tenant; None without one.

    Raises:
        Misconfigured: It cannot be made.
    """
    index = get_vector_index()
    if index is None:
        return None
    return External(index.name, partial(_nearest, index, Place(tenant, space_id)))


def _nearest(
    index: VectorIndex,
    place: Place,
    scope_ids: Collection[uuid.UUID],
    query: Vector,
    k: int,
    left: float | None,
) -> Sequence[uuid.UUID]:
    most = settings.VECTOR_INDEX_SECONDS
    seconds = most if left is None else min(most, left)
    if seconds <= 0:
        message = "No time is left to ask the external index."
        raise ProviderUnavailable(message)
    return nearest(
        index, place, query, scope_ids=scope_ids, k=k, timeout_seconds=seconds
    )
