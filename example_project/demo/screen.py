"""What the demo says, and whether it was true."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from prism_memory.types import Hit

BOLD, DIM, GREEN, RED = "1", "2", "32", "31"
TEXT_COLUMNS = 72
BEFORE_TEXT = 43


def styled(text: str, code: str) -> str:
    """Colour ``text`` for a terminal, unless the user wishes none."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{code}m{text}\x1b[0m"


def headline(text: str) -> None:
    print(f"\n{styled(text, BOLD)}", flush=True)


def say(text: str) -> None:
    print(f"  {text}", flush=True)


@dataclass
class Claims:
    """What the demo claimed, and which of it did not hold."""

    count: int = 0
    broken: list[str] = field(default_factory=list)

    def check(self, claim: str, holds: object, found: object = "") -> None:
        """Print a claim with whether it holds; ``found`` is shown where it does not."""
        self.count += 1
        mark = styled("✓", GREEN) if holds else styled("✗", RED)
        print(f"  {mark} {claim}" + ("" if holds else f" ({found})"), flush=True)
        if not holds:
            self.broken.append(claim)

    def verdict(self) -> int:
        """Print how it went and return the exit code."""
        if self.broken:
            print(styled(f"\n{len(self.broken)} of {self.count} claims broke:", RED))
            for claim in self.broken:
                print(f"  {claim}")
            return 1
        print(styled(f"\nAll {self.count} claims held.", GREEN), flush=True)
        return 0


def show_hits(hits: Iterable[Hit], evidence: frozenset[str]) -> None:
    """Print hits, best first; a star marks what the data set names as evidence."""
    columns = max(
        24, min(TEXT_COLUMNS, shutil.get_terminal_size().columns - BEFORE_TEXT)
    )
    for hit in hits:
        star = styled("*", GREEN) if hit.key in evidence else " "
        said = f"{hit.writer}: {hit.text}"
        shown = said if len(said) <= columns else f"{said[: columns - 1]}…"
        day = f"{hit.happened_at:%Y-%m-%d}" if hit.happened_at else "-"
        where = f"{hit.source}  {day}".ljust(22)
        print(
            f"   {star}{hit.score:.2f} {hit.method:7}  {styled(where, DIM)}  {shown}",
            flush=True,
        )


def show_figures(figures: dict[str, str]) -> None:
    """Print the table of figures."""
    width = max(map(len, figures))
    for name, value in figures.items():
        say(f"{name.ljust(width)}  {value.rjust(12)}")
