"""What parsers yield: an entry, where it shall be written, where it was found. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

from prism_memory.errors import Invalid, PrismMemoryError
from prism_memory.types import Entry, Scope

T = TypeVar("T")


class BadEntry(Invalid):
    """A file holds something that is no entry; the message says where.

    Args:
        place: Where in the file, for people: ``line 7``.
    """

    def __init__(self, message: str, *, place: str, field: str = "") -> None:
        super().__init__(f"{place}: {message}", field=field)
        self.place = place


@dataclass(frozen=True, slots=True)
class Incoming:
    """An entry on its way in.

    Args:
        scope: Where it is to be written.
        place: Where in the file it stands, for people.
    """

    scope: Scope
    entry: Entry
    place: str

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two entries one record; the text stands in for no key."""
        entry = self.entry
        return (self.scope, entry.kind, entry.key is None, entry.key or entry.text)


class Selection:
    """Which conversations of a file are wanted. Asked in the file's order.

    Args:
        names: Only these; all when empty.
        limit: At most this many; all when None.
    """

    def __init__(self, names: Collection[str] = (), limit: int | None = None) -> None:
        self.names = frozenset(names)
        self.limit = limit
        self.seen: set[str] = set()

    def takes(self, name: str) -> bool:
        """Tell whether the conversation is wanted, and count it if so."""
        if self.names and name not in self.names:
            return False
        if name not in self.seen and self._is_full():
            return False
        self.seen.add(name)
        return True

    @property
    def is_complete(self) -> bool:
        """Whether no further conversation can be wanted."""
        return self._is_full() or bool(self.names and self.names <= self.seen)

    @property
    def missing(self) -> list[str]:
        """Names that were asked for and not found."""
        return [] if self._is_full() else sorted(self.names - self.seen)

    def _is_full(self) -> bool:
        return self.limit is not None and len(self.seen) >= self.limit


def placed(make: Callable[[], T], place: str) -> T:
    """Return what ``make`` returns; a refusal is told with its place.

    Raises:
        BadEntry: ``make`` refused a value.
    """
    try:
        return make()
    except PrismMemoryError as error:
        raise BadEntry(str(error), place=place, field=error.field) from error
