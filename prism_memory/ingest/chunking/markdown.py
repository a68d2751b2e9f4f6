"""Cut Markdown at its headings, then at blank lines, then at lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.chunking.blocks import Section, fences, sections
from prism_memory.ingest.chunking.lines import Lines
from prism_memory.ingest.chunking.values import Chunk, check_length, check_number
from prism_memory.types import check_count

SIZE: Final = 1_200
MOST_SIZE: Final = 16_384
LONGEST_LINE: Final = 16_384
"""Characters that a line may have and still be one chunk; a longer one is cut."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of whole lines that is not cut; of a very long line, a part."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True)
class MarkdownChunker:
    """A section is a chunk; a long one is cut where that hurts least (B291).

    At blank lines, then at lines, never inside fenced code that fits. A chunk is whole
    lines as they stand, without blank ones at its ends; chunks never overlap, for a
    chunk is known by its words. Only a line of more than 16,384 characters is cut.
    What is no Markdown is cut at its blank lines.

    Args:
        size: Characters of a chunk, 1 to 16,384, unless a single line is longer.

    Raises:
        LimitExceeded: The size is out of its bounds.
    """

    size: int = SIZE

    def __post_init__(self) -> None:
        if check_count(self.size, "size", minimum=1) > MOST_SIZE:
            message = f"size must be at most {MOST_SIZE:,}."
            raise LimitExceeded(message, field="size")

    @property
    def identity(self) -> str:
        """Name and options."""
        return f"markdown:1 size={self.size}"

    def chunks(self, text: str) -> Sequence[Chunk]:
        """Return the chunks of a text; see ``Chunker``."""
        check_length(text)
        lines = Lines(text)
        fenced = fences(lines)
        whole = {
            first: last for first, last in fenced if self._fits(lines, first, last)
        }
        found: list[Chunk] = []
        for section in sections(lines, fenced):
            for unit in self._packed(self._units(lines, section, whole)):
                check_number(len(found) + 1)
                found.append(_chunk(text, unit, len(found), section.heading))
        return found

    def _fits(self, lines: Lines, first: int, last: int) -> bool:
        return lines.end(last) - lines.starts[first] <= self.size

    def _units(
        self, lines: Lines, section: Section, whole: Mapping[int, int]
    ) -> Iterator[Unit]:
        """Yield paragraphs that fit, and the lines of those that do not."""
        for run in _runs(lines, section, whole):
            first, last = run[0], run[-1]
            if last.end - first.start <= self.size:
                yield Unit(first.start, last.end, first.first, last.last)
                continue
            for unit in run:
                yield from _parts(lines.text, unit)

    def _packed(self, units: Iterator[Unit]) -> Iterator[Unit]:
        """Yield as many paragraphs in one as fit; lines alone where one does not."""
        packed: Unit | None = None
        for unit in units:
            if packed is None or unit.end - packed.start > self.size:
                if packed is not None:
                    yield packed
                packed = unit
            else:
                packed = Unit(packed.start, unit.end, packed.first, unit.last)
        if packed is not None:
            yield packed


def _runs(
    lines: Lines, section: Section, whole: Mapping[int, int]
) -> Iterator[list[Unit]]:
    """Yield what stands between blank lines: its lines, and fences that fit as one."""
    run: list[Unit] = []
    index = section.first
    while index <= section.last:
        last = whole.get(index, index)
        if lines[index].strip():
            run.append(Unit(lines.starts[index], lines.end(last), index, last))
        elif run:
            yield run
            run = []
        index = last + 1
    if run:
        yield run


def _parts(text: str, unit: Unit) -> Iterator[Unit]:
    """Yield a unit; a line that is too long for one, in parts that end at a space."""
    start = unit.start
    while unit.first == unit.last and unit.end - start > LONGEST_LINE:
        ceiling = start + LONGEST_LINE
        end = text.rfind(" ", start + LONGEST_LINE // 2, ceiling)
        end = ceiling if end < 0 else end
        if text[start:end].strip():
            yield Unit(start, end, unit.first, unit.last)
        start = end
    if text[start : unit.end].strip():
        yield Unit(start, unit.end, unit.first, unit.last)


def _chunk(text: str, unit: Unit, ordinal: int, heading: tuple[str, ...]) -> Chunk:
    return Chunk(
        text=text[unit.start : unit.end],
        ordinal=ordinal,
        line_start=unit.first + 1,
        line_end=unit.last + 1,
        offset_start=unit.start,
        offset_end=unit.end,
        heading=heading,
    )
