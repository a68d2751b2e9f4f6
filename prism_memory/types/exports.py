"""What an export answers."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

PORTABLE: Final = "prism_memory/1"
"""What each line of an export says it is; another form gets another number."""


@dataclass(frozen=True)
class ExportPage(Sequence[str]):
    """One page of an export.

    Args:
        lines: One record each, as JSON without a line end.
        next_cursor: Where the next page begins, or None on the last. A page may be
            empty and have one.
    """

    lines: tuple[str, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.lines[index]

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The lines as objects."""
        return [json.loads(line) for line in self.lines]


@dataclass(frozen=True, slots=True)
class ExportPart:
    """One file of an export.

    Args:
        name: In the storage, below the run's own folder.
        sha256: Of the file as it is stored, in hex.
        bytes: Of the file as it is stored.
    """

    name: str
    records: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class ExportState:
    """How far an export of a whole scope is.

    Args:
        state: ``running``, ``done``, ``failed`` or ``cancelled``.
        include_unconsented: Also what no consent was given for.
        compress: The files are gzip.
        records: Written so far.
        left_out: What the files do not hold, by reason; counted scope by scope.
        parts: The files, once it is done.
        deleted: The files are gone.
        error: What went wrong, or empty.
    """

    id: uuid.UUID
    state: str
    include_unconsented: bool
    compress: bool
    records: int
    started_at: dt.datetime
    finished_at: dt.datetime | None
    left_out: Mapping[str, int] = field(default_factory=dict)
    parts: tuple[ExportPart, ...] = ()
    deleted: bool = False
    error: str = ""
