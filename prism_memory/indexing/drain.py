"""Work off the queue of texts that wait for their vectors.

The database is the queue. A claim is a short transaction; the embedder is called
outside any; a vector is written only where the text is still the one embedded. A lost
message, a killed worker or two workers at once cost time, never a vector.
"""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.indexing.spaces import Space
from prism_memory.types import Vector

Embed = Callable[[Sequence[str]], Sequence[Vector]]
"""Embeds passages; unit length, checked. Raises ProviderRejected for what it cannot
embed and ProviderUnavailable when it is down."""

ERROR_CHARACTERS = 500
LONGEST_RETRY_SECONDS = 3_600.0


@dataclass(frozen=True)
class Claimed:
    """A text that this drain holds for a while."""

    record_id: uuid.UUID
    sha256: bytes
    attempts: int
    text: str


@dataclass(frozen=True)
class Drained:
    """What a drain did.

    Args:
        embedded: Vectors written.
        stale: Vectors thrown away, since the text had changed meanwhile.
        failed: Texts that the embedder refused; each waits for its next try.
        outage: Why the drain stopped early, or empty.
    """

    embedded: int = 0
    stale: int = 0
    failed: int = 0
    outage: str = ""

    def __add__(self, other: Drained) -> Drained:
        return Drained(
            self.embedded + other.embedded,
            self.stale + other.stale,
            self.failed + other.failed,
            other.outage or self.outage,
        )


@dataclass
class _Outcome:
    vectors: list[tuple[Claimed, Vector]] = field(default_factory=list)
    refused: list[tuple[Claimed, str]] = field(default_factory=list)
    outage: str = ""


def drain(
    *,
    using: str,
    tenant: str,
    space: Space,
    embed: Embed,
    batch: int,
    record_ids: Collection[uuid.UUID] | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Drained], None] | None = None,
) -> Drained:
    """Embed what waits in ``space`` for one tenant, until nothing is left to claim.

    Calls the embedder, so it must not run inside a transaction.

    Args:
        batch: Texts of one claim.
        record_ids: Only these; all that wait when None.
        max_seconds: Start no further batch after this time.
        progress: Called after each batch with the sum so far.
    """
    started = time.monotonic()
    done = Drained()
    while max_seconds is None or time.monotonic() - started < max_seconds:
        claimed = _claim(using, tenant, space, batch, record_ids)
        if not claimed:
            break
        done += _work(using, tenant, space, embed, claimed)
        if progress:
            progress(done)
        if done.outage:
            return done
    queries.execute(
        using, named("indexing")["give_up"], _place(tenant, space) | _attempts()
    )
    return done


def _place(tenant: str, space: Space) -> dict[str, Any]:
    return {"tenant": tenant, "space_id": space.id}


def _attempts() -> dict[str, Any]:
    return {"attempts": settings.EMBED_ATTEMPTS}


def _claim(
    using: str,
    tenant: str,
    space: Space,
    rows: int,
    record_ids: Collection[uuid.UUID] | None,
) -> list[Claimed]:
    given = {
        **_place(tenant, space),
        **_attempts(),
        "rows": rows,
        "claim_seconds": settings.CLAIM_SECONDS,
        "record_ids": None if record_ids is None else list(record_ids),
    }
    found = queries.fetch(using, named("indexing")["claim"], given)
    return [Claimed(**{**row, "sha256": bytes(row["sha256"])}) for row in found]


def _work(
    using: str, tenant: str, space: Space, embed: Embed, claimed: Sequence[Claimed]
) -> Drained:
    outcome = _Outcome()
    _embed(embed, claimed, outcome)
    written = _write(using, tenant, space, outcome.vectors)
    _put_back(using, tenant, space, claimed, outcome)
    return Drained(
        embedded=written,
        stale=len(outcome.vectors) - written,
        failed=len(outcome.refused),
        outage=outcome.outage,
    )


def _embed(embed: Embed, claimed: Sequence[Claimed], outcome: _Outcome) -> None:
    """Embed a batch; halve it until the text that is refused stands alone."""
    if outcome.outage:
        return
    try:
        vectors = embed([item.text for item in claimed])
    except ProviderUnavailable as error:
        outcome.outage = str(error)
    except ProviderRejected as error:
        if len(claimed) == 1:
            outcome.refused.append((claimed[0], str(error)))
            return
        middle = len(claimed) // 2
        _embed(embed, claimed[:middle], outcome)
        _embed(embed, claimed[middle:], outcome)
    else:
        outcome.vectors.extend(zip(claimed, vectors, strict=True))


def _write(
    using: str, tenant: str, space: Space, vectors: Sequence[tuple[Claimed, Vector]]
) -> int:
    if not vectors:
        return 0
    given = {
        **_place(tenant, space),
        "record_ids": [item.record_id for item, _ in vectors],
        "sha256s": [item.sha256 for item, _ in vectors],
        "vectors": [vector_text(vector) for _, vector in vectors],
    }
    with transaction.atomic(using=using):
        rows = queries.fetch(using, named("indexing")["write_vectors"], given)
        _count(using, tenant, Counter(row["scope_id"] for row in rows))
    return len(rows)


def _count(using: str, tenant: str, added: Counter[uuid.UUID]) -> None:
    if added:
        given = {
            "tenant": tenant,
            "scope_ids": list(added),
            "counts": list(added.values()),
        }
        queries.execute(using, named("indexing")["count_vectors"], given)


def vector_text(vector: Vector) -> str:
    """Return a vector as PostgreSQL reads it."""
    return f"[{','.join(format(value, '.6g') for value in vector)}]"


def _put_back(
    using: str,
    tenant: str,
    space: Space,
    claimed: Sequence[Claimed],
    outcome: _Outcome,
) -> None:
    settled = {item.record_id for item, _ in (*outcome.vectors, *outcome.refused)}
    back = [(item, error, 0) for item, error in outcome.refused] + [
        (item, outcome.outage, 1) for item in claimed if item.record_id not in settled
    ]
    if not back:
        return
    given = {
        **_place(tenant, space),
        **_attempts(),
        "record_ids": [item.record_id for item, _, _ in back],
        "sha256s": [item.sha256 for item, _, _ in back],
        "errors": [error[:ERROR_CHARACTERS] for _, error, _ in back],
        "seconds": [back_off_seconds(item.attempts - f) for item, _, f in back],
        "forgivens": [forgiven for _, _, forgiven in back],
    }
    queries.execute(using, named("indexing")["put_back"], given)


def back_off_seconds(attempts: int) -> float:
    """Return how long to wait after so many tries: doubling, with half of it chance.

    Source: "equal jitter", M. Brooker, Exponential Backoff And Jitter (2015).
    """
    wait = settings.RETRY_SECONDS * 2.0 ** max(0, min(attempts, 32) - 1)
    capped = min(wait, LONGEST_RETRY_SECONDS)
    return capped / 2 + random.uniform(0, capped / 2)  # noqa: S311 - only a delay


def retry_failed(*, using: str, tenant: str, space: Space) -> int:
    """Give texts that were given up all their tries again; return how many."""
    given = _place(tenant, space)
    return queries.execute(using, named("indexing")["retry"], given)
