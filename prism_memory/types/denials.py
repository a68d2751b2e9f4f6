"""What was withheld from a reader who had found it. For an audit alone."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass

from prism_memory.types.authorizations import DenialReason
from prism_memory.types.scopes import Scope


@dataclass(frozen=True)
class Denial:
    """A source was withheld when access to it was looked at again.

    Args:
        scope: Where the reader stands.
        source_id: Told here and nowhere else.
        principal: As whom they read; empty where they had no authorization.
        at: When it was looked at.
    """

    scope: Scope
    source_id: uuid.UUID
    reason: DenialReason
    principal: str
    at: dt.datetime
