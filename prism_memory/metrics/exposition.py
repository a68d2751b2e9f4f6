"""All metrics together, in Prometheus' text format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest, multiprocess
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from prism_memory.conf import settings
from prism_memory.metrics.counting import COUNTED, PREFIX
from prism_memory.metrics.gauges import gauges, of_spaces, of_tenants
from prism_memory.metrics.state import spaces, state_of
from prism_memory.metrics.walking import walk

SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Prometheus' own: the folder through which processes sum up their counters."""


class DatabaseCollector(Collector):
    """Reads the database when it is scraped; see ``walking`` for what that costs."""

    def collect(self) -> Iterable[Metric]:
        """Yield every gauge."""
        yield from gauges(walk.read(using=settings.DATABASE))

    def describe(self) -> Iterable[Metric]:
        """Say nothing beforehand: registering asks no database."""
        return ()


def register(registry: CollectorRegistry, *, database: bool = True) -> None:
    """Show these metrics in a host's own registry.

    Args:
        database: Also the gauges, which ask the database at each scrape.
    """
    registry.register(_Counted())
    if database:
        registry.register(DatabaseCollector())


def exposed(*, using: str, tenant: str | None, whole: bool) -> bytes:
    """Return the metrics, of one tenant or of all; see the package."""
    if tenant is None:
        return _written([*_counted(), *gauges(walk.read(using=using, whole=whole))])
    found = spaces(using=using)
    ids = [space.id for space in found]
    states = {tenant: state_of(using=using, tenant=tenant, space_ids=ids)}
    counted = _of_tenant(_counted(), tenant)
    return _written([*counted, *of_tenants(states, found), *of_spaces(found)])


class _Counted(Collector):
    """What is counted, as a host's registry asks for it."""

    def collect(self) -> Iterable[Metric]:
        return COUNTED.collect()

    def describe(self) -> Iterable[Metric]:
        return ()


def _counted() -> Iterator[Metric]:
    """Yield the counters: of all processes where they share a folder."""
    if SHARED not in os.environ:
        yield from COUNTED.collect()
        return
    found = CollectorRegistry()
    multiprocess.MultiProcessCollector(found)  # type: ignore[no-untyped-call]
    yield from (one for one in found.collect() if one.name.startswith(f"{PREFIX}_"))


def _of_tenant(families: Iterable[Metric], tenant: str) -> Iterator[Metric]:
    """Yield of families what names this tenant: all the rest is of others too."""
    for family in families:
        samples = [s for s in family.samples if s.labels.get("tenant") == tenant]
        if samples:
            family.samples = samples
            yield family


def _written(families: list[Metric]) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Fixed(families))
    return generate_latest(registry)


class _Fixed(Collector):
    """Families that were collected before."""

    def __init__(self, families: list[Metric]) -> None:
        self.families = families

    def collect(self) -> Iterable[Metric]:
        return self.families

    def describe(self) -> Iterable[Metric]:
        return ()
