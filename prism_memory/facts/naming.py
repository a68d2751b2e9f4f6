"""When two names are one; recall, a floor below, asks that too."""

from __future__ import annotations

from prism_memory.types.naming import fold as fold
