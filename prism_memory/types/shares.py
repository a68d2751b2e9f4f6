"""What one thread lets another recall. Ids and times; no text."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from prism_memory.types.scopes import Scope

SHARED_AT_MOST: Final = 32
"""Records of one share. Source: S0 (B180)."""


@dataclass(frozen=True)
class Share:
    """Records of a thread that another thread of the same owner may recall.

    Args:
        parent: The thread whose records they are.
        child: The thread that may recall them.
        ids: In the order they were given.
        expires_at: From then on nothing is shared; None: never.
        changed_at: When the ids and the expiry were last replaced.
    """

    id: uuid.UUID
    parent: Scope
    child: Scope
    ids: tuple[uuid.UUID, ...]
    expires_at: dt.datetime | None
    created_at: dt.datetime
    changed_at: dt.datetime


@dataclass(frozen=True)
class SharePage(Sequence[Share]):
    """One page of shares.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[Share, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)
