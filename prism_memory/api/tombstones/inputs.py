"""The query of ``/tombstones``."""

from __future__ import annotations

from prism_memory.api.fields import StrictInput, Text, WholeInQuery


class ListTombstonesInput(StrictInput):
    """The query of the list."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Tombstones of the page; GET limits tells how many."
    )
