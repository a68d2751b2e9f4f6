"""Take secrets out before anything is stored, embedded or shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.module_loading import import_string

from prism_memory.conf import settings
from prism_memory.errors import Invalid, Misconfigured

REDACTED: Final = "[redacted]"


@dataclass(frozen=True)
class Redaction:
    """What is taken out of every text.

    Args:
        redactor: The host's own function of one text, run first, or None.
        secrets: Strings replaced by ``[redacted]``. Where they overlap, all of what
            they cover is replaced at once.

    Raises:
        Invalid: The secrets are no collection of strings. One string is none: its
            letters would be taken for the secrets. Or the redactor is no function.
    """

    redactor: Callable[[str], str] | None = None
    secrets: Collection[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "secrets", check_secrets(self.secrets))
        redactor: object = self.redactor
        if not (redactor is None or callable(redactor)):
            message = "redactor must be a function of one text."
            raise Invalid(message, field="redactor")

    @classmethod
    def configured(
        cls,
        redactor: Callable[[str], str] | None = None,
        secrets: Collection[str] = (),
    ) -> Redaction:
        """Return the memory's own redaction on top of the settings'.

        Raises:
            Invalid: ``secrets`` are no collection of strings.
            Misconfigured: Nor are those of the setting.
        """
        path = settings.REDACTOR
        chosen = redactor or (import_string(path) if path else None)
        own = check_secrets(secrets)
        try:
            common = check_secrets(settings.SECRETS)
        except Invalid as error:
            message = f"The setting SECRETS is wrong: {error}"
            raise Misconfigured(message, field="SECRETS") from None
        return cls(chosen, (*common, *own))

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
        shown, end = [], 0
        for start, stop in _merged(self._spans(value)):
            shown += [value[end:start], REDACTED]
            end = stop
        return "".join([*shown, value[end:]])

    def _spans(self, value: str) -> Iterator[tuple[int, int]]:
        """Yield where a secret stands, each time, also where it overlaps itself."""
        for secret in self.secrets:
            start = value.find(secret)
            while start >= 0:
                yield start, start + len(secret)
                start = value.find(secret, start + 1)

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

    def json(self, value: Any, name: str) -> Any:  # noqa: ANN401 - any JSON
        """Return a copy of ``value`` with every string and key redacted.

        Args:
            name: The field it stands in.

        Raises:
            Invalid: Two keys of one object become the same, so that one of their
                values would be lost.
        """

        def refuse() -> None:
            message = f"Two keys of {name} are the same once redacted."
            raise Invalid(message, field=name)

        return _mapped(value, self.text, refuse)

    def shown(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a copy of ``value`` redacted once more, as it leaves.

        Of keys that become the same, what was stored before, the last one is shown.
        """
        return _mapped(value, self.text, lambda: None)

    def mask_json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a copy of ``value`` with every string and key masked.

        Of keys that become the same, what was stored before, the last one is shown.
        """
        return _mapped(value, self.mask, lambda: None) if self.secrets else value


def check_secrets(secrets: object) -> tuple[str, ...]:
    """Return the secrets, without empty ones.

    Raises:
        Invalid: They are no collection of strings.
    """
    single = isinstance(secrets, str | bytes | Mapping)
    if single or not isinstance(secrets, Collection):
        message = "secrets must be a list of strings."
        raise Invalid(message, field="secrets")
    if not all(isinstance(secret, str) for secret in secrets):
        message = "Each of the secrets must be a string."
        raise Invalid(message, field="secrets")
    return tuple(filter(None, secrets))


def _merged(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans in order, those that overlap as one; those that touch stay apart."""
    start = stop = 0
    for first, last in sorted(spans):
        if first >= stop:
            if stop:
                yield start, stop
            start, stop = first, last
        stop = max(stop, last)
    if stop:
        yield start, stop


def _mapped(
    value: Any,  # noqa: ANN401 - any JSON
    change: Callable[[str], str],
    collapsed: Callable[[], None],
) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        changed = {
            change(key): _mapped(item, change, collapsed) for key, item in value.items()
        }
        if len(changed) < len(value):
            collapsed()
        return changed
    if isinstance(value, list | tuple):
        return [_mapped(item, change, collapsed) for item in value]
    return value
