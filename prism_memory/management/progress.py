"""Show how far long work is: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

from typing import Final, Protocol

WIDTH: Final = 28
LINES: Final = 10
"""Lines that a log gets, where no bar can be drawn."""


class Stream(Protocol):
    """Where progress is written."""

    def write(self, text: str, /) -> object:
        """Write ``text`` as it is."""
        ...

    def flush(self) -> None:
        """Have it shown now."""
        ...

    def isatty(self) -> bool:
        """Tell whether people look at it as it is written."""
        ...


class Progress:
    """One piece of work.

    Args:
        stream: Standard error, usually.
        label: What is being done.
        total: Where 100 % is; 0 when there is nothing to do.
        silent: Show nothing.
    """

    def __init__(
        self, stream: Stream, label: str, total: int, *, silent: bool = False
    ) -> None:
        self.stream = stream
        self.label = label
        self.total = total
        self.silent = silent
        self.live = stream.isatty()
        self._shown = -1
        self._length = 0

    def update(self, done: int, note: str = "") -> None:
        """Show that ``done`` of ``total`` is done.

        Args:
            note: Words behind the bar.
        """
        share = min(1.0, max(0.0, done / self.total)) if self.total else 1.0
        step = int(share * (WIDTH * 4 if self.live else LINES))
        if self.silent or (step == self._shown and not self.live):
            return
        self._shown = step
        if self.live:
            self._draw(share, note)
        else:
            self._write(f"{self.label} {share:4.0%}  {note}".rstrip() + "\n")

    def close(self) -> None:
        """End the bar's line."""
        if self.live and self._length and not self.silent:
            self._write("\n")
            self._length = 0

    def _draw(self, share: float, note: str) -> None:
        full = round(share * WIDTH)
        line = f"{self.label} {'█' * full}{'░' * (WIDTH - full)} {share:4.0%}  {note}"
        line = line.rstrip()
        self._write("\r" + line.ljust(self._length))
        self._length = len(line)

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
