"""Who sees what: the question that the tests of the visibility rule ask."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any, Final

from prism_memory.access import Reader, get_visible, visible
from prism_memory.errors import NotVisible
from prism_memory.models import Record
from prism_memory.types import Scope, TombstoneReason
from tests.factories import NOON, make_scope

HERE: Final = make_scope()
TICK: Final = dt.timedelta(microseconds=1)
DAY: Final = dt.timedelta(days=1)


def seen(record: Record | uuid.UUID, scope: Scope = HERE, **asked: Any) -> bool:
    """Tell whether a reader sees the record: in a list, and by its id."""
    record_id = record if isinstance(record, uuid.UUID) else record.id
    reader = Reader(scope=scope, **{"at": NOON, **asked})
    listed = record_id in {r.id for r in visible(using="default", reader=reader)}
    try:
        get_visible(using="default", reader=reader, record_id=record_id)
    except NotVisible:
        assert not listed
    else:
        assert listed
    return listed


def hold_of(reason: TombstoneReason) -> dict[str, Any]:
    """Return the columns of a tombstone of that reason."""
    return {"reason": reason.value, "hold": reason is TombstoneReason.LEGAL_HOLD}
