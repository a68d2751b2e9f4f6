"""``memory.entities``: who and what the facts in sight speak of."""

from __future__ import annotations

import uuid
from dataclasses import replace

from asgiref.sync import sync_to_async

from prism_memory.db.tenancy import for_its_tenant
from prism_memory.facts.entities import get_entity, list_entities
from prism_memory.facts.merge import merge
from prism_memory.facts.unmerge import unmerge
from prism_memory.memory.facing import Facing
from prism_memory.spans import spanned
from prism_memory.types import EntityItem, EntityPage, check_uuid

Id = uuid.UUID | str


@spanned("entities")
@for_its_tenant
class Entities(Facing):
    """The entities of one memory. Call it to list them.

    A fact is linked to the entities of its subject and its object when it is written.
    Names that fold alike are one; others are made one by ``merge``.
    """

    def __call__(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> EntityPage:
        """Return a page of what visible facts speak of, as it was first named.

        A page may be short, or empty, and not be the last. One query.

        Args:
            limit: Rows of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = list_entities(reader=self._reader(), **self._page(limit, cursor))
        return replace(page, items=tuple(map(self._named, page.items)))

    def get(self, entity_id: Id) -> EntityItem:
        """Return one that is merged into no other. One query.

        Raises:
            NotVisible: There is none, or no fact in sight speaks of it.
        """
        found = get_entity(
            using=self.memory.using,
            reader=self._reader(),
            entity_id=check_uuid(entity_id, "entity"),
        )
        return self._named(found)

    def merge(self, entity: Id, into: Id, *, reason: str = "") -> uuid.UUID:
        """Say that two entities of exactly this scope are one; return the merge's id.

        Readers of the scope find the facts of both by either name. Nothing is moved:
        ``unmerge`` restores exactly what was (B396). Audited.

        Args:
            entity: The one that is merged.
            into: The one whose name stands for both.
            reason: For the audit; no text content.

        Raises:
            Invalid: Both are one.
            NotVisible: One is no entity of this scope.
            Conflict: One is merged into another already.
            LimitExceeded: More than 8 merges would lead to one entity in a row.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return merge(
            **self._who(reason),
            entity_id=check_uuid(entity, "entity"),
            into_id=check_uuid(into, "into"),
        )

    def unmerge(self, entity: Id, *, reason: str = "") -> uuid.UUID:
        """Undo a merge; return what the entity was merged into. Audited.

        Raises:
            NotVisible: No such entity in this scope.
            Conflict: It is merged into none.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return unmerge(**self._who(reason), entity_id=check_uuid(entity, "entity"))

    async def alist(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> EntityPage:
        """Do as a call of this, for asynchronous code."""
        return await sync_to_async(self.__call__)(limit=limit, cursor=cursor)

    async def aget(self, entity_id: Id) -> EntityItem:
        """Do as ``get``, for asynchronous code."""
        return await sync_to_async(self.get)(entity_id)

    async def amerge(self, entity: Id, into: Id, *, reason: str = "") -> uuid.UUID:
        """Do as ``merge``, for asynchronous code."""
        return await sync_to_async(self.merge)(entity, into, reason=reason)

    async def aunmerge(self, entity: Id, *, reason: str = "") -> uuid.UUID:
        """Do as ``unmerge``, for asynchronous code."""
        return await sync_to_async(self.unmerge)(entity, reason=reason)

    def _named(self, found: EntityItem) -> EntityItem:
        """Return it without configured secrets."""
        mask = self.memory.redaction.mask
        merged = (replace(one, name=mask(one.name)) for one in found.merged)
        return replace(
            found,
            name=mask(found.name),
            label=mask(found.label),
            merged=tuple(merged),
        )
