"""How long what is kept: limits of one scope, and the policies of a tenant."""

from prism_memory.governance.retention.apply import apply_retention
from prism_memory.governance.retention.listing import get_run, list_runs
from prism_memory.governance.retention.policies import (
    change_policy,
    create_policy,
    delete_policy,
    get_policy,
    list_policies,
    rules_of,
)
from prism_memory.governance.retention.previews import (
    preview_policies,
    preview_policy,
    preview_rules,
)
from prism_memory.governance.retention.resume import resume_sweep, start_sweeps
from prism_memory.governance.retention.sweeping import (
    RUN_SECONDS,
    Pass,
    Position,
    Swept,
    sweep,
    sweep_all,
)

__all__ = [
    "RUN_SECONDS",
    "Pass",
    "Position",
    "Swept",
    "apply_retention",
    "change_policy",
    "create_policy",
    "delete_policy",
    "get_policy",
    "get_run",
    "list_policies",
    "list_runs",
    "preview_policies",
    "preview_policy",
    "preview_rules",
    "resume_sweep",
    "rules_of",
    "start_sweeps",
    "sweep",
    "sweep_all",
]
