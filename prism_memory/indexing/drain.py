"""Work off the queue of texts that wait for their vectors.

The database is the queue. A claim is a short transaction; the embedder is called
outside any; a vector is written only where the text is still the one embedded. A lost
message, a killed worker or two workers at once cost time, never a vector.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from prism_memory import signals
from prism_memory.backends import ProviderHung
from prism_memory.errors import (
    Aborted,
    DeadlineExceeded,
    PrismMemoryError,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.indexing import claims, copies
from prism_memory.indexing.claims import Claimed, Queue, Returned
from prism_memory.indexing.settling import settle_sources
from prism_memory.indexing.spaces import Space
from prism_memory.spans import counts, hashed, span
from prism_memory.types import Vector

Embed = Callable[[Sequence[str]], Sequence[Vector]]
"""Embeds passages; unit length, checked. Raises ProviderRejected for what it cannot
embed and ProviderUnavailable when it is down."""


@dataclass(frozen=True)
class Drained:
    """What a drain did.

    Args:
        embedded: Vectors written.
        stale: Vectors thrown away, since the text had changed meanwhile.
        refused: Texts that the embedder refused; each waits for its next try.
        failed: Texts given up: refused, or lost by a worker, as often as it may be.
        outage: Why the drain stopped early, or empty.
        behind: Why the external index was not told all, or empty.
    """

    embedded: int = 0
    stale: int = 0
    refused: int = 0
    failed: int = 0
    outage: str = ""
    behind: str = ""

    def __add__(self, other: Drained) -> Drained:
        return Drained(
            self.embedded + other.embedded,
            self.stale + other.stale,
            self.refused + other.refused,
            self.failed + other.failed,
            other.outage or self.outage,
            other.behind or self.behind,
        )


CHANGED: Final = "Its text changed while it was claimed."


def _at_once(item: Claimed) -> Returned:
    return Returned(item, "", blamed=False, at_once=True)


@dataclass
class _Outcome:
    """What became of a batch; ``rest`` says how what is left goes back."""

    vectors: list[tuple[Claimed, Vector]] = field(default_factory=list)
    refused: list[Returned] = field(default_factory=list)
    outage: str = ""
    rest: Callable[[Claimed], Returned] = _at_once

    def returned(self, claimed: Sequence[Claimed]) -> Iterator[Returned]:
        settled = {item.record_id for item, _ in self.vectors}
        settled.update(back.item.record_id for back in self.refused)
        yield from self.refused
        yield from (self.rest(x) for x in claimed if x.record_id not in settled)


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

    Calls the embedder, and then the external index of vectors, if there is one; so it
    must not run inside a transaction. Whatever the embedder raises, no text stays
    claimed.

    Args:
        batch: Texts of one claim; a text that was tried before is claimed alone.
        record_ids: Only these; all that wait when None.
        max_seconds: Start no further batch after this time.
        progress: Called after each batch with the sum so far.

    Raises:
        Aborted: ``embed`` was cancelled; what it had not done waits again, at once.
        Misconfigured: The embedder cannot work; all waits again, after a pause.
    """
    queue = Queue(using, tenant, space)
    began = time.monotonic()
    end = None if max_seconds is None else began + max_seconds
    # The rest is the copies': a queue that is never empty must not starve them.
    of_texts = None if max_seconds is None else began + copies.rest_of(max_seconds)
    with watched(using, tenant, space) as told:
        for done in _batches(queue, embed, batch, record_ids, of_texts):
            told.done = done
            if progress:
                progress(done)
        if not told.done.outage:
            told.done += Drained(failed=claims.give_up(queue))
        if told.done.embedded:
            settle_sources(queue)
        left = None if end is None else max(0.0, end - time.monotonic())
        copied = copies.copy(using=using, tenant=tenant, space=space, max_seconds=left)
        told.done += Drained(behind=copied.outage)
    return told.done


def _batches(
    queue: Queue,
    embed: Embed,
    batch: int,
    record_ids: Collection[uuid.UUID] | None,
    end: float | None,
) -> Iterator[Drained]:
    """Work, and yield the sum after each batch, until an outage."""
    done = Drained()
    while end is None or time.monotonic() < end:
        claimed = claims.claim(queue, batch, record_ids)
        if not claimed:
            return
        done += _work(queue, embed, claimed)
        yield done
        if done.outage:
            return


@dataclass
class Told:
    """What a drain has done so far."""

    done: Drained = field(default_factory=Drained)


@contextmanager
def watched(using: str, tenant: str, space: Space) -> Iterator[Told]:
    """Tell of a drain, also of one that is cancelled: a span, and the signal."""
    told, started = Told(), time.monotonic()
    where = {"tenant": tenant, "alias": space.alias}
    try:
        with span("drain", lambda: where | {"tenant": hashed(tenant)}) as note:
            try:
                yield told
            finally:
                note(counts(told.done))
    finally:
        signals.drained.send_robust(
            sender=Drained,
            using=using,
            **where,
            done=told.done,
            seconds=time.monotonic() - started,
        )


def _work(queue: Queue, embed: Embed, claimed: Sequence[Claimed]) -> Drained:
    outcome = _Outcome()
    written = 0
    fresh = [item for item in claimed if item.is_of_its_text]
    outcome.refused = [
        Returned(item, CHANGED, blamed=True)
        for item in claimed
        if not item.is_of_its_text
    ]
    try:
        if fresh:
            _embed_or_say_why(partial(fitting, embed, queue.space), fresh, outcome)
    finally:
        written = claims.write(queue, outcome.vectors)
        claims.put_back(queue, list(outcome.returned(claimed)))
    failed = sum(back.is_last for back in outcome.refused)
    return Drained(
        embedded=written,
        stale=len(outcome.vectors) - written,
        refused=len(outcome.refused) - failed,
        failed=failed,
        outage=outcome.outage,
    )


def _embed_or_say_why(
    embed: Embed, claimed: Sequence[Claimed], outcome: _Outcome
) -> None:
    try:
        _embed(embed, claimed, outcome)
    except ProviderUnavailable as error:
        outcome.outage = str(error)
        # As of one that kills its worker: the next time each is tried alone.
        hung = isinstance(error, ProviderHung)
        outcome.rest = partial(Returned, error=str(error), blamed=hung)
    except (Aborted, DeadlineExceeded):
        raise
    except PrismMemoryError as error:
        outcome.rest = partial(Returned, error=str(error), blamed=False)
        raise


def _embed(embed: Embed, claimed: Sequence[Claimed], outcome: _Outcome) -> None:
    """Embed a batch; halve it until the text that is refused stands alone."""
    try:
        vectors = embed([item.text for item in claimed])
    except ProviderRejected as error:
        if len(claimed) == 1:
            outcome.refused.append(Returned(claimed[0], str(error), blamed=True))
            return
        middle = len(claimed) // 2
        _embed(embed, claimed[:middle], outcome)
        _embed(embed, claimed[middle:], outcome)
    else:
        outcome.vectors.extend(zip(claimed, vectors, strict=True))


def fitting(embed: Embed, space: Space, texts: Sequence[str]) -> Sequence[Vector]:
    """Return the vectors of ``texts`` if they may stand in ``space``.

    Raises:
        ProviderRejected: Their number or a width is wrong (B106, B108).
    """
    vectors = embed(texts)
    width = space.identity.dimensions
    if len(vectors) != len(texts):
        message = f"There are {len(vectors)} vectors for {len(texts)} texts."
        raise ProviderRejected(message)
    for vector in vectors:
        if len(vector) != width:
            message = f"A vector has {len(vector)} dimensions, the space has {width}."
            raise ProviderRejected(message)
    return vectors
