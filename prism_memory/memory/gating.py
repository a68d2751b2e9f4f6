"""The door's verbs over the gate: hold a record back, and let it through."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import lifecycle
from prism_memory.facts import validate_record
from prism_memory.memory.verbs import Verbs
from prism_memory.types import check_uuid


class Gating(Verbs):
    """What ``Memory`` does to the gate of records. For people and code, not tools."""

    def quarantine(self, record_id: uuid.UUID | str, *, reason: str) -> bool:
        """Hold a record of exactly this scope back until somebody validates it.

        Args:
            reason: For the audit, and needed; no text content.

        Returns:
            False where an operator had done so before: nothing is changed then.

        Raises:
            NotVisible: No such record in this scope.
            Invalid: The reason is blank.
            Conflict: An import is not done with it.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.quarantine(
            **self._who(reason), record_id=check_uuid(record_id)
        )

    def validate(
        self, record_id: uuid.UUID | str, *, reason: str = "", force: bool = False
    ) -> bool:
        """Scan a record of exactly this scope again; open its gate if nothing matches.

        A fact then also takes the place of the one that it waits for, if it may.

        Args:
            reason: For the audit; no text content.
            force: Open it although rules match. No agent's tool may pass this.

        Returns:
            False where it was open: nothing is changed then.

        Raises:
            NotVisible: No such record in this scope.
            StillFlagged: Rules match still; ``markers`` tells where.
            Conflict: An import is not done with it.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return validate_record(
            **self._who(reason), record_id=check_uuid(record_id), force=force
        )

    async def aquarantine(self, record_id: uuid.UUID | str, **kwargs: Any) -> bool:  # noqa: ANN401
        """Do as ``quarantine``, for asynchronous code."""
        return await sync_to_async(self.quarantine)(record_id, **kwargs)

    async def avalidate(self, record_id: uuid.UUID | str, **kwargs: Any) -> bool:  # noqa: ANN401
        """Do as ``validate``, for asynchronous code."""
        return await sync_to_async(self.validate)(record_id, **kwargs)
