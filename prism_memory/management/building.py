"""Build a space's index in a command, as a run that the admin shows."""

from __future__ import annotations

from django.utils import timezone

from prism_memory import indexing, runs
from prism_memory.management.command import os_actor
from prism_memory.models.choices import RunState


def build_index(
    *,
    using: str,
    space: indexing.Space,
    m: int | None,
    ef_construction: int | None,
    memory_megabytes: int,
) -> indexing.IndexState:
    """Make the index; see ``indexing.create_index``.

    Raises:
        Conflict: It exists with other parameters, or another process builds it.
    """
    # Before the run: to begin it anew would take it from who builds.
    indexing.refuse_while_built(using=using, space=space)
    run = runs.begin(
        using=using,
        tenant="",
        kind="index",
        target=indexing.index_name(space),
        actor=os_actor(),
        at=timezone.now(),
    )
    with runs.failing(run, using=using):
        state = indexing.create_index(
            using=using,
            space=space,
            m=m,
            ef_construction=ef_construction,
            memory_megabytes=memory_megabytes,
        )
        runs.finish(run, using=using, state=RunState.DONE, at=timezone.now())
    return state
