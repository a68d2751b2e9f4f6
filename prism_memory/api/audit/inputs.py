"""The query of ``/audit``."""

from __future__ import annotations

from prism_memory.api.fields import Moment, StrictInput, Text, WholeInQuery


class ListEventsInput(StrictInput):
    """The query of the list."""

    action = Text(required=False, help_text="Only of this one, such as memory.forget.")
    target = Text(required=False, help_text="Only about this ref, such as record:<id>.")
    since = Moment(required=False, help_text="Not older than this.")
    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Events of the page; GET limits tells how many."
    )
