"""Work off the queue in a command, with progress."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.management.progress import Progress, Stream


def drain_tenants(
    *,
    using: str,
    alias: str | None,
    tenants: Iterable[str] | None,
    stream: Stream,
    silent: bool,
) -> indexing.Drained:
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
    embedder = backends.get_embedder(alias)
    space = indexing.active(using=using, alias=alias, identity=embedder.identity)
    found = indexing.waiting(using=using, space=space) if tenants is None else tenants
    names = list(found)
    total = sum(_pending(using, space, tenant) for tenant in names)
    bar = Progress(stream, "Embedding", total, silent=silent)
    done = indexing.Drained()
    try:
        for tenant in names:
            done += indexing.drain(
                using=using,
                tenant=tenant,
                space=space,
                embed=partial(backends.embed, embedder, role="passage"),
                batch=settings.EMBED_BATCH,
                progress=partial(_show, bar, done),
            )
            if done.outage:
                break
    finally:
        bar.close()
    return done


def _pending(using: str, space: indexing.Space, tenant: str) -> int:
    return indexing.pending_of_tenant(using=using, space=space, tenant=tenant).pending


def _show(bar: Progress, before: indexing.Drained, now: indexing.Drained) -> None:
    embedded = before.embedded + now.embedded
    failed = before.failed + now.failed
    note = f"{embedded:,} of {bar.total:,}" + (f", {failed:,} failed" if failed else "")
    bar.update(embedded + failed, note)
