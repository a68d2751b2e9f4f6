"""Bodies and queries of ``/shares``."""

from __future__ import annotations

from prism_memory.api.fields import (
    Identifier,
    Moment,
    Several,
    StrictInput,
    Text,
    WholeInQuery,
)


class ShareInput(StrictInput):
    """What one thread may recall of this one; it replaces what was shared before."""

    child = Text(help_text="Name of a thread of the same owner and agent.")
    ids = Several(
        child=Identifier(),
        help_text="Records of this thread, 32 at most; none revokes the share.",
    )
    expires_at = Moment(
        required=False,
        allow_null=True,
        help_text="From then on nothing is shared; null or not given: never.",
    )
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class RevokeShareInput(StrictInput):
    """Whose share ends."""

    child = Text(help_text="Name of the thread that got it.")
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


class ListSharesInput(StrictInput):
    """The query of the list."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Shares of the page; GET limits tells how many."
    )
