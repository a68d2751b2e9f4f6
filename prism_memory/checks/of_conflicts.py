"""What can be said of the rules by which claims are compared."""

from __future__ import annotations

from typing import Any

from django.core import checks

from prism_memory.conf import NAMESPACE, settings
from prism_memory.errors import Misconfigured
from prism_memory.facts.conflict.configured import configured_rules


def check_conflicts(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report thresholds that are out of order, and packs of words that are none."""
    packs: object = settings.CONFLICT_PACKS
    if not isinstance(packs, list | tuple):
        return []  # what is no list is reported as of another type
    if not all(isinstance(path, str) for path in packs):
        message = f"{NAMESPACE}['CONFLICT_PACKS'] must hold dotted paths."
        return [checks.Error(message, id="prism_memory.E032")]
    try:
        configured_rules()
    except Misconfigured as error:
        return [checks.Error(str(error), id="prism_memory.E031")]
    return []
