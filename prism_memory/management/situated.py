"""Make what full text and the embedders see anew, in a command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils import timezone

from prism_memory import indexing, lifecycle
from prism_memory.indexing.cure import cure
from prism_memory.indexing.examine import declared, of_catalogue
from prism_memory.indexing.hnsw import reindex
from prism_memory.lifecycle import Resituated
from prism_memory.management.command import os_actor

SEARCH = "prism_memory_record_search"


def situate_anew(
    *, using: str, tenants: Iterable[str], whole: bool = False, anew: bool = False
) -> Resituated:
    """Give the records of these tenants the index texts that the settings ask for."""
    seen = changed = 0
    for tenant in tenants:
        done = lifecycle.resituate(
            using=using,
            tenant=tenant,
            actor=os_actor(),
            at=timezone.now(),
            whole=whole,
            anew=anew,
        )
        seen, changed = seen + done.seen, changed + done.changed
    return Resituated(seen, changed, done=True)


def follow_setting(*, using: str, tenants: Sequence[str], all_of_them: bool) -> int:
    """Do so where SITUATE changed since the texts were indexed; return how many did.

    Args:
        all_of_them: These are all tenants, so that it can be noted.
    """
    if not indexing.is_situated_otherwise(using=using):
        return 0
    done = situate_anew(using=using, tenants=tenants)
    if all_of_them:
        indexing.note_situate(using=using)
    return done.changed


def full_text_anew(
    *, using: str, tenants: Sequence[str], anew: bool = False
) -> Resituated:
    """Make full text anew from what is stored, and its index, without blocking (B290).

    Args:
        anew: Of each tenant from the first record on, wherever an earlier one stopped.

    Raises:
        Unsupported: Inside a transaction.
    """
    done = situate_anew(using=using, tenants=tenants, whole=True, anew=anew)
    lost = [one for one in of_catalogue(using, ()) if one.subject in declared()]
    for finding in lost:
        cure(using=using, finding=finding)
    if SEARCH not in {finding.subject for finding in lost}:
        reindex(using=using, name=SEARCH)
    return done
