"""The door's verbs about generations of documents."""

from __future__ import annotations

from asgiref.sync import sync_to_async

from prism_memory import lifecycle
from prism_memory.access import Reader
from prism_memory.lifecycle.generations import generations
from prism_memory.memory.verbs import Verbs
from prism_memory.types import Generations, ReadMode


class Generating(Verbs):
    """Which generation of exactly the memory's scope its readers see."""

    def set_current_generation(
        self, generation: int | None, *, reason: str = ""
    ) -> int | None:
        """Let readers see this generation and no other; return the one before.

        A pointer alone changes: nobody sees half of two. Setting what was returned
        rolls back. What has no generation is always seen.

        Args:
            generation: From 0; None: as before the first swap, when all are seen.
            reason: For the audit; no text content.

        Raises:
            LimitExceeded: ``generation`` is no integer, negative or too large.
        """
        return lifecycle.set_current_generation(
            **self._who(reason), generation=generation
        )

    def generations(self) -> Generations:
        """Return the generations here and how much each holds. Two queries.

        Chunks of restricted documents that this memory may not read do not count.
        """
        reader = Reader(self.scope, ReadMode.EXACT, authorization=self.authorization)
        return generations(using=self.using, scope=self.scope, reader=reader)

    async def aset_current_generation(
        self, generation: int | None, *, reason: str = ""
    ) -> int | None:
        """Do as ``set_current_generation``, for asynchronous code."""
        return await sync_to_async(self.set_current_generation)(
            generation, reason=reason
        )

    async def agenerations(self) -> Generations:
        """Do as ``generations``, for asynchronous code."""
        return await sync_to_async(self.generations)()
