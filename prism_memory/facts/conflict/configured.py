"""The rules as the settings have them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from django.utils.module_loading import import_string

from prism_memory.conf import settings
from prism_memory.errors import Invalid, Misconfigured
from prism_memory.facts.conflict.packs import Pack
from prism_memory.facts.conflict.values import Rules
from prism_memory.facts.conflict.zones import Thresholds

NAMED: Final = {"hot": "CONFLICT_HOT", "near": "CONFLICT_NEAR", "cold": "CONFLICT_COLD"}


def configured_rules() -> Rules:
    """Return the rules of the settings ``CONFLICT_*``.

    Raises:
        Misconfigured: The thresholds are out of order, or a pack is none.
    """
    return _rules(configured_thresholds(), tuple(settings.CONFLICT_PACKS))


def configured_thresholds() -> Thresholds:
    """Return where the zones begin (B335).

    Raises:
        Misconfigured: They are out of order; the error names the setting.
    """
    given = {name: getattr(settings, setting) for name, setting in NAMED.items()}
    try:
        return Thresholds(**given)
    except Invalid as error:
        setting = NAMED[error.field]
        message = str(error).replace(error.field, setting, 1)
        raise Misconfigured(message, field=setting) from None


@lru_cache(maxsize=8)
def _rules(thresholds: Thresholds, paths: tuple[str, ...]) -> Rules:
    """Return the same rules for the same settings: they keep what they compiled."""
    return Rules(thresholds, tuple(_pack(path) for path in paths))


def _pack(path: str) -> Pack:
    try:
        pack = import_string(path)
    except ImportError as error:
        message = f"CONFLICT_PACKS: {path!r} cannot be imported ({error})."
        raise Misconfigured(message, field="CONFLICT_PACKS") from error
    if not isinstance(pack, Pack):
        message = f"CONFLICT_PACKS: {path!r} is no Pack."
        raise Misconfigured(message, field="CONFLICT_PACKS")
    return pack
