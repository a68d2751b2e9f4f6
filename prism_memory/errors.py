"""Everything the domain raises. No HTTP here: ``api/errors.py`` maps these.

The docstring of a class is its default message. Messages name fields and limits,
never stored text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class PrismMemoryError(Exception):
    """The memory operation failed."""

    code = "memory_error"

    def __init__(self, message: str | None = None, *, field: str = "") -> None:
        """Keep the message, and the input ``field`` it is about, if any."""
        super().__init__(message or type(self).__doc__)
        self.field = field


class Invalid(PrismMemoryError):
    """A value is not acceptable."""

    code = "validation"


class ScopeDenied(PrismMemoryError):
    """The scope is missing, malformed or not open to the actor."""

    code = "scope"


class PermissionDenied(PrismMemoryError):
    """The actor lacks the permission for this operation."""

    code = "permission"


class NotVisible(PrismMemoryError):
    """No such object, or the actor may not know that it exists."""

    code = "not_visible"


class Conflict(PrismMemoryError):
    """The object's state does not allow this change."""

    code = "conflict"


class FactKeyInUse(Conflict):
    """An open fact of this scope has the key and says something else."""

    code = "fact_key_in_use"


class NotAccepted(Conflict):
    """An accepted fact is only replaced by one that the policy accepts."""

    code = "not_accepted"


class StillFlagged(Conflict):
    """The gate still holds this text back; see the markers."""

    code = "still_flagged"

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str = "",
        markers: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Keep where rules of the gate matched, as it is stored: no words of it."""
        super().__init__(message, field=field)
        self.markers = tuple(markers)


class LimitExceeded(PrismMemoryError):
    """A declared limit was exceeded."""

    code = "limit"


class Aborted(PrismMemoryError):
    """The operation was cancelled by its caller."""

    code = "aborted"


class DeadlineExceeded(Aborted):
    """The operation did not finish before its deadline."""

    code = "deadline"


class Unsupported(PrismMemoryError):
    """This installation or backend lacks the capability."""

    code = "unsupported"


class Misconfigured(PrismMemoryError):
    """The installation is not configured for this operation."""

    code = "misconfigured"


class EmbedderMismatch(PrismMemoryError):
    """The embedder is not the one whose vectors are stored."""

    code = "embedder_mismatch"


class ProviderUnavailable(PrismMemoryError):
    """A provider did not answer; the same call may succeed later."""

    code = "provider_unavailable"


class ProviderRejected(PrismMemoryError):
    """A provider refused this input or gave an unusable answer."""

    code = "provider_rejected"
