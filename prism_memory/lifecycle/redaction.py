"""Take secrets out before anything is stored, embedded or shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.module_loading import import_string

from prism_memory.conf import settings
from prism_memory.errors import Invalid

REDACTED: Final = "[redacted]"


@dataclass(frozen=True)
class Redaction:
    """What is taken out of every text.

    Args:
        redactor: The host's own function of one text, run first, or None.
        secrets: Strings replaced by ``[redacted]``, the longest first.
    """

    redactor: Callable[[str], str] | None = None
    secrets: Sequence[str] = ()

    @classmethod
    def configured(
        cls,
        redactor: Callable[[str], str] | None = None,
        secrets: Sequence[str] = (),
    ) -> Redaction:
        """Return the memory's own redaction on top of the settings'."""
        path = settings.REDACTOR
        chosen = redactor or (import_string(path) if path else None)
        return cls(chosen, (*settings.SECRETS, *secrets))

    def text(self, value: str) -> str:
        """Return ``value`` without secrets.

        Raises:
            Invalid: The redactor gave no string.
        """
        redacted: object = self.redactor(value) if self.redactor else value
        if not isinstance(redacted, str):
            message = "The redactor must return a string."
            raise Invalid(message, field="redactor")
        return self.mask(redacted)

    def mask(self, value: str) -> str:
        """Return ``value`` without the configured secrets; the redactor is not run."""
        for secret in sorted(filter(None, self.secrets), key=len, reverse=True):
            value = value.replace(secret, REDACTED)
        return value

    def check_names(self, names: Mapping[str, str | None]) -> None:
        """Refuse a name that holds a configured secret.

        A name cannot be redacted: it is an identity, and two names would become one.

        Args:
            names: Each with the field it stands in.

        Raises:
            Invalid: One does; the message does not repeat it.
        """
        for field, name in names.items():
            if name and self.mask(name) != name:
                message = f"{field} holds a configured secret."
                raise Invalid(message, field=field)

    def json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a copy of ``value`` with every string and key redacted."""
        return _mapped(value, self.text)

    def mask_json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a copy of ``value`` with every string and key masked."""
        return _mapped(value, self.mask) if self.secrets else value


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value
