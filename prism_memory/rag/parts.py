"""What the parts of the store have in common."""

from __future__ import annotations

from prism_memory import backends, indexing
from prism_memory.errors import EmbedderMismatch
from prism_memory.memory import Memory
from prism_memory.rag.connections import Connections
from prism_memory.types import Scope


class Part:
    """A part of ``DocumentStore``. See there."""

    scope: Scope
    memory: Memory
    connections: Connections
    dimensions: int | None

    def _width(self) -> int:
        """Return the width of the vectors that are stored here, or would be."""
        memory = self.memory
        space = indexing.known_space(using=memory.using, alias=memory.embedder)
        if space is not None:
            return space.identity.dimensions
        return backends.get_embedder(memory.embedder).dimensions

    def _check_width(self) -> None:
        """Check the width that the store was made for (B224).

        Raises:
            EmbedderMismatch: It is another.
        """
        if self.dimensions is None:
            return
        if (width := self._width()) != self.dimensions:
            message = f"Vectors have {width} dimensions, not {self.dimensions}."
            raise EmbedderMismatch(message, field="dimensions")
