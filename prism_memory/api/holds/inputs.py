"""Bodies and queries of ``/holds``."""

from __future__ import annotations

from prism_memory.api.fields import Identifier, StrictInput, Text, WholeInQuery
from prism_memory.api.forgetting.inputs import ReasonInput


class HoldInput(ReasonInput):
    """What is held: a memory, a source, or else all of the scope."""

    memory = Identifier(required=False, help_text="Of this very scope.")
    source = Text(required=False, help_text="Its key or its id, of this very scope.")  # type: ignore[assignment]
    matter = Text(
        required=False,
        allow_blank=True,
        help_text="What it is for, as a case's number; the same stands once.",
    )


class ListHoldsInput(StrictInput):
    """The query of the list."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Holds of the page; GET limits tells how many."
    )
