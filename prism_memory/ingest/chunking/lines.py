"""The lines of a text, and where each begins. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

NEW_LINE = "\n"


class Lines(Sequence[str]):
    """The lines of a text without their ends, by index from 0.

    A line ends with a line feed, before which a carriage return belongs to the end.
    No other character ends one: what people count is what editors show.
    """

    def __init__(self, text: str) -> None:
        """Find where the lines begin."""
        self.text = text
        self.starts = [0]
        position = text.find(NEW_LINE)
        while position >= 0:
            self.starts.append(position + 1)
            position = text.find(NEW_LINE, position + 1)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> str:  # type: ignore[override] # no slices
        return self.text[self.starts[index] : self.end(index)]

    def end(self, index: int) -> int:
        """Return where the words of a line end."""
        if index + 1 == len(self.starts):
            return len(self.text)
        end = self.starts[index + 1] - 1
        start = self.starts[index]
        return end - 1 if end > start and self.text[end - 1] == "\r" else end

    def at(self, offset: int) -> int:
        """Return the index of the line that a character is in, or ends."""
        return bisect_right(self.starts, offset) - 1
