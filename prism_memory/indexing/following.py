"""Follow the settings by ourselves, where ``EMBEDDER_CHANGED`` says so (B485)."""

from __future__ import annotations

import datetime as dt

from prism_memory.conf import settings
from prism_memory.errors import Conflict, EmbedderMismatch, Misconfigured
from prism_memory.indexing.building import build_space
from prism_memory.indexing.hnsw import create_index, index_state
from prism_memory.indexing.recount import recount
from prism_memory.indexing.spaces import Space, embedder_of, find_active
from prism_memory.indexing.switch import refuse_lacking, switch_space
from prism_memory.indexing.tenants import tenants
from prism_memory.types import Actor


def follow_embedders(*, using: str, actor: Actor, at: dt.datetime) -> list[Space]:
    """Build a space for each alias whose own entry changed, and switch to whole ones.

    What the spaces lack is filled by others, meanwhile. Makes the index where the old
    space has one, so it must not run inside a transaction.

    Returns:
        The spaces that were switched to.
    """
    if settings.EMBEDDER_CHANGED != "rebuild":
        return []
    found = (_followed(using, alias, actor, at) for alias in settings.EMBEDDERS)
    return [space for space in found if space is not None]


def _followed(using: str, alias: str, actor: Actor, at: dt.datetime) -> Space | None:
    active = find_active(using=using, alias=alias)
    if active is None or not _is_another(active):
        return None
    try:
        space = build_space(using=using, alias=alias, backend=alias, actor=actor, at=at)
        refuse_lacking(using=using, space=active, other=space, index=False)
        if active.indexed and not index_state(using=using, space=space).valid:
            create_index(using=using, space=space)
        switched = switch_space(using=using, alias=alias, actor=actor, at=at)
    except Conflict:
        return None  # it is not whole yet, or a person builds another
    for tenant in tenants(using=using):
        recount(using=using, tenant=tenant, space=switched)
    return switched


def _is_another(space: Space) -> bool:
    try:
        embedder_of(space)
    except EmbedderMismatch:
        return True
    except Misconfigured:
        return False  # a check says so
    return False
