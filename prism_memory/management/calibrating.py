"""What ``prism_memory_index calibrate`` says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.management.command import table
from prism_memory.management.progress import Progress, Stream


@dataclass(frozen=True)
class Advice:
    """What was measured, and the setting that is in force."""

    found: indexing.Calibration
    in_force: int

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**asdict(self.found), "in_force": self.in_force}

    def lines(self) -> list[str]:
        """Return it for people."""
        found = self.found
        headers = ("scopes", "vectors", "exact ms", "index ms", "enough")
        rows = [
            (
                one.scopes,
                one.vectors,
                f"{one.exact_ms:.2f}",
                f"{one.index_ms:.2f}",
                "yes" if one.enough else "no",
            )
            for one in found.measured
        ]
        return [
            f"Scans of {found.tenant}:",
            *table(headers, rows),
            "",
            f"An exact scan takes {found.base_ms:.2f} ms and"
            f" {found.exact_ms_per_1000:.2f} ms per 1,000 vectors,"
            f" one of the index {found.index_ms:.2f} ms.",
            f"They meet at about {found.recommended:,} vectors:"
            f" EXACT_SCAN_ROWS = {found.recommended} is recommended,"
            f" {self.in_force:,} is in force.",
        ]


def advise(
    *,
    using: str,
    space: indexing.Space,
    tenants: Iterable[str],
    stream: Stream,
    silent: bool,
) -> Advice:
    """Measure; see ``indexing.calibrate``."""
    bar = Progress(stream, "Measuring", 1, silent=silent)
    try:
        found = indexing.calibrate(
            using=using, space=space, tenants=tenants, progress=partial(_show, bar)
        )
    finally:
        bar.close()
    return Advice(found, settings.EXACT_SCAN_ROWS)


def _show(bar: Progress, done: int, total: int) -> None:
    bar.total = total
    bar.update(done, f"{done} of {total} sizes")
