"""What recalls leave behind, written outside the read (B80, B431).

Best effort: a recall never waits for it and never fails with it. A trace is written
once however often its message comes. A message to strengthen is taken off the broker
before the work begins, so that it never counts twice; a worker that is killed in the
middle loses it.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.conf import settings
from prism_memory.tasks.base import RETRYING, task
from prism_memory.tasks.sending import Message, sender
from prism_memory.types import JSON, Trace


# Written once however often it comes, and nobody sends it again: so at once.
@task("trace", reject_on_worker_lost=True, **RETRYING)
def keep_trace(*, using: str, trace: JSON, **kwargs: Any) -> None:
    """Keep what was recalled."""
    lifecycle.write_trace(using=using, trace=Trace.from_json(trace))


@task("reinforce", acks_late=False)
def reinforce(
    *,
    using: str,
    tenant: str,
    ids: Sequence[str],
    query_sha256: str,
    at: str,
    **kwargs: Any,
) -> None:
    """Strengthen the records that were recalled (B430)."""
    lifecycle.reinforce(
        using=using,
        tenant=tenant,
        ids=[uuid.UUID(record_id) for record_id in ids],
        query_sha256=bytes.fromhex(query_sha256),
        at=dt.datetime.fromisoformat(at),
    )


@task("prune_traces", **RETRYING)
def prune_traces(*, using: str, tenant: str, **kwargs: Any) -> None:
    """Remove the traces of one tenant whose time is over."""
    lifecycle.prune_traces(
        using=using, tenants=[tenant], at=timezone.now(), days=settings.TRACE_DAYS
    )


def on_trace_wanted(
    *, using: str, trace: Trace, keep: bool, reinforce: bool, **kwargs: Any
) -> None:
    """Have it written in the background; with eager Celery, after the host's commit.

    Nothing is ever written inside a transaction of the host: that may be read-only,
    and a failure there would be the host's.
    """
    for message in messages(using, trace, keep=keep, strengthen=reinforce):
        if current_app.conf.task_always_eager:
            run = partial(message.task.apply, kwargs=dict(message.kwargs))
            transaction.on_commit(run, using=using, robust=True)
        else:
            sender.post(message)


def messages(
    using: str, trace: Trace, *, keep: bool, strengthen: bool
) -> Iterator[Message]:
    """Yield what is to be sent of a recall: ids, hashes and numbers, no text."""
    found = trace.to_json()
    if keep:
        given = {"using": using, "trace": found}
        yield Message(keep_trace, given, key=("trace", trace.id), is_note=True)
    if strengthen and trace.hits:
        given = {
            "using": using,
            "tenant": trace.scope.tenant,
            "ids": [hit["id"] for hit in trace.hits],
            "query_sha256": found["query_sha256"],
            "at": found["at"],
        }
        yield Message(reinforce, given, key=("reinforce", trace.id), is_note=True)
