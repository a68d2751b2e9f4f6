"""Which database the pages read."""

from __future__ import annotations

from prism_memory.conf import settings


def using() -> str:
    """Return the database alias of the memory tables."""
    return settings.DATABASE
