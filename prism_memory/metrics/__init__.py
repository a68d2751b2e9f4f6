"""How it runs, in numbers: read from the database, and counted in this process.

No text; no owner, agent or thread; a tenant only where ``METRICS_TENANTS`` says so.
Importing this package needs no Prometheus: what does is loaded when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from prism_memory.errors import ScopeDenied, Unsupported
from prism_memory.metrics.readings import Point, day_of, take_readings
from prism_memory.metrics.state import (
    Queue,
    Running,
    Size,
    SpaceHealth,
    TenantState,
    Waiting,
    sizes,
    spaces,
    state_of,
    totals,
)
from prism_memory.types import Scope

__all__ = [
    "MEDIA_TYPE",
    "Point",
    "Queue",
    "Running",
    "Size",
    "SpaceHealth",
    "TenantState",
    "Waiting",
    "connect",
    "day_of",
    "exposed",
    "is_there",
    "sizes",
    "spaces",
    "state_of",
    "take_readings",
    "totals",
]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of Prometheus' text format."""

MISSING = (
    "Metrics need prometheus-client. Install it with:"
    ' pip install "django-prism-memory[metrics]"'
)


def is_there() -> bool:
    """Tell whether prometheus-client is installed."""
    return find_spec("prometheus_client") is not None


def connect() -> None:
    """Count what happens in this process, from the app's ``ready``."""
    if is_there():
        _module("counting").connect()


def exposed(*, using: str, scope: Scope | None = None, whole: bool = False) -> bytes:
    """Return all metrics in Prometheus' text format.

    Asks the database no longer than the settings say; see ``walking``.

    Args:
        scope: Of this tenant alone; of the whole installation when None.
        whole: Read every tenant, however long it takes.

    Raises:
        Unsupported: prometheus-client is not installed.
        ScopeDenied: The scope is below the tenant.
    """
    if not is_there():
        raise Unsupported(MISSING)
    if scope is not None and scope.owner:
        message = "Metrics are of a whole tenant, and so for who may act there."
        raise ScopeDenied(message, field="scope")
    tenant = None if scope is None else scope.tenant
    made = _module("exposition").exposed(using=using, tenant=tenant, whole=whole)
    text: bytes = made
    return text


def _module(name: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"prism_memory.metrics.{name}")
