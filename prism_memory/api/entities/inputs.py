"""Bodies of ``/entities``."""

from __future__ import annotations

from prism_memory.api.facts.inputs import NotedInput
from prism_memory.api.fields import Identifier


class MergeInput(NotedInput):
    """What it is one with, and why."""

    into = Identifier(help_text="The entity whose name stands for both.")
