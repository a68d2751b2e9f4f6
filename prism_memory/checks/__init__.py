"""System checks. Ids: E0xx errors, W0xx warnings; never reused."""

from __future__ import annotations

from django.core import checks

from prism_memory.checks.of_conflicts import check_conflicts
from prism_memory.checks.of_databases import SCOPED, check_database
from prism_memory.checks.of_providers import (
    check_embedders,
    check_providers,
    check_traces,
    check_vector_index,
)
from prism_memory.checks.of_routing import check_routing
from prism_memory.checks.of_settings import check_settings
from prism_memory.checks.of_work import check_work

__all__ = [
    "SCOPED",
    "check_database",
    "check_embedders",
    "check_providers",
    "check_routing",
    "check_settings",
    "check_traces",
    "check_vector_index",
    "check_work",
    "register",
]


def register() -> None:
    """Register the checks, from the app's ``ready``."""
    checks.register(check_settings)
    checks.register(check_routing)
    checks.register(check_work)
    checks.register(check_embedders)
    checks.register(check_providers)
    checks.register(check_traces)
    checks.register(check_vector_index)
    checks.register(check_conflicts)
    checks.register(check_database, checks.Tags.database)
