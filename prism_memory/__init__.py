"""Governed long-term memory for AI agents, in the host's own PostgreSQL.

The public names are imported lazily, so that importing this package loads no model
and works before Django's app registry is ready.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "DocumentStore": "prism_memory.rag",
    "Memory": "prism_memory.memory",
    "AccessGrant": "prism_memory.types",
    "Actor": "prism_memory.types",
    "Authorization": "prism_memory.types",
    "Consent": "prism_memory.types",
    "DeepRecalled": "prism_memory.types",
    "Entry": "prism_memory.types",
    "Explanation": "prism_memory.types",
    "Grade": "prism_memory.types",
    "Hit": "prism_memory.types",
    "Item": "prism_memory.types",
    "Kind": "prism_memory.types",
    "Lineage": "prism_memory.types",
    "Neighbor": "prism_memory.types",
    "Options": "prism_memory.types",
    "Origin": "prism_memory.types",
    "Page": "prism_memory.types",
    "ReadMode": "prism_memory.types",
    "Recalled": "prism_memory.types",
    "Scope": "prism_memory.types",
    "Scoring": "prism_memory.types",
    "SourceRef": "prism_memory.types",
    "Tier": "prism_memory.types",
    "Trust": "prism_memory.types",
    "register_deletion_handler": "prism_memory.lifecycle.propagation",
    "revoked_ids_absent": "prism_memory.types",
}

__all__ = [
    "AccessGrant",
    "Actor",
    "Authorization",
    "Consent",
    "DeepRecalled",
    "DocumentStore",
    "Entry",
    "Explanation",
    "Grade",
    "Hit",
    "Item",
    "Kind",
    "Lineage",
    "Memory",
    "Neighbor",
    "Options",
    "Origin",
    "Page",
    "ReadMode",
    "Recalled",
    "Scope",
    "Scoring",
    "SourceRef",
    "Tier",
    "Trust",
    "__version__",
    "beat_schedule",
    "register_deletion_handler",
    "revoked_ids_absent",
]

if TYPE_CHECKING:
    from prism_memory.lifecycle.propagation import register_deletion_handler
    from prism_memory.memory import Memory
    from prism_memory.rag import DocumentStore
    from prism_memory.types import (
        AccessGrant,
        Actor,
        Authorization,
        Consent,
        DeepRecalled,
        Entry,
        Explanation,
        Grade,
        Hit,
        Item,
        Kind,
        Lineage,
        Neighbor,
        Options,
        Origin,
        Page,
        ReadMode,
        Recalled,
        Scope,
        Scoring,
        SourceRef,
        Tier,
        Trust,
        revoked_ids_absent,
    )


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Return what Celery's beat should run, to be merged into the host's own schedule.

    Call it once Django is set up, as from the app's ``on_after_finalize``.

    Raises:
        ImportError: Celery is not installed.
    """
    schedule: dict[str, dict[str, Any]] = import_module(
        "prism_memory.tasks"
    ).beat_schedule()
    return schedule


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
