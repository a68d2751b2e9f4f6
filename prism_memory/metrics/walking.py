"""Read one tenant after the other, a while at a time, and keep what there is to tell.

Hundreds of tenants are read within one scrape. Of thousands, each scrape reads on for
``METRICS_READ_SECONDS`` and the next goes on there, so that a scrape never costs more;
how old the oldest reading is, is told too. Of a tenant with nothing to tell, nothing is
kept.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.metrics.state import (
    Size,
    SpaceHealth,
    TenantState,
    sizes,
    spaces,
    state_of,
)


@dataclass(frozen=True)
class Overview:
    """What is known of the installation.

    Args:
        states: By tenant; those with something to tell. '' is the installation's own.
        tenants: How many were read in the last whole round.
        age_seconds: Since the last whole round began; 0 right after one.
        whole: Every tenant was read at least once.
        read_seconds: What the last reading took.
    """

    states: dict[str, TenantState] = field(default_factory=dict)
    spaces: list[SpaceHealth] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    tenants: int = 0
    age_seconds: float = 0.0
    whole: bool = False
    read_seconds: float = 0.0


class Walk:
    """What a process has read so far. One thread reads, others take what is there."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._states: dict[str, TenantState] = {}
        self._names: Iterator[str] | None = None
        self._met: set[str] = set()
        self._seen = self._tenants = 0
        self._round_began = 0.0
        self._whole_since: float | None = None
        self._kept: tuple[float, Overview] | None = None

    def read(self, *, using: str, whole: bool = False) -> Overview:
        """Return what is known, read on first where that is old.

        A query for each tenant, for as long as the settings say, and three more.

        Args:
            whole: Read every tenant, however long it takes.
        """
        with self._lock:
            now, kept = time.monotonic(), self._kept
            is_old = kept is None or now - kept[0] >= settings.METRICS_SECONDS
            if whole:
                self._names = None
            if whole or kept is None or is_old:
                seconds = math.inf if whole else settings.METRICS_READ_SECONDS
                self._kept = kept = now, self._overview(using, now, seconds)
            return kept[1]

    def _overview(self, using: str, now: float, seconds: float) -> Overview:
        found = spaces(using=using)
        self._read_on(using, [space.id for space in found], now, seconds)
        ended = time.monotonic()
        since = self._whole_since
        return Overview(
            states=dict(self._states),
            spaces=found,
            sizes=sizes(using=using),
            tenants=self._tenants,
            age_seconds=0.0 if since is None else ended - since,
            whole=since is not None,
            read_seconds=ended - now,
        )

    def _read_on(
        self, using: str, space_ids: list[int], now: float, seconds: float
    ) -> None:
        """Read tenants until all are read once, or the time is over."""
        names, self._names = self._names or self._begin(using, now), None
        for tenant in names:
            self._keep(
                tenant, state_of(using=using, tenant=tenant, space_ids=space_ids)
            )
            if time.monotonic() - now >= seconds:
                self._names = names  # only here: after an error, all begins anew
                return
        self._end()

    def _begin(self, using: str, now: float) -> Iterator[str]:
        self._met, self._seen, self._round_began = set(), 0, now
        return _all(using)

    def _keep(self, tenant: str, state: TenantState) -> None:
        self._seen += 1
        if state.is_quiet:
            self._states.pop(tenant, None)
        else:
            self._met.add(tenant)
            self._states[tenant] = state

    def _end(self) -> None:
        self._tenants, self._whole_since = self._seen, self._round_began
        self._states = {name: self._states[name] for name in self._met}


def _all(using: str) -> Iterator[str]:
    """Yield the installation itself, then every tenant's name."""
    yield ""
    yield from indexing.tenants(using=using)


walk = Walk()
