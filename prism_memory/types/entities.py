"""Who and what facts speak of."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from prism_memory.types.scopes import Scope

MERGED_AT_MOST: Final = 8
"""Merges in a row: one entity into another, that into a third, and so on."""


@dataclass(frozen=True, slots=True)
class MergedName:
    """An entity that is merged into another.

    Args:
        into: The entity that it was merged into.
    """

    id: uuid.UUID
    name: str
    into: uuid.UUID


@dataclass(frozen=True)
class EntityItem:
    """An entity as a reader gets it: by no name that only hidden facts bear.

    Args:
        name: Folded; see ``types.naming.fold``.
        label: As it was written first.
        merged: What is merged into it, and what into that.
        facts: Visible facts that speak of it, or of what is merged into it.
        bounded: There may be more: only the newest were looked at.
    """

    id: uuid.UUID
    scope: Scope
    name: str
    label: str
    merged: tuple[MergedName, ...] = ()
    facts: int = 0
    bounded: bool = False


@dataclass(frozen=True)
class EntityPage(Sequence[EntityItem]):
    """One page of entities. It may be short, or empty, and not be the last.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[EntityItem, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)
