"""Bodies and queries of exports."""

from __future__ import annotations

from prism_memory.api.fields import Flag, StrictInput, Text, WholeInQuery


class ExportPageInput(StrictInput):
    """The query of a page."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Rows of the page; GET limits tells how many."
    )
    max_bytes = WholeInQuery(
        required=False, help_text="Of the page; over it, ask for fewer rows."
    )
    max_ms = WholeInQuery(
        required=False, help_text="For the page; over it, ask for fewer rows."
    )


class StartExportInput(StrictInput):
    """What to export, and how."""

    include_unconsented = Flag(
        required=False,
        help_text="Also what no consent was given for: the data subject's legal copy."
        " Needs the permission operate too.",
    )
    compress = Flag(required=False, help_text="Write gzip.")
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class DeleteExportInput(StrictInput):
    """The query of a removal."""

    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )
