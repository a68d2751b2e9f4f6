"""Bodies of what deletes."""

from __future__ import annotations

from prism_memory.api.fields import Flag, Identifier, Several, StrictInput, Text


class ReasonInput(StrictInput):
    """Why."""

    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class ForgetThreadInput(ReasonInput):
    """Why a thread is forgotten; the headers say which."""


class ForgetInput(ReasonInput):
    """Which memories go."""

    ids = Several(
        child=Identifier(),
        help_text="Of this very scope, 256 at most; none of them: nothing happens.",
    )
    hold = Flag(
        required=False,
        help_text="Keep them for a legal hold, and hide them with all that is derived.",
    )


class ReleaseForgottenInput(ReasonInput):
    """Which memories that were forgotten with `hold` go for good, or come back."""

    ids = Several(child=Identifier(), help_text="As they were given, 256 at most.")
    restore = Flag(required=False, help_text="Show them again.")
