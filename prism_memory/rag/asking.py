"""From a caller's wishes to what recall is asked, all of them checked. No query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from prism_memory.backends.base import unit_vector
from prism_memory.errors import (
    EmbedderMismatch,
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ScopeDenied,
    Unsupported,
)
from prism_memory.recall import RRF_K, Asker, Request
from prism_memory.recall.options import request
from prism_memory.types import Kind, Options, Scope, Vector, check_finite, check_scope

LEXICAL_MODES: Final = ("fts", "bm25", "off")
"""How words are searched: ``fts`` and ``bm25`` name one thing here, full text of
PostgreSQL ranked by BM25; ``off`` leaves words out."""

SCOPES_AT_MOST: Final = 8
RRF_K_AT_MOST: Final = 1_000
"""Source: S0, its caps for one retrieval (B227, B228)."""

UNSAID: Final = "the vector"
"""Stands for a question that came as a vector: no leg reads it."""

PLAIN: Final = Options(
    kinds=[Kind.CHUNK],
    fusion="rrf",
    weights=None,
    context=False,
    scoring=None,
    trust_weighting=False,
    decay_days=None,
    diversity=None,
    multi_query=1,
    hyde=False,
    expand_hops=0,
    entity_match=False,
    message_range=0,
    explain=False,
    reinforce=False,
    tiers=None,
    namespaces=None,
    tags=None,
    partition=None,
    ids=None,
    as_of=None,
    known_at=None,
    max_bytes=None,
    max_tokens=None,
)
"""Ranks and nothing else, whatever is usual for recall: passages stand by their words
and vectors. Bytes and tokens are counted last, of what is still there."""


def asked(
    asker: Asker,
    query: str | None,
    top_k: int | None,
    *,
    scopes: tuple[Scope, ...],
    options: Options,
    vector: Vector | None = None,
) -> Request:
    """Return what recall is asked.

    Args:
        vector: The question, where it came as one; then ``query`` is None.

    Raises:
        Invalid: The question or an option is not acceptable.
        LimitExceeded: One is over its limit.
    """
    options = Options(**{**PLAIN, **options})
    made = request(asker, UNSAID if query is None else query, top_k, options)
    reader = replace(made.reader, scopes=scopes)
    return replace(made, reader=reader, vector=vector)


def legs_of(mode: object) -> str:
    """Return the legs of a retrieval by how words are searched.

    Raises:
        Unsupported: There is no such way (B226).
    """
    check_mode(mode)
    return "vector" if mode == "off" else "hybrid"


def check_mode(mode: object) -> None:
    """Check how words are to be searched.

    Raises:
        Unsupported: There is no such way.
    """
    if mode not in LEXICAL_MODES:
        message = f"Words are searched by one of {', '.join(LEXICAL_MODES)}."
        raise Unsupported(message, field="lexical")


def check_rrf_k(value: float | None) -> float:
    """Return the rank offset, 60 when None.

    Raises:
        Invalid: It is no number above 0.
        LimitExceeded: It is over 1,000.
    """
    if value is None:
        return RRF_K
    if check_finite(value, "rrf_k") <= 0:
        message = "rrf_k must be above 0."
        raise Invalid(message, field="rrf_k")
    if value > RRF_K_AT_MOST:
        message = f"rrf_k must be at most {RRF_K_AT_MOST:,}."
        raise LimitExceeded(message, field="rrf_k")
    return value


def check_scopes(scope: Scope, given: Collection[Scope] | None) -> tuple[Scope, ...]:
    """Return the scopes of a retrieval: the store's own when None.

    Args:
        given: The store's own, or above or below it; none lets nothing through.

    Raises:
        Invalid: It is no collection.
        LimitExceeded: They are more than 8.
        ScopeDenied: One is beside the store's, or no scope.
    """
    if given is None:
        return (scope,)
    wanted: Any = given
    if isinstance(wanted, str | Scope) or not isinstance(wanted, Collection):
        message = "scopes must be a collection of scopes."
        raise Invalid(message, field="scopes")
    if len(wanted) > SCOPES_AT_MOST:
        message = f"A retrieval is of at most {SCOPES_AT_MOST} scopes."
        raise LimitExceeded(message, field="scopes")
    for one in wanted:
        if not (scope.opens(check_scope(one)) or one.opens(scope)):
            message = "The store does not open one of the scopes."
            raise ScopeDenied(message, field="scopes")
    return tuple(dict.fromkeys(wanted))


def check_vector(vector: object, dimensions: int) -> Vector:
    """Return a vector of unit length.

    Raises:
        EmbedderMismatch: It is of another width than the embedder's.
        Invalid: It is no list of finite numbers with a length.
    """
    try:
        wide = len(vector)  # type: ignore[arg-type]
    except TypeError:
        wide = dimensions  # no list: said below
    if wide and wide != dimensions and not isinstance(vector, str | bytes):
        message = f"The vector has {wide} dimensions, not {dimensions}."
        raise EmbedderMismatch(message, field="vector")
    try:
        return unit_vector(vector, "vector", dimensions)
    except ProviderRejected as error:
        raise Invalid(str(error), field="vector") from None
