"""Bodies and queries of ``/runs``."""

from __future__ import annotations

from prism_memory.api.facts.inputs import NotedInput, PageInput
from prism_memory.api.fields import Choice, Text
from prism_memory.models import RunState

STATES = [str(value) for value in RunState.values]


class ListRunsInput(PageInput):
    """The query of the list."""

    kind = Text(required=False, help_text="Only of this kind, exactly.")
    state = Choice("RunState", STATES, required=False, help_text="Any if not given.")


class ActOnRunInput(NotedInput):
    """Why."""
