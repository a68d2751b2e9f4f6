"""What the verbs that govern a record answer."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prism_memory.types.vocabulary import ConsentScope, ConsentSource


@dataclass(frozen=True, slots=True)
class ConsentDecision:
    """One decision about the consent for a record: the state that it left.

    Args:
        source: Who consented, or None where nobody is named.
        label: What for, or None.
        visible: False hides; None is no consent at all.
        actor: Who decided, as the audit names them.
        at: When; later than the decision before.
    """

    id: uuid.UUID
    source: ConsentSource | None
    label: ConsentScope | None
    visible: bool | None
    granted_at: dt.datetime | None
    revoked_at: dt.datetime | None
    actor: str
    at: dt.datetime


@dataclass(frozen=True)
class ConsentHistory(Sequence[ConsentDecision]):
    """One page of the decisions about a record, the oldest first.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    decisions: tuple[ConsentDecision, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.decisions[index]

    def __len__(self) -> int:
        return len(self.decisions)


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a correction did.

    Args:
        version: Of the record, as it stands now.
        changed: False where it said the same already: then nothing was done.
        blocked: How many records are derived from it, and so blocked.
        pending: It waits for its vector; until then it is found by its words.
    """

    id: uuid.UUID
    version: int
    changed: bool = True
    blocked: int = 0
    pending: bool = False
