"""Who listens is told of runs that ended."""

from __future__ import annotations

from prism_memory import signals
from prism_memory.models import Run
from prism_memory.spans import hashed, of_the_past


def tell_ended(run: Run, using: str) -> None:
    """Tell of work that ended: a span over the whole of it, and the signal."""
    numbers = {name: n for name, n in run.counts.items() if isinstance(n, int | float)}
    told = {"tenant": hashed(run.tenant), "kind": run.kind, "state": str(run.state)}
    if run.finished_at is not None:
        span = {**numbers, **told}
        of_the_past("run", span, start=run.started_at, end=run.finished_at)
    signals.run_ended.send_robust(sender=Run, using=using, run=run)
