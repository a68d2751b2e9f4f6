"""How a recall may be asked: every option, in one place."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypedDict

from prism_memory.types.authorizations import Authorization
from prism_memory.types.scopes import Scope
from prism_memory.types.scoring import Scoring
from prism_memory.types.vocabulary import Kind, Tier


class Options(TypedDict, total=False):
    """Options of a recall; what is not given takes ``SEARCH_DEFAULTS``, then its own.

    What is narrowed: of each collection, None does not narrow and an empty one lets
    nothing through. All of it holds in every leg, before any limit.

    Args:
        kinds: Only these.
        tiers: Only these.
        namespaces: Only these.
        tags: Only what has one of these among the ``tags`` of its metadata.
        partition: Only this one, matched exactly.
        filter: Conditions on the metadata; see ``prism_memory.db.filters``.
        ids: Only these records; 256 at most (``recall_ids``).
        as_of: Moment that validity is judged by; now when None. Aware.
        known_at: Only what was there and in sight at this moment too; what changed
            since is marked ``changed``. Aware.
        require_consent: Only what was consented to; the memory's when None.
        include_superseded: Validity is not judged. Trust option.
        include_quarantined: What the gate holds back too. Trust option.
        share_from_parent_thread_id: Also what this thread shares with the reader's: its
            name, beside the reader's own, or its whole scope. Trust option. Two queries
            more.
        authorization: As whom restricted documents are read; the memory's when None.
            Trust option. Access is looked at once more before anything is shown: one
            query more.

        legs: ``hybrid`` (vector and text), one of ``vector``, ``text``, ``recency``,
            or a collection of these.
        fusion: ``convex`` mixes scores, ``rrf`` ranks, ``blend`` is cosine and the
            share of the question's words, without what stands around.
        weights: By leg, ``entity`` too, 0 or more; a missing one counts 1. Of
            ``convex``, which takes measured ones when None, and of ``rrf``, where all
            are equal then.
        rrf_k: Rank offset of ``rrf``, above 0; 60 when None.
        blend: Share of the words in ``blend``, 0..1; 0.2 when None.
        candidates: That each leg is asked for, 1..128, rounded up to a power of two;
            never fewer than ``top_k``. By ``top_k`` when None.
        context: Let what stands around a record speak for it. True unless the fusion
            is ``blend`` or text is not asked.
        scoring: Weights of recency and importance beside similarity.
        trust_weighting: Discount what is not first-party. Trust option, on.
        decay_days: Multiply by ``exp(-age / decay_days)``, slower for what was recalled
            often; less than a day counts as one. One query more.
        reranker: Alias of ``RERANKERS``; the setting when None, none when empty.
        diversity: 0..1, the share of relevance in maximal marginal relevance; None, as
            1, chooses by score alone. One query more.
        multi_query: Questions asked in all, this one and variants of it, 1..8.
        hyde: Search also for what is near a made-up answer.
        transformer: Alias of ``TRANSFORMERS``, which makes both; the setting when None.
        expand_hops: Add facts that share an entity with facts that were found: 1, or
            2 for facts that share one with these. 0: none. One query each.
        entity_match: Add facts that speak of what the question names. One query more.

        max_bytes: Of the hits, UTF-8 of words and metadata; the best that fit are
            shown, and ``truncated`` says where more were found. 524,288 at most
            (``result_bytes``); any when None.
        max_tokens: Likewise of the words, characters / 4. 8,000 at most
            (``context_tokens``); any when None.
        message_range: Rows shown before and after each hit, 0..4. One query more.
        explain: Say of each hit why it is where it is. One query more.
        deadline_seconds: Longest the call may take, above 0. A provider is told what is
            left, and nothing interrupts one that overruns it: the call then ends when
            that does.
        cancelled: Asked between steps; True stops there.
        reinforce: Strengthen the hits, later and in the background.
    """

    kinds: Collection[Kind] | None
    tiers: Collection[Tier] | None
    namespaces: Collection[str] | None
    tags: Collection[str] | None
    partition: str | None
    filter: Mapping[str, Any] | None
    ids: Collection[uuid.UUID] | None
    as_of: dt.datetime | None
    known_at: dt.datetime | None
    require_consent: bool | None
    include_superseded: bool
    include_quarantined: bool
    share_from_parent_thread_id: str | Scope | None
    authorization: Authorization | None

    legs: str | Collection[str]
    fusion: str
    weights: Mapping[str, float] | None
    rrf_k: float | None
    blend: float | None
    candidates: int | None
    context: bool | None
    scoring: Scoring | None
    trust_weighting: bool
    decay_days: float | None
    reranker: str | None
    diversity: float | None
    multi_query: int | None
    hyde: bool
    transformer: str | None
    expand_hops: int
    entity_match: bool

    max_bytes: int | None
    max_tokens: int | None
    message_range: int | None
    explain: bool
    deadline_seconds: float | None
    cancelled: Callable[[], bool] | None
    reinforce: bool


TRUST_OPTIONS: Final = frozenset(
    {
        "include_superseded",
        "include_quarantined",
        "trust_weighting",
        "require_consent",
        "share_from_parent_thread_id",
        "authorization",
    }
)
"""What a caller must ask for by name, each time: no default may (B370)."""
