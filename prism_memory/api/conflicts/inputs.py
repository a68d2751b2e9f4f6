"""Bodies of ``/conflicts``."""

from __future__ import annotations

from prism_memory.api.facts.inputs import NotedInput
from prism_memory.api.fields import Choice, Identifier
from prism_memory.types import Verdict

SAID = (Verdict.ADMIT, Verdict.DEDUP, Verdict.SUPERSEDE)


class SettleInput(NotedInput):
    """What becomes of a claim that waits, and why."""

    verdict = Choice("SettledVerdict", SAID)
    other = Identifier(
        required=False, help_text="Which neighbour; the nearest if not given."
    )
