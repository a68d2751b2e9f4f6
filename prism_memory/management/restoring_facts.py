"""The facts of an export: restored once what they cite is there.

One that cites another waits for that one: the file is read again while any came back.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from django.core.management.base import CommandError

from prism_memory.errors import PrismMemoryError
from prism_memory.governance.restore import Restoring
from prism_memory.ingest.entries import BadEntry, Incoming
from prism_memory.management.command import FAILED
from prism_memory.types import Scope

TOLD: Final = 20
"""Refused lines that are told."""

CHUNK: Final = 1_000
"""Facts whose links are looked at together."""


@dataclass(frozen=True)
class FactsBack:
    """What became of the facts of a file.

    Args:
        seen: Facts in the file.
        restored: Those that were missing.
        refused: Those that cannot come back: the line, and why.
        loose: Links to facts that are not where they should be: dropped.
    """

    seen: int = 0
    restored: int = 0
    refused: tuple[str, ...] = ()
    loose: int = 0

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
            loose = _drop_loose(read(), restoring) if back.seen else 0
            return replace(back, restored=restored, loose=loose)


def _drop_loose(items: Iterable[Incoming], restoring: Restoring) -> int:
    """Drop links that lead nowhere, now that all is here; return how many.

    Of all facts of the file: an import that was stopped goes on here too.
    """
    found: dict[Scope, list[uuid.UUID]] = defaultdict(list)
    dropped = 0
    for item in items:
        ids = found[item.scope]
        ids.append(_id(item))
        if len(ids) == CHUNK:
            dropped += restoring.drop_loose(item.scope, found.pop(item.scope))
    return dropped + sum(restoring.drop_loose(*one) for one in found.items())


def _id(item: Incoming) -> uuid.UUID:
    return uuid.UUID(item.entry.key or "")  # see ``restored_fact``


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
