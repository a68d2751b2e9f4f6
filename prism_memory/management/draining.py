"""Work off the queue in a command, with progress."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils import timezone

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.management.progress import Progress, Stream


@dataclass(frozen=True)
class Worked:
    """What a drain did, and what of its tenants others hold after it."""

    done: indexing.Drained
    held: int = 0
    held_until: dt.datetime | None = None

    @property
    def came_to_nothing(self) -> bool:
        """Whether there was something to do, and none of it could be done."""
        left = self.done.refused + self.done.failed + self.held
        return bool(left) and not self.done.embedded

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "embedded": self.done.embedded,
            "stale": self.done.stale,
            "refused": self.done.refused,
            "failed": self.done.failed,
            "held": self.held,
            "held_until": self.held_until,
            "outage": self.done.outage,
        }

    def lines(self) -> list[str]:
        """Return it for people."""
        said = [_counted(self.done)]
        if self.held_until:
            until = timezone.localtime(self.held_until)
            verb = "is" if self.held == 1 else "are"
            said.append(
                f"{self.held:,} {verb} held by another worker until {until:%H:%M:%S}"
            )
        return said


def drain_tenants(
    *,
    using: str,
    alias: str | None,
    tenants: Iterable[str] | None,
    stream: Stream,
    silent: bool,
) -> Worked:
    """Embed what waits, one tenant after the other, until an outage.

    Calls the embedder.

    Args:
        alias: The embedder's; the setting when None.
        tenants: These; all that have something to embed when None.

    Raises:
        Misconfigured: No such embedder.
        EmbedderMismatch: The stored vectors are another embedder's.
    """
    alias = alias or settings.EMBEDDER
    spaces = indexing.live(using=using, alias=alias)
    found = indexing.waiting(using=using, spaces=spaces) if tenants is None else tenants
    names = list(found)
    # What is being built first: once it answers, it shall lack nothing that the one
    # before it has.
    queues = [
        indexing.Queue(using, tenant, space)
        for tenant in names
        for space in reversed(spaces)
    ]
    bar = Progress(stream, "Embedding", sum(map(_pending, queues)), silent=silent)
    try:
        done = drain_queues(queues, bar)
    finally:
        bar.close()
    asked = indexing.tenants(using=using) if tenants is None else names
    return _worked(using, spaces, done, asked)


def drain_queues(queues: Iterable[indexing.Queue], bar: Progress) -> indexing.Drained:
    """Embed what waits in these queues, one after the other.

    Calls the embedders; of a space whose own one is down, no more.

    Raises:
        Misconfigured: No such embedder.
        EmbedderMismatch: The stored vectors are another embedder's.
    """
    done = indexing.Drained()
    down: set[int] = set()
    for queue in queues:
        if queue.space.id in down:
            continue
        embedder = indexing.embedder_of(queue.space)
        worked = indexing.drain(
            using=queue.using,
            tenant=queue.tenant,
            space=queue.space,
            embed=partial(backends.embed, embedder, role="passage"),
            batch=settings.EMBED_BATCH,
            progress=partial(_show, bar, done),
        )
        done += worked
        if worked.outage:
            down.add(queue.space.id)
    return done


def _worked(
    using: str,
    spaces: Collection[indexing.Space],
    done: indexing.Drained,
    tenants: Iterable[str],
) -> Worked:
    found = [
        indexing.held(using=using, space=space, tenant=name)
        for name in tenants
        for space in spaces
    ]
    ends = [one.until for one in found if one.until]
    return Worked(done, sum(one.held for one in found), max(ends, default=None))


def _pending(queue: indexing.Queue) -> int:
    return indexing.pending_of_tenant(
        using=queue.using, space=queue.space, tenant=queue.tenant
    ).pending


def _counted(done: indexing.Drained) -> str:
    parts = [f"{done.embedded:,} embedded"]
    if done.refused:
        parts.append(f"{done.refused:,} refused, again later")
    return ", ".join([*parts, f"{done.failed:,} failed"])


def _show(bar: Progress, before: indexing.Drained, now: indexing.Drained) -> None:
    done = before + now
    parts = [f"{done.embedded:,} of {bar.total:,}"]
    for count, word in ((done.refused, "refused"), (done.failed, "failed")):
        parts += [f"{count:,} {word}"] if count else []
    bar.update(done.embedded + done.refused + done.failed, ", ".join(parts))
