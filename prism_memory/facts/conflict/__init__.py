"""What becomes of a claim that meets others: decided in stages. Pure, no database.

A stage that can tell decides; what none can tell waits for a judge or a person. Source:
S3, with repairs: markers and triples speak only of what is near (B338), and what
differs in numbers or dates is never taken for the same (B357).
"""

from __future__ import annotations

from prism_memory.facts.conflict.exact import folded_sha256
from prism_memory.facts.conflict.packs import Marker, Pack
from prism_memory.facts.conflict.pipeline import decide
from prism_memory.facts.conflict.values import Decision, Existing, New, Rules
from prism_memory.facts.conflict.zones import Thresholds

__all__ = [
    "Decision",
    "Existing",
    "Marker",
    "New",
    "Pack",
    "Rules",
    "Thresholds",
    "decide",
    "folded_sha256",
]
