"""A tenant's long work: listed, cancelled, retried; and texts that were given up."""

from prism_memory.governance.running.cancel import cancel_run
from prism_memory.governance.running.failed import list_failed, retry_failed
from prism_memory.governance.running.listing import get_run, list_runs
from prism_memory.governance.running.retry import retry_run

__all__ = [
    "cancel_run",
    "get_run",
    "list_failed",
    "list_runs",
    "retry_failed",
    "retry_run",
]
