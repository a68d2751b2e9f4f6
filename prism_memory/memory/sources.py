"""``memory.sources``: documents and streams, and who may read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_memory.db.tenancy import for_its_tenant
from prism_memory.memory.granting import Granting

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory


@for_its_tenant
class Sources(Granting):
    """The sources of one memory's scope."""

    def __init__(self, memory: Memory) -> None:
        """Look at the sources of one memory."""
        self.memory = memory
        self.scope = memory.scope
