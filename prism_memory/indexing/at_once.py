"""Embed some records in the call that wrote them, in each space that is written to."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Collection
from functools import partial

from prism_memory import backends
from prism_memory.errors import EmbedderMismatch, Misconfigured
from prism_memory.indexing.drain import Drained, drain
from prism_memory.indexing.spaces import Space, embedder_of


def embed_now(
    *,
    using: str,
    tenant: str,
    spaces: Collection[Space],
    record_ids: Collection[uuid.UUID],
    batch: int,
    max_seconds: float,
    cancelled: Callable[[], bool] | None = None,
) -> str:
    """Embed these records; return why the active space could not, or nothing.

    Calls the embedders, so it must not run inside a transaction. A space that is being
    built comes first: once it answers, it shall lack nothing that stands in the one
    before it.

    Args:
        spaces: The active one first, as ``live`` gives them.
        max_seconds: In no space a further batch begins after it; half of it is that of
            the space being built.

    Raises:
        Aborted: ``cancelled`` said so; what was not embedded waits.
        Misconfigured: The active space's embedder cannot work.
    """
    active, *building = spaces
    end = time.monotonic() + max_seconds

    def embedded(space: Space, seconds: float) -> Drained:
        embed = partial(
            backends.embed, embedder_of(space), role="passage", cancelled=cancelled
        )
        return drain(
            using=using,
            tenant=tenant,
            space=space,
            embed=embed,
            batch=batch,
            record_ids=record_ids,
            max_seconds=seconds,
        )

    for space in building:
        # What does not answer yet fails no write; whoever builds it is told.
        with contextlib.suppress(EmbedderMismatch, Misconfigured):
            embedded(space, max_seconds / 2)
    return embedded(active, end - time.monotonic()).outage
