"""Ask two spaces the same questions before one takes the other's place."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from prism_memory import backends
from prism_memory.db import queries
from prism_memory.db.queries import named, vector_text
from prism_memory.indexing.agreement import Agreement, agreed
from prism_memory.indexing.spaces import Space, embedder_of
from prism_memory.types import Vector

WORDS: Final = 6
"""Of a sampled question: what people type into a search box."""


def compare_spaces(
    *,
    using: str,
    tenant: str,
    spaces: tuple[Space, Space],
    questions: Sequence[str] | None = None,
    samples: int = 20,
    top_k: int = 10,
) -> Agreement | None:
    """Return how far two spaces agree on a tenant's largest scope.

    Calls both embedders, so it must not run inside a transaction. Two queries, and two
    exact scans a question. What they found is compared by ids and shown to nobody.

    Args:
        questions: What is asked; runs of words from stored texts when None.
        samples: How many of those.

    Returns:
        None where the tenant has no vectors, or no questions.
    """
    found = queries.fetch(
        using, named("indexing")["largest_scopes"], {"tenant": tenant, "rows": 1}
    )
    if not found:
        return None
    place = {"tenant": tenant, "scope_id": found[0]["id"]}
    asked = [*questions] if questions is not None else _sampled(using, place, samples)
    if not asked:
        return None
    answers = [_answers(using, place, space, asked, top_k) for space in spaces]
    return agreed([*zip(*answers, strict=True)], top_k=top_k)


def _sampled(using: str, place: dict[str, Any], samples: int) -> list[str]:
    given = {**place, "rows": samples}
    rows = queries.fetch(using, named("indexing")["sampled_texts"], given)
    return [words for row in rows if (words := middle_words(row["text"]))]


def middle_words(text: str) -> str:
    """Return a few words from the middle of a text: its beginning is often alike."""
    words = text.split()
    start = max(0, (len(words) - WORDS) // 2)
    return " ".join(words[start : start + WORDS])[:200]


def _answers(
    using: str,
    place: dict[str, Any],
    space: Space,
    questions: Sequence[str],
    top_k: int,
) -> list[list[uuid.UUID]]:
    vectors = backends.embed(embedder_of(space), questions, role="query")
    near = partial(_nearest, using, {**place, "space_id": space.id, "rows": top_k})
    return [near(vector) for vector in vectors]


def _nearest(using: str, given: dict[str, Any], vector: Vector) -> list[uuid.UUID]:
    asked = {**given, "vector": vector_text(vector)}
    rows = queries.fetch(using, named("indexing")["nearest_ids"], asked)
    return [row["record_id"] for row in rows]
