"""What pages are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prism_memory.models import Scope


@dataclass(frozen=True)
class Place:
    """Whose rows a list shows.

    Args:
        tenant: Name of the tenant; '' is the installation, None is no choice yet.
        unknown: Nothing was ever remembered under the name that was given.
        wish: What the list's addresses must carry.
        scope: The scope, where a list is of one.
    """

    tenant: str | None = None
    unknown: bool = False
    wish: dict[str, str] = field(default_factory=dict)
    scope: Scope | None = None


@dataclass(frozen=True)
class Section:
    """A part of a detail page: labelled values, or a table when it has headers."""

    title: object
    rows: Sequence[Sequence[object]]
    headers: Sequence[object] = ()
    empty: object = ""
    note: object = ""

    @property
    def labelled(self) -> list[list[tuple[object, object]]]:
        """The rows, each cell with its header: narrow screens show both."""
        return [list(zip(self.headers, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Tool:
    """A button that leads to another page."""

    label: object
    address: str
