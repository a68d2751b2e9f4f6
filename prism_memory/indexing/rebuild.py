"""Embed anew what has a vector: page by page, nothing else is touched.

For a model that changed under its name, or vectors that somebody spoilt. The vectors
that stand answer until theirs is made. What has no vector yet is the drain's.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from prism_memory import runs
from prism_memory.db import queries
from prism_memory.db.queries import named, vector_text
from prism_memory.errors import LimitExceeded
from prism_memory.indexing.claims import Queue
from prism_memory.indexing.copies import want
from prism_memory.indexing.drain import Embed, fitting
from prism_memory.indexing.spaces import Space
from prism_memory.models import Run, RunState
from prism_memory.types import NIL, Actor, Vector

TOO_LATE: Final = "A page took longer than max_ms; go on with a smaller batch_size."


@dataclass(frozen=True)
class RebuiltPage:
    """What one page did.

    Args:
        rebuilt: Vectors made anew. One whose record got other words meanwhile is not
            counted: it waits in the queue.
        last: Id of the page's last record; None on the last page.
    """

    rebuilt: int = 0
    last: uuid.UUID | None = None


@dataclass(frozen=True)
class Rebuilt:
    """How far a rebuild is.

    Args:
        rebuilt: Vectors made anew so far.
        done: Nothing is left.
    """

    rebuilt: int
    done: bool


def rebuild_page(
    *,
    queue: Queue,
    embed: Embed,
    rows: int,
    after: uuid.UUID = NIL,
    scope_id: uuid.UUID | None = None,
    seconds: float | None = None,
    noted: Callable[[RebuiltPage], None] | None = None,
) -> RebuiltPage:
    """Embed a page of records anew, in the order of their ids.

    Calls the embedder, so it must not run inside a transaction.

    Args:
        queue: Of which tenant and space.
        rows: Of the page.
        after: Id of the last record of the page before.
        scope_id: Only this scope's; all of the tenant's when None.
        seconds: For the page; one that is late writes nothing.
        noted: Called in the transaction that writes the vectors.

    Raises:
        LimitExceeded: The page was late.
        ProviderRejected: A vector has another width than the space, or is none.
        ProviderUnavailable: The embedder is down.
        Aborted: ``embed`` was cancelled.
    """
    end = None if seconds is None else time.monotonic() + seconds
    given = {**queue.place, "after": after, "scope_id": scope_id, "rows": rows + 1}
    found = queries.fetch(queue.using, named("indexing")["page_of_texts"], given)
    some = found[:rows]
    texts = [row["text"] for row in some]
    vectors = fitting(embed, queue.space, texts) if texts else ()
    if end is not None and time.monotonic() > end:
        raise LimitExceeded(TOO_LATE, field="max_ms")
    last = some[-1]["record_id"] if len(found) > rows else None
    with transaction.atomic(using=queue.using):
        page = RebuiltPage(_write(queue, some, vectors), last)
        if noted is not None:
            noted(page)
    return page


def rebuild(  # noqa: PLR0913 - keywords, three of them optional
    *,
    using: str,
    tenant: str,
    space: Space,
    embed: Embed,
    rows: int,
    actor: Actor,
    now: Callable[[], dt.datetime] = timezone.now,
    max_seconds: float | None = None,
    anew: bool = False,
) -> Rebuilt:
    """Embed all of a tenant anew, as a run that goes on where the last one stopped.

    Calls the embedder. The run's place is saved with each page's vectors.

    Args:
        max_seconds: Begin no further page after that.
        anew: From the first record on, wherever the last one stopped.

    Raises:
        Conflict: Another process is on it.
        ProviderUnavailable, ProviderRejected: As ``rebuild_page``; the run has failed,
            says why, and can go on.
    """
    run = runs.begin(
        using=using,
        tenant=tenant,
        kind="rebuild",
        target=f"space:{space.id}",
        actor=actor,
        at=now(),
        anew=anew,
    )
    with runs.failing(run, using=using):
        return rebuild_run(
            run,
            queue=Queue(using, tenant, space),
            embed=embed,
            rows=rows,
            now=now,
            max_seconds=max_seconds,
        )


def rebuild_run(
    run: Run,
    *,
    queue: Queue,
    embed: Embed,
    rows: int,
    now: Callable[[], dt.datetime] = timezone.now,
    max_seconds: float | None = None,
) -> Rebuilt:
    """Work on a run that this process holds, in ``runs.failing``; see ``rebuild``."""
    using = queue.using
    end = None if max_seconds is None else time.monotonic() + max_seconds
    while end is None or time.monotonic() < end:
        after = uuid.UUID(run.cursor.get("after", NIL.hex))
        page = rebuild_page(
            queue=queue,
            embed=embed,
            rows=rows,
            after=after,
            noted=partial(_advance, run, using, now),
        )
        if page.last is None:
            runs.finish(run, using=using, state=RunState.DONE, at=now())
            return Rebuilt(run.counts["rebuilt"], done=True)
    return Rebuilt(run.counts.get("rebuilt", 0), done=False)


def _advance(
    run: Run, using: str, now: Callable[[], dt.datetime], page: RebuiltPage
) -> None:
    after = run.cursor.get("after", NIL.hex) if page.last is None else page.last.hex
    rebuilt = run.counts.get("rebuilt", 0) + page.rebuilt
    counts = {"rebuilt": rebuilt}
    runs.advance(run, using=using, cursor={"after": after}, counts=counts, at=now())


def _write(
    queue: Queue, rows: Sequence[dict[str, Any]], vectors: Sequence[Vector]
) -> int:
    if not rows:
        return 0
    given = {
        **queue.place,
        "record_ids": [row["record_id"] for row in rows],
        "sha256s": [hashlib.sha256(row["text"].encode()).digest() for row in rows],
        "old_sha256s": [row["sha256"] for row in rows],
        "vectors": [vector_text(vector) for vector in vectors],
    }
    written = queries.execute(queue.using, named("indexing")["rewrite_vectors"], given)
    ids = [row["record_id"] for row in rows]
    want(using=queue.using, tenant=queue.tenant, space=queue.space, record_ids=ids)
    return written
