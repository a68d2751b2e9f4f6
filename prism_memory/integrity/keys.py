"""The keys, from the settings."""

from __future__ import annotations

from collections.abc import Mapping

from prism_memory.conf import settings
from prism_memory.errors import Misconfigured
from prism_memory.integrity.macs import Keyring


def keyring() -> Keyring | None:
    """Return the keys of the settings, or None where there are none.

    Raises:
        Misconfigured: They are no dict of texts: what was meant to sign must not be
            taken for "off".
    """
    given: object = settings.INTEGRITY_KEYS
    if not given:
        return None
    named = isinstance(given, Mapping) and all(
        isinstance(part, str) and part for pair in given.items() for part in pair
    )
    if not isinstance(given, Mapping) or not named:
        message = "INTEGRITY_KEYS must be a dict of texts: {'k1': 'secret'}."
        raise Misconfigured(message, field="INTEGRITY_KEYS")
    keys = {name: secret.encode() for name, secret in given.items()}
    return Keyring(keys, settings.INTEGRITY_KEY or next(iter(keys)))
