"""Bodies and queries of ``/reviews``."""

from __future__ import annotations

from prism_memory.api.facts.inputs import NotedInput, PageInput
from prism_memory.api.fields import Choice, Flag
from prism_memory.types import ReviewAction, ReviewWhy


class ListReviewsInput(PageInput):
    """The query of the list."""

    why = Choice("ReviewWhy", ReviewWhy, required=False, help_text="Any if not given.")


class DecideInput(NotedInput):
    """What is decided, and why."""

    decision = Choice("ReviewAction", ReviewAction)
    force = Flag(
        required=False,
        help_text="Validate although rules match. True needs operate, and no thread's"
        " key has that right.",
    )
