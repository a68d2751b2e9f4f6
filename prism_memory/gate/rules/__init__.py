"""The rules of the gate, as data. Source: those of S3, and what a labelled list showed."""

from __future__ import annotations

from typing import Final

from prism_memory.gate.rules import english
from prism_memory.gate.values import Rule

RULES: Final[tuple[Rule, ...]] = (*english.RULES,)
"""Several rules may have one id: they are ways to say one thing."""
