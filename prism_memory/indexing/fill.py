"""Give a space the vectors that it lacks: page by page, as a run that can be resumed.

The place and the vectors of a page are saved in one transaction, so who is killed goes
on after the last whole page. What is written meanwhile has its place in the queue
already, and is left to the drain.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from prism_memory import runs
from prism_memory.db import queries
from prism_memory.db.queries import named, vector_text
from prism_memory.errors import ProviderRejected
from prism_memory.indexing.claims import Queue, count_vectors
from prism_memory.indexing.copies import want
from prism_memory.indexing.drain import Embed, fitting
from prism_memory.indexing.spaces import Space
from prism_memory.models import Run, RunState
from prism_memory.types import NIL, Actor, Vector

KIND = "fill"


@dataclass(frozen=True)
class FilledPage:
    """What one page did.

    Args:
        filled: Vectors written.
        queued: Texts that the embedder refused: the drain tries them again.
        last: Id of the page's last record; None on the last page.
    """

    filled: int = 0
    queued: int = 0
    last: uuid.UUID | None = None


@dataclass(frozen=True)
class Filled:
    """How far a fill is.

    Args:
        filled: Vectors written so far.
        queued: Texts given to the drain.
        total: Records that there were when it began.
        done: Nothing is left.
    """

    filled: int = 0
    queued: int = 0
    total: int = 0
    done: bool = False


def fill(  # noqa: PLR0913 - keywords, three of them optional
    *,
    using: str,
    tenant: str,
    space: Space,
    embed: Embed,
    rows: int,
    actor: Actor,
    now: Callable[[], dt.datetime] = timezone.now,
    max_seconds: float | None = None,
    progress: Callable[[Filled], None] | None = None,
) -> Filled:
    """Embed what a space lacks of a tenant, going on where the last one stopped.

    Calls the embedder, so it must not run inside a transaction.

    Args:
        rows: Records of a page.
        max_seconds: Begin no further page after that.
        progress: Called after each page.

    Raises:
        Conflict: Another process is on it.
        ProviderUnavailable: The run has failed, says why, and can go on.
        Aborted: Likewise.
    """
    run = runs.begin(
        using=using,
        tenant=tenant,
        kind=KIND,
        target=f"space:{space.id}",
        actor=actor,
        at=now(),
    )
    with runs.failing(run, using=using):
        return fill_run(
            run,
            queue=Queue(using, tenant, space),
            embed=embed,
            rows=rows,
            now=now,
            max_seconds=max_seconds,
            progress=progress,
        )


def fill_run(
    run: Run,
    *,
    queue: Queue,
    embed: Embed,
    rows: int,
    now: Callable[[], dt.datetime] = timezone.now,
    max_seconds: float | None = None,
    progress: Callable[[Filled], None] | None = None,
) -> Filled:
    """Work on a run that this process holds, in ``runs.failing``; see ``fill``."""
    using, work = queue.using, _Work(queue, embed, rows, run, now)
    end = None if max_seconds is None else time.monotonic() + max_seconds
    while end is None or time.monotonic() < end:
        last = work.page().last
        if progress:
            progress(work.so_far(done=last is None))
        if last is None:
            runs.finish(run, using=using, state=RunState.DONE, at=now())
            return work.so_far(done=True)
    return work.so_far(done=False)


@dataclass
class _Work:
    """What is the same in all pages of one run."""

    queue: Queue
    embed: Embed
    rows: int
    run: Run
    now: Callable[[], dt.datetime]

    def page(self) -> FilledPage:
        """Fill one page, and note in the same transaction how far it is."""
        after = uuid.UUID(self.run.cursor.get("after", NIL.hex))
        return fill_page(
            queue=self.queue,
            embed=self.embed,
            rows=self.rows,
            after=after,
            noted=self._advance,
        )

    def so_far(self, *, done: bool) -> Filled:
        """Return what the run has counted."""
        counts = self.run.counts
        return Filled(
            counts.get("filled", 0),
            counts.get("queued", 0),
            counts.get("total", 0),
            done=done,
        )

    def _advance(self, page: FilledPage) -> None:
        run = self.run
        last = page.last
        after = run.cursor.get("after", NIL.hex) if last is None else last.hex
        counts = {
            "filled": run.counts.get("filled", 0) + page.filled,
            "queued": run.counts.get("queued", 0) + page.queued,
            "total": run.counts.get("total") or count_records(queue=self.queue),
        }
        runs.advance(
            run,
            using=self.queue.using,
            cursor={"after": after},
            counts=counts,
            at=self.now(),
        )


def fill_page(
    *,
    queue: Queue,
    embed: Embed,
    rows: int,
    after: uuid.UUID = NIL,
    noted: Callable[[FilledPage], None] | None = None,
) -> FilledPage:
    """Embed a page of what a space lacks, in the order of the records' ids.

    Calls the embedder, so it must not run inside a transaction. A text that it refuses
    spoils no other's vector: it is queued.

    Args:
        after: Id of the last record of the page before.
        noted: Called in the transaction that writes the vectors.

    Raises:
        ProviderUnavailable: The embedder is down.
        Aborted: ``embed`` was cancelled.
    """
    given = {**queue.place, "after": after, "rows": rows + 1}
    found = queries.fetch(queue.using, named("indexing")["page_to_fill"], given)
    some = found[:rows]
    vectors = _embedded(partial(fitting, embed, queue.space), some)
    last = some[-1]["record_id"] if len(found) > rows else None
    with transaction.atomic(using=queue.using):
        filled, queued = _write(queue, some, vectors)
        page = FilledPage(filled, queued, last)
        if noted is not None:
            noted(page)
    return page


def count_records(*, queue: Queue) -> int:
    """Return how many records of the tenant have a vector or should. One query."""
    given = {"tenant": queue.tenant}
    (row,) = queries.fetch(queue.using, named("indexing")["count_records"], given)
    return int(row["records"])


def _embedded(
    embed: Callable[[Sequence[str]], Sequence[Vector]], rows: Sequence[dict[str, Any]]
) -> list[Vector | None]:
    """Return a vector a row; halve what is refused until the culprit stands alone."""
    if not rows:
        return []
    try:
        return [*embed([row["text"] for row in rows])]
    except ProviderRejected:
        if len(rows) == 1:
            return [None]
        middle = len(rows) // 2
        return [*_embedded(embed, rows[:middle]), *_embedded(embed, rows[middle:])]


def _write(
    queue: Queue, rows: Sequence[dict[str, Any]], vectors: Sequence[Vector | None]
) -> tuple[int, int]:
    """Write the vectors of a page; return how many, and how many texts were queued."""
    if not rows:
        return 0, 0
    given = {
        **queue.place,
        "record_ids": [row["record_id"] for row in rows],
        "sha256s": [hashlib.sha256(row["text"].encode()).digest() for row in rows],
        "old_sha256s": [row["old_sha256"] for row in rows],
        "vectors": [None if one is None else vector_text(one) for one in vectors],
    }
    written = queries.fetch(queue.using, named("indexing")["fill_vectors"], given)
    ids = [row["record_id"] for row in rows]
    want(using=queue.using, tenant=queue.tenant, space=queue.space, record_ids=ids)
    count_vectors(queue, Counter(row["scope_id"] for row in written if row["added"]))
    refused = {
        row["record_id"] for row, one in zip(rows, vectors, strict=True) if one is None
    }
    queued = sum(row["record_id"] in refused for row in written)
    return len(written) - queued, queued
