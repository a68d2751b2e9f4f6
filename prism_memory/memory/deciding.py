"""Decisions about facts that are there: audited, and each on both time axes."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import facts as floor
from prism_memory.facts import Decided, Which
from prism_memory.memory.facing import Facing
from prism_memory.types import Forgotten


class Deciding(Facing):
    """Verbs of ``memory.facts`` about one fact of exactly the memory's scope.

    ``which`` is a fact's id or its key; of several with a key the open one. ``reason``
    goes to the audit and the history, and holds no text content. Each raises
    ``NotVisible`` where there is no such fact in this scope, and ``Unsupported`` in a
    host's transaction that is not READ COMMITTED.
    """

    def accept(
        self, which: Which, *, from_belief: bool = False, reason: str = ""
    ) -> Decided:
        """Turn a proposal into an accepted fact (B309). For code and people only.

        One that waits to replace another does so now, if its gate is open.

        Raises:
            Conflict: It is accepted already, a belief without ``from_belief``, or open
                no more (B310).
        """
        return floor.accept(
            **self._who(reason), which=self._which(which), from_belief=from_belief
        )

    def retract(self, which: Which, *, reason: str = "") -> None:
        """End the recorded time of a fact: we were wrong (B308). For good.

        What is derived from it is blocked; earlier moments are still answered.

        Raises:
            Conflict: It is superseded, retracted or forgotten already.
        """
        floor.retract(**self._who(reason), which=self._which(which))

    def validate(
        self, which: Which, *, force: bool = False, reason: str = ""
    ) -> Decided:
        """Open the gate of a fact, and let it replace what it waits for (B411, B423).

        Args:
            force: Although rules of the gate still match. No agent's tool may pass it.

        Raises:
            StillFlagged: Rules match still; nothing is changed (B412).
            Conflict: It is retracted or forgotten.
        """
        return floor.validate_fact(
            **self._who(reason), which=self._which(which), force=force
        )

    def quarantine(self, which: Which, *, reason: str) -> None:
        """Hold a fact back until somebody validates it.

        Raises:
            Invalid: The reason is blank.
            Conflict: It is retracted or forgotten.
        """
        floor.quarantine_fact(**self._who(reason), which=self._which(which))

    def forget(self, which: Which, *, reason: str = "") -> None:
        """Hide a fact for good, whatever its state, and what is derived from it.

        No reader gets its words again; its history shows that it was (B416).

        Raises:
            Conflict: It is forgotten already, or held.
        """
        floor.forget_fact(**self._who(reason), which=self._which(which))

    def purge(self, which: Which, *, reason: str = "") -> Forgotten:
        """Delete a fact and all that is derived from it; ids stay in the audit (B417).

        Raises:
            Conflict: A legal hold keeps it.
            LimitExceeded: More derives from it than is removed at once.
        """
        return floor.purge(**self._who(reason), which=self._which(which))

    def archive(self, which: Which, *, reason: str = "") -> None:
        """Put a fact aside: it is not recalled until ``unarchive``.

        Raises:
            Conflict: It is archived, retracted or forgotten already, or held.
        """
        floor.archive(**self._who(reason), which=self._which(which))

    def unarchive(self, which: Which, *, reason: str = "") -> None:
        """Take a fact back that was put aside.

        Raises:
            Conflict: It is not archived, or was retracted or forgotten meanwhile.
        """
        floor.unarchive(**self._who(reason), which=self._which(which))

    async def aaccept(self, *args: Any, **kwargs: Any) -> Decided:  # noqa: ANN401
        """Do as ``accept``, for asynchronous code."""
        return await sync_to_async(self.accept)(*args, **kwargs)

    async def aretract(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``retract``, for asynchronous code."""
        await sync_to_async(self.retract)(*args, **kwargs)

    async def avalidate(self, *args: Any, **kwargs: Any) -> Decided:  # noqa: ANN401
        """Do as ``validate``, for asynchronous code."""
        return await sync_to_async(self.validate)(*args, **kwargs)

    async def aquarantine(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``quarantine``, for asynchronous code."""
        await sync_to_async(self.quarantine)(*args, **kwargs)

    async def aforget(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``forget``, for asynchronous code."""
        await sync_to_async(self.forget)(*args, **kwargs)

    async def apurge(self, *args: Any, **kwargs: Any) -> Forgotten:  # noqa: ANN401
        """Do as ``purge``, for asynchronous code."""
        return await sync_to_async(self.purge)(*args, **kwargs)

    async def aarchive(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``archive``, for asynchronous code."""
        await sync_to_async(self.archive)(*args, **kwargs)

    async def aunarchive(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``unarchive``, for asynchronous code."""
        await sync_to_async(self.unarchive)(*args, **kwargs)
