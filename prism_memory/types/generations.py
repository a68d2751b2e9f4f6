"""Which generation of a scope's documents its readers see. Numbers; no text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prism_memory.errors import LimitExceeded
from prism_memory.types.checks import check_count

MAX_GENERATION: Final = 2**31 - 1
"""What an integer column holds."""


@dataclass(frozen=True)
class Generations:
    """The generations of exactly one scope.

    Args:
        current: The one that readers see; None where nobody chose yet, and all are
            seen. What has no generation is always seen.
        records: How many records each holds that did not leave search, in the order of
            the numbers.
    """

    current: int | None = None
    records: Mapping[int, int] = field(default_factory=dict)


def check_generation(value: object, name: str = "generation") -> int:
    """Return ``value`` if it numbers a generation (B210).

    Raises:
        LimitExceeded: Not an integer of 0 to 2,147,483,647.
    """
    number = check_count(value, name)
    if number > MAX_GENERATION:
        message = f"{name} must be 0 to {MAX_GENERATION}."
        raise LimitExceeded(message, field=name)
    return number
