"""What backends that ask a model for anything but vectors have in common."""

from __future__ import annotations

import abc
from typing import ClassVar

from django.core import checks

from prism_memory.errors import Misconfigured


class Provider(abc.ABC):  # noqa: B024 - what to ask is for the kinds below
    """A named model of somebody's.

    A backend's constructor takes its OPTIONS as keywords and calls this one. It makes
    no network call and loads no model.

    Args:
        provider: Who computes, such as ``openai``.
        model: Name of the model.

    Attributes:
        local: True when no text leaves this machine.

    Raises:
        Misconfigured: A name is missing.
    """

    local: ClassVar[bool] = False

    def __init__(self, *, provider: str, model: str) -> None:
        for name, value in (("provider", provider), ("model", model)):
            if not value or not isinstance(value, str):
                message = f"{name} must be named."
                raise Misconfigured(message, field=name)
        self.provider = provider
        self.model = model

    def __repr__(self) -> str:
        # Nothing but the names: OPTIONS hold keys.
        return f"<{type(self).__name__} {self.provider}/{self.model}>"

    def check(self) -> list[checks.CheckMessage]:
        """Return what a system check should say about the OPTIONS. No network."""
        return []

    def close(self) -> None:  # noqa: B027 - most backends hold nothing to close
        """Give back connections; a later call opens them again."""
