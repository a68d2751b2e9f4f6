"""Windows over a text that end at good places and may overlap. Pure.

Source: S0, its chunking of text and of Markdown (B233 to B235).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.chunking.lines import Lines
from prism_memory.ingest.chunking.values import Chunk, check_length, check_number
from prism_memory.types import check_count

SIZE: Final = 1_000
MOST_SIZE: Final = 16_384
OVERLAP: Final = 100
MOST_OVERLAP: Final = 4_096
HEADING: Final = re.compile(r"\n(?= {0,3}#{1,6}(?:[ \t\r\n]|\Z))")

Separator = Callable[[str, int, int], int]
"""Returns the last place to end at between two offsets, or -1."""


def _heading(text: str, start: int, end: int) -> int:
    found = -1
    for match in HEADING.finditer(text, start, end):
        found = match.start()
    return found


def _blank_line(text: str, start: int, end: int) -> int:
    return max(text.rfind("\n\n", start, end), text.rfind("\n\r\n", start, end))


def _new_line(text: str, start: int, end: int) -> int:
    return text.rfind("\n", start, end)


def _space(text: str, start: int, end: int) -> int:
    return text.rfind(" ", start, end)


@dataclass(frozen=True)
class TextChunker:
    """Windows that end at a blank line, a new line or a space.

    Args:
        size: Characters of a chunk at most, 1 to 16,384.
        overlap: Characters that one may share with the one before it, 0 to 4,096 and
            less than ``size``.

    Raises:
        LimitExceeded: One of them is out of its bounds.
    """

    size: int = SIZE
    overlap: int = OVERLAP
    name: ClassVar[str] = "text"
    separators: ClassVar[tuple[Separator, ...]] = (_blank_line, _new_line, _space)

    def __post_init__(self) -> None:
        if check_count(self.size, "size", minimum=1) > MOST_SIZE:
            message = f"size must be at most {MOST_SIZE:,}."
            raise LimitExceeded(message, field="size")
        most = min(MOST_OVERLAP, self.size - 1)
        if check_count(self.overlap, "overlap") > most:
            message = f"overlap must be at most {most:,}, and less than size."
            raise LimitExceeded(message, field="overlap")

    @property
    def identity(self) -> str:
        """Name and options."""
        return f"{self.name}:1 size={self.size} overlap={self.overlap}"

    def chunks(self, text: str) -> Sequence[Chunk]:
        """Return the windows of a text; see ``Chunker``."""
        check_length(text)
        lines = Lines(text)
        found: list[Chunk] = []
        for start, end in self._windows(text):
            check_number(len(found) + 1)
            chunk = Chunk(
                text=text[start:end],
                ordinal=len(found),
                line_start=lines.at(start) + 1,
                line_end=lines.at(end - 1) + 1,
                offset_start=start,
                offset_end=end,
            )
            found.append(chunk)
        return found

    def _windows(self, text: str) -> Iterator[tuple[int, int]]:
        start, last = _skipped(text, 0), len(text.rstrip())
        while start < last:
            end = self._end(text, start, last)
            yield start, end
            if end >= last:
                return
            start = _skipped(text, max(start + 1, end - self.overlap))

    def _end(self, text: str, start: int, last: int) -> int:
        """Return where a window ends: not in blanks that its text would end with."""
        ceiling = start + self.size
        if ceiling >= last:
            return last
        middle = start + max(1, self.size // 2)
        places = (find(text, middle, ceiling) for find in self.separators)
        end = next((place for place in places if place >= 0), ceiling)
        return start + len(text[start:end].rstrip())


@dataclass(frozen=True)
class MarkdownWindowChunker(TextChunker):
    """As ``TextChunker``, but rather before a heading than anywhere else."""

    name: ClassVar[str] = "markdown-window"
    separators: ClassVar[tuple[Separator, ...]] = (
        _heading,
        *TextChunker.separators,
    )


def _skipped(text: str, start: int) -> int:
    """Return where the next word begins."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start
