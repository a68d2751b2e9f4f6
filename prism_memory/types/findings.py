"""What a look at an installation found wrong. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Args:
        kind: What it is, in one word for programs, such as ``index_missing``.
        meaning: The same for people.
        subject: Where: a table, an index, a space. No text of a record.
        tenant: Whose rows; empty for what is of the installation.
        space_id: In which space; None where that does not matter.
        count: How many rows.
        curable: ``--fix`` may mend it: online, and nothing is lost by it.
        advice: What a person can do.
    """

    kind: str
    meaning: str
    subject: str
    tenant: str = ""
    space_id: int | None = None
    count: int = 1
    curable: bool = True
    advice: str = ""
