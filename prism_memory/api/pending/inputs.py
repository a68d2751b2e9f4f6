"""Bodies and queries of ``/pending``."""

from __future__ import annotations

from prism_memory.api.facts.inputs import NotedInput, PageInput


class ListFailedInput(PageInput):
    """The query of the list."""


class RetryFailedInput(NotedInput):
    """Why."""
