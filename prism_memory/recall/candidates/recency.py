"""The recency leg: the newest in sight, whatever they say. Only where asked for.

It takes no values of its own.
"""

from __future__ import annotations

from typing import Final

from prism_memory.recall.candidates.plan import Leg

LEG: Final = Leg(gives="recent", parts=lambda _plan: ("recent",))
