"""The recency leg: the newest in sight, whatever they say. Only where asked for."""

from __future__ import annotations

from typing import Final

PARTS: Final = ("recent",)
"""Its statement, of ``db/sql/recall.sql``; it takes no values of its own."""
