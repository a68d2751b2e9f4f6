"""The facts of an export: restored once what they cite is there.

One that cites another waits for that one: the file is read again while any came back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from django.core.management.base import CommandError

from prism_memory.errors import PrismMemoryError
from prism_memory.governance.restore import Restoring
from prism_memory.ingest.entries import BadEntry, Incoming
from prism_memory.management.command import FAILED

TOLD: Final = 20
"""Refused lines that are told."""


@dataclass(frozen=True)
class FactsBack:
    """What became of the facts of a file.

    Args:
        seen: Facts in the file.
        restored: Those that were missing.
        refused: Those that cannot come back: the line, and why.
    """

    seen: int = 0
    restored: int = 0
    refused: tuple[str, ...] = ()

    def require_all(self) -> None:
        """Do nothing if every fact of the file is there.

        Raises:
            CommandError: Some are not; it names the lines.
        """
        if not self.refused:
            return
        more = len(self.refused) - TOLD
        lines = [
            f"{len(self.refused)} facts were not restored; all else was.",
            *self.refused[:TOLD],
            *([f"And {more} more."] if more > 0 else []),
        ]
        raise CommandError("\n".join(lines), returncode=FAILED)


def restore_facts(
    read: Callable[[], Iterable[Incoming]], *, restoring: Restoring, trusted: bool
) -> FactsBack:
    """Restore the facts of a file, each whole or not at all.

    Args:
        read: Reads the file's facts from its beginning.
        trusted: Believe the file what was held when.

    Raises:
        BadEntry: One cannot be stored, whatever is there.
    """
    restored = 0
    while True:
        back = _once(read(), restoring, trusted=trusted)
        restored += back.restored
        if not back.refused or not back.restored:
            return replace(back, restored=restored)


def _once(
    items: Iterable[Incoming], restoring: Restoring, *, trusted: bool
) -> FactsBack:
    seen, restored = 0, 0
    refused: list[str] = []
    for item in items:
        seen += 1
        try:
            done = restoring.facts(item.scope, [item.entry], trusted=trusted)
        except PrismMemoryError as error:
            raise BadEntry(str(error), place=item.place, field=error.field) from error
        restored += len(done.restored)
        refused += [f"{item.place}: {why}" for why in done.refused.values()]
    return FactsBack(seen, restored, tuple(refused))
