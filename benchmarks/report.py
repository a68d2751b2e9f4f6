"""What a benchmark found: a table to read, and figures to compare."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Report:
    """The outcome of one benchmark.

    Args:
        name: Of the benchmark.
        figures: Numbers by key, as ``--json`` writes them.
        headings: Of the table.
        rows: Of the table.
        notes: Lines under the table.
    """

    name: str
    headings: Sequence[str]
    figures: dict[str, float] = field(default_factory=dict)
    rows: list[Sequence[object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """Add a row to the table, and show it at once: some runs take minutes."""
        self.rows.append(cells)
        pairs = zip(self.headings, map(_cell, cells), strict=True)
        shown = ", ".join(f"{name} {cell}" for name, cell in pairs)
        print(shown, file=sys.stderr, flush=True)

    def __str__(self) -> str:
        cells = [[_cell(value) for value in row] for row in (self.headings, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(text.rjust(w) for text, w in zip(row, widths, strict=True))
            for row in cells
        ]
        figures = [f"{key} = {value:g}" for key, value in self.figures.items()]
        return "\n".join((f"== {self.name}", *lines, *self.notes, "", *figures))

    def write(self, path: Path) -> None:
        """Write the figures as one JSON object."""
        found = {"name": self.name, "figures": self.figures}
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
