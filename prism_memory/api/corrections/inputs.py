"""The body of a correction."""

from __future__ import annotations

from typing import Any

from prism_memory.api.fields import StrictInput, Text
from prism_memory.api.memories.inputs import check_reason


class CorrectionInput(StrictInput):
    """The words that a memory shall hold from now on."""

    text = Text()
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a reason that is too long.

        Raises:
            LimitExceeded: It is.
        """
        check_reason(attrs)
        return attrs
