"""Counters and histograms of this process, moved by signals.

They stand in a registry of their own. A host that shows ``/metrics`` itself adds them
to its own by ``register``. Where several processes serve, Prometheus' own multiprocess
mode (``PROMETHEUS_MULTIPROC_DIR``) sums them up: they are counters and histograms only.
"""

from __future__ import annotations

from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_memory import signals
from prism_memory.conf import settings

PREFIX: Final = "prism_memory"
COUNTED: Final = CollectorRegistry()

SECONDS: Final = (
    *(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 30.0),
)
TASK_SECONDS: Final = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0)
ROWS: Final = (0, 1, 2, 5, 10, 20, 32)


def _counter(name: str, told: str, *labels: str) -> Counter:
    return Counter(name, told, labels, namespace=PREFIX, registry=COUNTED)


def _histogram(
    name: str, told: str, buckets: tuple[float, ...], *labels: str
) -> Histogram:
    return Histogram(
        name, told, labels, namespace=PREFIX, registry=COUNTED, buckets=buckets
    )


RECALLS: Final = _counter(
    "recalls",
    "Recalls, by how vectors were looked for, and how it went: ok, degraded, or the"
    " code of the error.",
    *("strategy", "outcome", "tenant"),
)
RECALL_SECONDS: Final = _histogram(
    "recall_seconds", "What a recall took, its embedder included.", SECONDS, "strategy"
)
RECALL_ROWS: Final = _histogram("recall_rows", "Hits of a recall.", ROWS)
REMEMBERED: Final = _counter(
    "remembered_records", "Records that were written.", "tenant"
)
EMBEDDED: Final = _counter(
    "embedded_texts",
    "Texts that a drain worked on, by how it went: embedded, stale, refused, failed.",
    *("alias", "outcome", "tenant"),
)
OUTAGES: Final = _counter(
    "embed_outages", "Drains that an embedder that is down ended early.", "alias"
)
DRAIN_SECONDS: Final = _histogram(
    "drain_seconds", "What a drain took.", TASK_SECONDS, "alias"
)
RUNS: Final = _counter(
    "runs_ended", "Long work that ended, by kind and state.", "kind", "state"
)
TASKS: Final = _counter("tasks", "Background tasks that ended.", "task", "state")
TASK_TOOK: Final = _histogram(
    "task_seconds", "What a background task took.", TASK_SECONDS, "task"
)
BROKEN: Final = _counter(
    "integrity_broken_records", "Records withheld as their signature is not theirs."
)
DENIALS: Final = _counter(
    "denials", "Sources withheld from who may not read them, by why.", "reason"
)
REFUSALS: Final = _counter(
    "api_refusals", "Requests that were refused, by the code of the error.", "code"
)


def labelled(tenant: str) -> str:
    """Return the tenant as labels may tell it: by its name, or not at all."""
    return tenant if settings.METRICS_TENANTS else ""


def on_recall(
    *,
    tenant: str,
    strategy: str,
    seconds: float,
    rows: int,
    degraded: bool,
    error: str,
    **kwargs: Any,  # noqa: ANN401 - a signal's
) -> None:
    """Count a recall; only one that answered is timed."""
    del kwargs
    outcome = error or ("degraded" if degraded else "ok")
    RECALLS.labels(strategy, outcome, labelled(tenant)).inc()
    if not error:
        RECALL_SECONDS.labels(strategy).observe(seconds)
        RECALL_ROWS.observe(rows)


def on_remembered(*, scope: Any, ids: Any, **kwargs: Any) -> None:  # noqa: ANN401
    """Count what was written."""
    del kwargs
    REMEMBERED.labels(labelled(scope.tenant)).inc(len(ids))


def on_drained(
    *,
    tenant: str,
    alias: str,
    done: Any,  # noqa: ANN401 - an indexing.Drained
    seconds: float,
    **kwargs: Any,  # noqa: ANN401
) -> None:
    """Count what a drain did."""
    del kwargs
    for outcome in ("embedded", "stale", "refused", "failed"):
        if count := getattr(done, outcome):
            EMBEDDED.labels(alias, outcome, labelled(tenant)).inc(count)
    if done.outage:
        OUTAGES.labels(alias).inc()
    DRAIN_SECONDS.labels(alias).observe(seconds)


def on_run_ended(*, run: Any, **kwargs: Any) -> None:  # noqa: ANN401
    """Count long work that ended."""
    del kwargs
    RUNS.labels(run.kind, str(run.state)).inc()


def on_task_ended(
    *,
    task: str,
    state: str,
    seconds: float,
    **kwargs: Any,  # noqa: ANN401
) -> None:
    """Count a task."""
    del kwargs
    TASKS.labels(task, state).inc()
    TASK_TOOK.labels(task).observe(seconds)


def on_integrity_broken(*, states: Any, **kwargs: Any) -> None:  # noqa: ANN401
    """Count records whose signature is not theirs."""
    del kwargs
    BROKEN.inc(len(states))


def on_denied(*, denial: Any, **kwargs: Any) -> None:  # noqa: ANN401 - a Denial
    """Count what was withheld by a document's access list."""
    del kwargs
    DENIALS.labels(str(denial.reason)).inc()


def on_refused(*, code: str, **kwargs: Any) -> None:  # noqa: ANN401
    """Count a request that was refused."""
    del kwargs
    REFUSALS.labels(code).inc()


def connect() -> None:
    """Listen."""
    heard = {
        "recall_ended": on_recall,
        "remembered": on_remembered,
        "drained": on_drained,
        "run_ended": on_run_ended,
        "task_ended": on_task_ended,
        "integrity_broken": on_integrity_broken,
        "access_denied": on_denied,
        "request_refused": on_refused,
    }
    for name, receiver in heard.items():
        signal = getattr(signals, name, None)
        if signal is not None:
            signal.connect(receiver, dispatch_uid=f"prism_memory.metrics.{name}")
