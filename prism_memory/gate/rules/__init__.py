"""The rules of the gate, as data. Source: those of S3, and what a labelled list showed."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.rules import (
    conduct,
    english,
    exposure,
    french,
    german,
    iberian,
    italian,
    markup,
    others,
)
from prism_memory.gate.values import Rule

RULES: Final[tuple[Rule, ...]] = tuple(
    dict.fromkeys(
        [
            *english.RULES,
            *conduct.RULES,
            *exposure.RULES,
            *markup.RULES,
            *german.RULES,
            *french.RULES,
            *iberian.RULES,
            *italian.RULES,
            *others.RULES,
        ]
    )
)
"""Several rules may have one id: they are ways to say one thing."""
