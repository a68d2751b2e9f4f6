"""What all parts of ``memory.facts`` have in common."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone

from prism_memory.access import Reader
from prism_memory.facts import Which, get_fact
from prism_memory.facts.writing import Prepared, prepare_claim
from prism_memory.recall.options import reader_of
from prism_memory.types import (
    Claim,
    FactItem,
    FactPage,
    Origin,
    check_name,
    check_part,
)

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory

SHOWN: Final = (
    *("text", "subject", "predicate", "value", "tags", "key", "writer"),
    *("closing_reason", "reason", "gate_reason"),
)
"""Fields of a fact that never show a configured secret (B133)."""


class Facing:
    """A part of ``memory.facts``. See ``claims.Facts``."""

    def __init__(self, memory: Memory) -> None:
        """Look at the facts of one memory."""
        self.memory = memory
        self.scope = memory.scope

    def _reader(self) -> Reader:
        return reader_of(self.memory._asker(), {})  # noqa: SLF001 - its other half

    def _who(self, reason: str) -> dict[str, Any]:
        return self.memory._who(reason)  # noqa: SLF001 - its other half

    def _page(self, limit: int | None, cursor: str | None) -> dict[str, Any]:
        return self.memory._page(limit, cursor)  # noqa: SLF001 - its other half

    def _prepared(self, claim: Claim, origin: Origin | None) -> Prepared:
        self.memory._refuse_secret_scope()  # noqa: SLF001 - its other half
        self.memory._space_to_write()  # noqa: SLF001 - so that it gets its vector
        return prepare_claim(
            claim,
            origin=check_part(origin, Origin, "origin") or self.memory.origin,
            limits=self.memory.limits,
            redaction=self.memory.redaction,
        )

    def _stored(self, fact_id: uuid.UUID) -> FactItem:
        """Return a fact that was just written, whoever may read it."""
        seeing = replace(
            self._reader(),
            include_quarantined=True,
            include_restricted=True,
            strict=False,
            at=timezone.now(),
        )
        using = self.memory.using
        return self._masked(get_fact(using=using, reader=seeing, fact_id=fact_id))

    def _which(self, which: Which) -> Which:
        return which if isinstance(which, uuid.UUID) else check_name(which, "id")

    def _shown(self, page: FactPage) -> FactPage:
        return replace(page, items=tuple(map(self._masked, page.items)))

    def _masked(self, found: FactItem) -> FactItem:
        redaction = self.memory.redaction
        if not redaction.secrets:
            return found
        shown = {name: redaction.mask_json(getattr(found, name)) for name in SHOWN}
        return replace(found, **shown | {"tags": tuple(shown["tags"])})
