"""Fuse lists outside of a search, with the process's own reranker. Pure: no Django.

A reranker here merges lists by their ranks (S3's word). One that reads the texts, such
as a cross-encoder, is a backend; see ``rerank.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from prism_memory.errors import Invalid
from prism_memory.recall.fusion import check_lists, fuse_rrf
from prism_memory.types import check_count, check_finite, check_text

Lists = Sequence[Sequence[str]]
Fuser = Callable[[str, Lists, int], Sequence[tuple[str, float]]]
"""Of a query, lists of ids and a wanted number: ids and scores, best first. It may be
called by several threads at once."""


def rrf(query: str, lists: Lists, top_k: int) -> list[tuple[str, float]]:
    """Fuse by reciprocal rank, k = 60: the reranker until another is set (B360)."""
    del query  # ranks alone decide
    return fuse_rrf(lists)[:top_k]


_lock = threading.Lock()
_active: Fuser = rrf


def reranker() -> Fuser:
    """Return the active reranker of this process (B365)."""
    with _lock:
        return _active


def set_reranker(reranker: Fuser) -> Fuser:
    """Make ``reranker`` the active one of this process; return the previous one.

    Raises:
        Invalid: It cannot be called.
    """
    global _active  # one for the process is what is asked for
    given: object = reranker
    if not callable(given):
        message = "A reranker must be a function of a query, lists and a number."
        raise Invalid(message, field="reranker")
    with _lock:
        previous, _active = _active, reranker
    return previous


def fuse(query: str, lists: Lists, top_k: int) -> list[tuple[str, float]]:
    """Return the best ids with their scores, best first, by the active reranker (B366).

    Args:
        lists: Ids, best first in each.
        top_k: Most ids returned; 0 gives none, and the reranker is not called.

    Raises:
        Invalid: The query is no text, the lists are none of ids, or the reranker gave
            what is no id of them, one of them twice, or no finite score.
        LimitExceeded: ``top_k`` is no integer of at least 0.
    """
    check_text(query, "query")
    check_count(top_k, "top_k")
    own = tuple(tuple(ids) for ids in check_lists(lists))  # the caller's stay as given
    if top_k == 0:
        return []
    return check_fused(reranker()(query, own, top_k), own)[:top_k]


def check_fused(
    answer: Sequence[tuple[str, float]], lists: Lists
) -> list[tuple[str, float]]:
    """Return what a reranker answered, if it is about the lists it was given.

    Raises:
        Invalid: It is not.
    """
    try:
        fused = [
            (check_text(record_id, "id"), check_finite(score, "score"))
            for record_id, score in answer
        ]
    except (TypeError, ValueError):
        message = "A reranker must return pairs of an id and a score."
        raise Invalid(message, field="reranker") from None
    except Invalid as error:
        message = f"The reranker is wrong: {error}"
        raise Invalid(message, field="reranker") from None
    given = {record_id for ids in lists for record_id in ids}
    told = [record_id for record_id, _ in fused]
    if len({*told}) < len(told) or not given.issuperset(told):
        message = "A reranker must return ids of the lists, each once."
        raise Invalid(message, field="reranker")
    return fused
