"""Build a space beside the one that answers, in a command, and switch to it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from django.utils import timezone

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.errors import (
    Conflict,
    EmbedderMismatch,
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.management.building import build_index
from prism_memory.management.command import os_actor
from prism_memory.management.draining import drain_queues
from prism_memory.management.progress import Progress, Stream

UNABLE: Final = (EmbedderMismatch, Misconfigured, ProviderUnavailable, ProviderRejected)
"""Why one of two spaces may not be asked any more."""

ROUNDS: Final = 3
"""So often what others wrote meanwhile is looked for."""


@dataclass(frozen=True)
class Beside:
    """What was built.

    Args:
        filled: Vectors of records that were there before.
        drained: Of those that were written meanwhile, or tried again.
        failed: Texts that the embedder refused for good.
        behind: Vectors that the active space has and this one lacks, or has of texts
            that changed.
        agreement: What both say to the same questions; None where nothing was asked.
        switched: It answers now.
    """

    space: indexing.Space
    filled: int
    drained: int
    failed: int
    behind: int
    agreement: indexing.Agreement | None = None
    switched: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        space = self.space
        return {
            **asdict(self),
            "space": space.id,
            "alias": space.alias,
            "embedder": str(space.identity),
        }

    def lines(self) -> list[str]:
        """Return it for people."""
        name = f"Space {self.space.id} ({self.space.identity})"
        counts = f"{self.filled:,} filled, {self.drained:,} drained"
        said = [f"{name}: {counts}, {self.failed:,} failed, {self.behind:,} behind."]
        if self.agreement:
            said.append(told(self.agreement))
        if self.switched:
            said.append(f"{name} answers now; switch --back undoes it, until it drops.")
        elif self.behind:
            said.append("Do the same again, or retry what failed; then switch.")
        else:
            said.append("It is whole: prism_memory_index switch lets it answer.")
        return said


@dataclass(frozen=True)
class Builder:
    """What is the same in all steps.

    Args:
        tenants: Whose records.
        silent: Show no progress.
    """

    using: str
    space: indexing.Space
    tenants: Sequence[str]
    stream: Stream
    silent: bool

    def embed(self) -> tuple[int, int, int]:
        """Give the space what it lacks; return how much was filled, drained, failed.

        Calls the embedder.

        Raises:
            ProviderUnavailable: It is down.
        """
        filled = sum(self._filled(name) for name in self.tenants)
        bar = Progress(self.stream, "Draining", 0, silent=True)
        queues = [indexing.Queue(self.using, n, self.space) for n in self.tenants]
        done = drain_queues(queues, bar)
        if done.outage:
            raise ProviderUnavailable(done.outage)
        return filled, done.embedded, done.failed

    def behind(self, active: indexing.Space) -> int:
        """Return how many vectors it lacks that the active space has."""
        one = partial(indexing.behind, using=self.using, space=active, other=self.space)
        return sum(one(tenant=name) for name in self.tenants)

    def stale(self) -> int:
        """Return how many of its vectors are of another text than there is now."""
        one = partial(indexing.stale, using=self.using, space=self.space)
        return sum(one(tenant=name) for name in self.tenants)

    def whole(self, active: indexing.Space) -> Beside:
        """Embed until nothing is behind or stale, or nothing more can be done."""
        done: list[tuple[int, int, int]] = []
        behind = 1
        while behind and len(done) < ROUNDS:
            done.append(self.embed())
            # A run that was cut goes on at its place: behind it, texts may be others.
            behind = self.behind(active) + self.stale()
        filled, drained, failed = map(sum, zip(*done, strict=True))
        return Beside(self.space, filled, drained, failed, behind)

    def _filled(self, tenant: str) -> int:
        bar = Progress(self.stream, f"Filling {tenant}", 0, silent=self.silent)
        embedder = indexing.embedder_of(self.space)
        try:
            done = indexing.fill(
                using=self.using,
                tenant=tenant,
                space=self.space,
                embed=partial(backends.embed, embedder, role="passage"),
                rows=settings.REBUILD_ROWS,
                actor=os_actor(),
                progress=partial(_show, bar),
            )
        finally:
            bar.close()
        return done.filled


def active_of(*, using: str, alias: str) -> indexing.Space:
    """Return the space that answers, whatever embeds for it now.

    Raises:
        Conflict: There is none.
    """
    space = indexing.find_active(using=using, alias=alias)
    if space is None:
        message = f"{alias!r} has no vectors yet."
        raise Conflict(message, field="alias")
    return space


def ensure_index(
    *, using: str, active: indexing.Space, space: indexing.Space, memory: int
) -> None:
    """Make the index where the active space has one."""
    if active.indexed and not indexing.index_state(using=using, space=space).valid:
        build_index(
            using=using,
            space=space,
            m=None,
            ef_construction=None,
            memory_megabytes=memory,
        )


def compared(
    *,
    using: str,
    active: indexing.Space,
    space: indexing.Space,
    tenants: Sequence[str],
    questions: Sequence[str] | None,
    samples: int,
) -> indexing.Agreement | None:
    """Ask both spaces the same, of the first tenant that has vectors.

    Calls both embedders. None where one of the two cannot embed any more.
    """
    with contextlib.suppress(*UNABLE):
        for tenant in tenants:
            found = indexing.compare_spaces(
                using=using,
                tenant=tenant,
                spaces=(active, space),
                questions=questions,
                samples=samples,
            )
            if found is not None:
                return found
    return None


def switch(*, using: str, alias: str, now: bool, reason: str) -> indexing.Space:
    """Let what is being built answer, and count the vectors of each scope anew.

    What it lacks nevertheless, or has of other texts, waits in its queue then.

    Raises:
        Conflict: It is not whole, and ``now`` was not said; or nothing is being built.
    """
    space = indexing.switch_space(
        using=using,
        alias=alias,
        actor=os_actor(),
        at=timezone.now(),
        reason=reason,
        anyway=now,
    )
    for tenant in indexing.tenants(using=using):
        indexing.recount(using=using, tenant=tenant, space=space)
    queue_all(using=using, space=space)
    return space


def queue_all(*, using: str, space: indexing.Space) -> int:
    """Queue what a space lacks, so that recall tells of it; return how many."""
    return sum(
        queued(using=using, tenant=tenant, space=space)
        for tenant in indexing.tenants(using=using)
        for queued in (indexing.enqueue_missing, indexing.requeue_stale)
    )


def told(agreement: indexing.Agreement) -> str:
    """Return in words how far two spaces agree."""
    k, share = agreement.top_k, agreement.overlap
    rank = agreement.correlation
    ranks = "" if rank is None else f", ranks of these correlate {rank:.2f}"
    return (
        f"{agreement.questions} questions: {share * k:.1f} of the {k} nearest are the"
        f" same (overlap@{k} {share:.2f}){ranks}."
    )


def names_of(given: str | None, all_of_them: Iterator[str]) -> list[str]:
    """Return one tenant, or all."""
    return [given] if given else list(all_of_them)


def _show(bar: Progress, done: indexing.Filled) -> None:
    bar.total = done.total
    bar.update(done.filled + done.queued, f"{done.filled:,} of {done.total:,}")
