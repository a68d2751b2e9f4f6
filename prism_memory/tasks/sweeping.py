"""The sweep: beat has each tenant looked at, and a message sent where work waits.

It is the guarantee behind every message: one that was lost costs a sweep. The tenants
are walked in a circle that begins somewhere else each time, so that none is always the
last whose message comes too late; and in pieces, so that a great many end in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from prism_memory import backends, governance, indexing
from prism_memory.conf import settings
from prism_memory.errors import Conflict
from prism_memory.facts import resolving
from prism_memory.governance import decay, decay_run, retention
from prism_memory.tasks import draining, running
from prism_memory.tasks.base import slice_seconds, task
from prism_memory.tasks.judging import judge_pending
from prism_memory.tasks.promoting import promote_facts
from prism_memory.tasks.resolving import is_wanted, resolve_message
from prism_memory.tasks.sealing import seal
from prism_memory.tasks.sending import Message
from prism_memory.tasks.tidying import tidy_entities
from prism_memory.tasks.tracing import prune_traces
from prism_memory.types import Actor

Look = Callable[[str], Iterable[Message]]
"""Yields what is to be sent for one tenant."""

TENANTS: Final = 1_000
"""That one message looks at; another goes on with the rest."""

DAY: Final = 86_400.0


@dataclass(frozen=True)
class Sweep:
    """What beat has looked for.

    Args:
        look: Returns what looks at a tenant of a database; None: not wanted.
        beside: Names that have such work although they are no tenants yet.
    """

    look: Callable[[str], Look | None]
    beside: Callable[[str], Iterable[str]] = lambda _using: ()


@task("sweep")
def sweep(
    *, work: str = "drains", ranges: Sequence[Sequence[str]] = (), **kwargs: Any
) -> None:
    """Look at every tenant for one kind of work.

    Args:
        ranges: Pairs of names that are left: after the first, up to the second; an
            empty second is the end. All in a circle where none are given.
    """
    using, wanted = settings.DATABASE, SWEEPS[work]
    look = wanted.look(using)
    if look is None:
        return
    if not ranges:
        for name in wanted.beside(using):
            send(look(name))
        start = indexing.random_tenant(using=using)
        ranges = [(start, ""), ("", start)] if start else [("", "")]
    _walk(using, work, look, ranges)


def _walk(using: str, work: str, look: Look, ranges: Sequence[Sequence[str]]) -> None:
    seen, most = 0, None if slice_seconds() is None else TENANTS
    for number, (after, until) in enumerate(ranges):
        last = after
        for tenant in indexing.tenants(using=using, after=after, until=until):
            if seen == most:
                rest = [list(pair) for pair in ranges[number + 1 :]]
                given = {"work": work, "ranges": [[last, until], *rest]}
                Message(sweep, given, key=("sweep", work, last)).send()
                return
            send(look(tenant))
            seen, last = seen + 1, tenant


def send(found: Iterable[Message]) -> None:
    for message in found:
        message.send()


def _drains(using: str) -> Look | None:
    spaces = {
        alias: indexing.find_live(using=using, alias=alias)
        for alias in (settings.EMBEDDERS if backends.are_vectors_used() else ())
    }

    def look(tenant: str) -> Iterator[Message]:
        for alias, live in spaces.items():
            if any(
                indexing.is_waiting(using=using, space=space, tenant=tenant)
                for space in live
            ):
                yield draining.wake_up(tenant, using, alias)

    return look if any(spaces.values()) else None


def _fills(using: str) -> Look | None:
    """Look for what a space lacks that is being built, or that was switched to."""
    found = (indexing.find_live(using=using, alias=a) for a in settings.EMBEDDERS)
    pairs = [live for live in found if len(live) > 1]
    switched = indexing.switched_lately(using=using, at=timezone.now())

    def wanted(**given: Any) -> Iterator[indexing.Space]:
        for old, new in pairs:
            if indexing.is_to_fill(**given, space=old, other=new):
                yield new
        for space, since in switched:
            if indexing.is_to_catch_up(**given, space=space, since=since):
                yield space

    def look(tenant: str) -> Iterator[Message]:
        given: dict[str, Any] = {"using": using, "tenant": tenant}
        for space in wanted(**given):
            with suppress(Conflict):  # another process began it in this moment
                run = indexing.start_fill(
                    **given, space=space, actor=Actor(), at=timezone.now()
                )
                yield running.message_of(using, run)

    return look if pairs or switched else None


def _entities(using: str) -> Look | None:
    space = (
        indexing.find_active(using=using, alias=settings.EMBEDDER)
        if is_wanted()
        else None
    )
    if space is None:
        return None

    def look(tenant: str) -> Iterator[Message]:
        if resolving.waiting(using=using, tenant=tenant, space=space):
            yield resolve_message(tenant, using)

    return look


def _runs(using: str) -> Look:
    return lambda tenant: running.left_alone(using, tenant)


def _retention(using: str) -> Look:
    def look(tenant: str) -> Iterator[Message]:
        given: dict[str, Any] = {"using": using, "tenant": tenant, "actor": Actor()}
        for run in retention.start_sweeps(**given, at=timezone.now()):
            yield running.message_of(using, run)

    return look


def _decay(using: str) -> Look | None:
    if decay.Rules.configured().are_off:
        return None

    def look(tenant: str) -> Iterator[Message]:
        given: dict[str, Any] = {"using": using, "tenant": tenant, "actor": Actor()}
        with suppress(Conflict):  # another process began it in this moment
            run = decay_run.start_decay(**given, at=timezone.now())
            yield running.message_of(using, run)

    return look


def _each(work: Any, is_on: Callable[[], bool], expires_seconds: float) -> Any:
    """Return what sends a task to every tenant, where the settings want it."""

    def begin(using: str) -> Look | None:
        def look(tenant: str) -> Iterator[Message]:
            given = {"using": using, "tenant": tenant}
            yield Message(
                work, given, key=(work.name, tenant), expires_seconds=expires_seconds
            )

        return look if is_on() else None

    return begin


SWEEPS: Final[dict[str, Sweep]] = {
    "drains": Sweep(_drains),
    "fills": Sweep(_fills),
    "entities": Sweep(_entities),
    "runs": Sweep(_runs),
    "retention": Sweep(_retention),
    "decay": Sweep(_decay),
    "seals": Sweep(
        _each(seal, lambda: settings.SEALS != "off", 3_600.0),
        beside=lambda using: governance.trails_beside(using=using),
    ),
    "promotions": Sweep(_each(promote_facts, lambda: settings.PROMOTE != "off", DAY)),
    "conflicts": Sweep(_each(judge_pending, lambda: True, 600.0)),
    "unspoken": Sweep(_each(tidy_entities, lambda: True, DAY)),
    "traces": Sweep(_each(prune_traces, lambda: True, DAY)),
}
"""By the word that a message of the sweep names them with."""
