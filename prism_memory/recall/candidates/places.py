"""What one process learnt of the places it looked in. No database here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from prism_memory.conf import settings
from prism_memory.recall.candidates.plan import Plan
from prism_memory.types import Scope

PLACES: Final = 10_000
"""Most places that one process remembers."""

Place = tuple[str, int, tuple[Scope, ...]]
"""Database, space, and the scopes in sight."""


@dataclass(frozen=True)
class Size:
    """How much is in sight of a place.

    Args:
        large: An exact scan would read too much.
        common: Some words are in too many rows.
        small: All rows can be read for their words.
        restricts: The tenant restricts documents.
    """

    large: bool = False
    common: bool = False
    small: bool = False
    restricts: bool = False

    def seen(self, plan: Plan, row: dict[str, Any], *, indexed: bool) -> Size:
        """Return what a whole answer says; what was not asked stays as it was.

        That there are common words stays known: a question of rare ones has as good an
        answer, and the next need not learn it anew.
        """
        large = indexed and row["vectors"] > settings.EXACT_SCAN_ROWS
        return Size(
            large=large if "vector" in plan.legs else self.large,
            common=self.common or plan.bounded,
            small=row["few"] if "text" in plan.legs else self.small,
            restricts=bool(row["restricts"]),
        )


_known: dict[Place, Size] = {}


def known_size(place: Place) -> Size:
    """Return what is known of a place; small when it was never seen."""
    return _known.get(place, Size())


def remember_size(place: Place, size: Size) -> None:
    """Keep what was seen, for the next question there."""
    if known_size(place) == size:
        return
    if len(_known) >= PLACES:
        _known.clear()
    _known[place] = size


INDEX_AGAIN: Final = 32
"""Full pages of an exact scan after which the index is tried once more: what narrows
may leave more than it did. A page that is not full is no reason to."""

Narrowed = tuple[Place, str, int]
"""A place, what narrows the reader there, and the rows wanted."""

_short: dict[Narrowed, int] = {}
"""Where the index ended before the page was full: full pages since."""


def is_index_short(narrowed: Narrowed) -> bool:
    """Tell whether the index gave too few there."""
    return narrowed in _short


def remember_short(narrowed: Narrowed) -> None:
    """Keep that the index gave too few: the next question there is asked exactly."""
    if len(_short) >= PLACES:
        _short.clear()
    _short[narrowed] = 0


def count_page(narrowed: Narrowed, *, full: bool) -> None:
    """Note a page that was found exactly at once."""
    if not full:
        return
    pages = _short.get(narrowed, 0) + 1
    if pages >= INDEX_AGAIN:
        _short.pop(narrowed, None)
    else:
        _short[narrowed] = pages


def forget_sizes() -> None:
    """Know nothing, as a new process."""
    _known.clear()
    _short.clear()
