"""Open the gates of facts that have proven of use, where the settings ask for it."""

from __future__ import annotations

from typing import Any

from prism_memory.governance.promotion import promote
from prism_memory.tasks.base import RETRYING, task
from prism_memory.types import Actor


@task("promote", **RETRYING)
def promote_facts(*, using: str, tenant: str, **kwargs: Any) -> None:
    """Open the gates of a few facts of one tenant; nothing when it is off."""
    promote(using=using, tenant=tenant, actor=Actor())
