"""The bodies of the gate's verbs."""

from __future__ import annotations

from typing import Any

from prism_memory.api.fields import Flag, StrictInput, Text
from prism_memory.api.memories.inputs import check_reason
from prism_memory.errors import PermissionDenied
from prism_memory.types import Grant, Permission


class QuarantineInput(StrictInput):
    """Why a memory is held back."""

    reason = Text(help_text="For the audit; no content.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a reason that is too long.

        Raises:
            LimitExceeded: It is.
        """
        check_reason(attrs)
        return attrs


class ValidateInput(StrictInput):
    """Why a memory is let through."""

    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )
    force = Flag(
        required=False,
        help_text="Although rules match. True needs operate, and no thread's key has"
        " that right.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a reason that is too long.

        Raises:
            LimitExceeded: It is.
        """
        check_reason(attrs)
        return attrs


def check_force(given: dict[str, Any], grant: Grant) -> None:
    """Refuse to force for who may not.

    Raises:
        PermissionDenied: The grant lacks ``operate``, or is a thread's.
    """
    if not given.get("force"):
        return
    grant.require(Permission.OPERATE)
    if grant.scope.thread:
        message = "A thread's key cannot force."
        raise PermissionDenied(message, field="force")
