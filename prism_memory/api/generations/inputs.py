"""The body of ``/generations``."""

from __future__ import annotations

from prism_memory.api.fields import StrictInput, Text, Whole


class CurrentGenerationInput(StrictInput):
    """Which generation readers of exactly this scope shall see."""

    generation = Whole(
        allow_null=True,
        help_text="From 0; null: all, as before one was ever chosen.",
    )
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )
