"""What was read of the database, as Prometheus' gauges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client.core import GaugeMetricFamily

from prism_memory.metrics.counting import PREFIX, labelled
from prism_memory.metrics.state import Size, SpaceHealth, TenantState
from prism_memory.metrics.walking import Overview

Values = dict[tuple[str, ...], float]

ROWS: Final = {
    "prism_memory_record": "records",
    "prism_memory_embedding": "vectors",
    "prism_memory_tenant": "tenants",
}


def gauges(overview: Overview) -> Iterator[GaugeMetricFamily]:
    """Yield every gauge of the installation."""
    yield from of_tenants(overview.states, overview.spaces)
    yield from of_spaces(overview.spaces)
    yield from _of_tables(overview.sizes)
    yield _family(
        "read_tenants", "Tenants read in the last whole round.", overview.tenants
    )
    yield _family(
        "read_age_seconds",
        "Age of the oldest reading of a tenant that these gauges are of.",
        overview.age_seconds,
    )
    yield _family(
        "read_complete", "1 once every tenant was read.", float(overview.whole)
    )
    yield _family(
        "read_seconds", "What reading took the last time.", overview.read_seconds
    )


def of_tenants(
    states: Mapping[str, TenantState], spaces: list[SpaceHealth]
) -> Iterator[GaugeMetricFamily]:
    """Yield what is of tenants: summed up, and for ages the most."""
    yield from _of_queues(states, spaces)
    yield from _of_runs(states)
    yield from _of_reviews(states)


def of_spaces(spaces: list[SpaceHealth]) -> Iterator[GaugeMetricFamily]:
    """Yield how indexes are."""
    labels = ("alias", "space", "state")
    healthy: Values = {(s.alias, str(s.id), s.state): float(s.healthy) for s in spaces}
    sizes: Values = {
        (s.alias, str(s.id), s.state): float(s.index_bytes) for s in spaces
    }
    told = "1 where the vector index of a space is whole, or none is wished for."
    yield _family("index_healthy", told, healthy, *labels)
    yield _family("index_bytes", "Bytes of the vector index.", sizes, *labels)


def _of_queues(
    states: Mapping[str, TenantState], spaces: list[SpaceHealth]
) -> Iterator[GaugeMetricFamily]:
    alias = {space.id: space.alias for space in spaces}
    # A zero for each: what is missing could not be told from what was not asked.
    pending: Values = defaultdict(float, {(name, ""): 0.0 for name in alias.values()})
    failed: Values = defaultdict(float, dict(pending))
    oldest: Values = defaultdict(float, dict(pending))
    for tenant, state in states.items():
        for queue in state.queues:
            key = (alias.get(queue.space_id, ""), labelled(tenant))
            pending[key] += queue.pending
            failed[key] += queue.failed
            oldest[key] = max(oldest[key], queue.oldest_seconds)
    labels = ("alias", "tenant")
    yield _family(
        "pending_embeddings",
        "Texts that wait for their vector; of each tenant, 100,000 are counted.",
        pending,
        *labels,
    )
    yield _family("failed_embeddings", "Texts that were given up.", failed, *labels)
    yield _family(
        "pending_oldest_seconds", "Age of the oldest that waits.", oldest, *labels
    )


def _of_runs(states: Mapping[str, TenantState]) -> Iterator[GaugeMetricFamily]:
    running: Values = defaultdict(float)
    silent: Values = defaultdict(float)
    done: Values = defaultdict(float)
    total: Values = defaultdict(float)
    ended: Values = defaultdict(float)
    for tenant, state in states.items():
        for run in state.running:
            key = (run.kind, labelled(tenant))
            running[key] += run.runs
            silent[key] = max(silent[key], run.silent_seconds)
            done[key] += run.done
            total[key] += run.total
        for kind, how, runs in state.ended:
            ended[kind, how, labelled(tenant)] += runs
    progress = {key: done[key] / total[key] for key in total if total[key]}
    labels = ("kind", "tenant")
    yield _family("runs_running", "Long work under way.", running, *labels)
    yield _family(
        "run_progress_ratio", "How far it is, 0 to 1, where known.", progress, *labels
    )
    yield _family(
        "run_silent_seconds",
        "Since the last sign of life of the most silent run.",
        silent,
        *labels,
    )
    yield _family(
        "runs_ended_last_day",
        "Runs that began within a day and have ended.",
        ended,
        *("kind", "state", "tenant"),
    )


def _of_reviews(states: Mapping[str, TenantState]) -> Iterator[GaugeMetricFamily]:
    waiting: Values = defaultdict(float)
    oldest: Values = defaultdict(float)
    for tenant, state in states.items():
        for one in state.reviews:
            key = (one.why, labelled(tenant))
            waiting[key] += one.waiting
            oldest[key] = max(oldest[key], one.oldest_seconds)
    yield _family(
        "reviews_waiting",
        "What waits for a person, by why; quarantined is what the gate holds back.",
        waiting,
        *("why", "tenant"),
    )
    yield _family(
        "review_oldest_seconds",
        "Since the oldest of them waits.",
        oldest,
        *("why", "tenant"),
    )


def _of_tables(sizes: list[Size]) -> Iterator[GaugeMetricFamily]:
    for size in sizes:
        told = "As PostgreSQL last estimated; nothing is counted."
        yield _family(ROWS[size.name], told, size.rows)
    bytes_: Values = {(size.name,): float(size.bytes) for size in sizes}
    yield _family("table_bytes", "Bytes with indexes and TOAST.", bytes_, "table")


def _family(
    name: str, told: str, values: Mapping[tuple[str, ...], float] | float, *labels: str
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"{PREFIX}_{name}", told, labels=labels)
    found = values if isinstance(values, Mapping) else {(): float(values)}
    for key, value in found.items():
        family.add_metric(key, value)
    return family
