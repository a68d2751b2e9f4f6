"""Does a text give orders to who will read it? A signal, not proof.

Rules as data, a fold that takes disguises off, and a scan that tells where they match.
Pure, but for ``configured``, which asks the settings.
"""

from prism_memory.gate.configured import (
    CLASSIFIER,
    INJECTION,
    configured_rules,
    judge,
)
from prism_memory.gate.rules import RULES
from prism_memory.gate.scanning import Ruleset, scan
from prism_memory.gate.values import Marker, Rule, Verdict, View

__all__ = [
    "CLASSIFIER",
    "INJECTION",
    "RULES",
    "Marker",
    "Rule",
    "Ruleset",
    "Verdict",
    "View",
    "configured_rules",
    "judge",
    "scan",
]
