"""The verbs of ``memory.sources`` about who may read a document, and its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.access import Reader
from prism_memory.lifecycle.granted import check_grant
from prism_memory.lifecycle.set_access import Given
from prism_memory.recall.source_access import read_access
from prism_memory.types import AccessGrant, Grant, ReadMode, Repointed, check_name

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory


class Granting:
    """A part of ``memory.sources``. Each change is audited."""

    memory: Memory

    def set_access(self, grants: Given, *, reason: str = "") -> None:
        """Let exactly these principals and groups read documents of exactly this scope.

        What was granted before is replaced, source by source; an empty list revokes
        all. From the first time on a source is restricted: who has no grant reads
        neither it nor what was derived from it.

        Args:
            grants: ``{key: [AccessGrant(principal="ada"), AccessGrant(group="hr")]}``,
                or pairs of both; 1,024 sources and 1,024 grants at most.
            reason: For the audit; no text content.

        Raises:
            Invalid: A source is named twice, or a grant given twice to one.
            LimitExceeded: More than 1,024.
            NotVisible: No such source in this scope.
        """
        lifecycle.set_access(**self.memory._who(reason), grants=grants)  # noqa: SLF001

    def access(
        self, key: str, *, by: Grant | None = None
    ) -> tuple[AccessGrant, ...] | None:
        """Return who may read a source of exactly this scope.

        None where it is not restricted: all read it who see the scope. One query.

        Args:
            by: Who the host has verified to govern this scope: they need not be able to
                read the source. When None, as whom the memory reads.

        Raises:
            NotVisible: No such source in this scope, or it may not be read.
            ScopeDenied: The grant does not open this scope.
            PermissionDenied: It does not govern.
        """
        memory = self.memory
        if by is not None:
            check_grant(by, memory.scope)
        reader = Reader(
            memory.scope,
            ReadMode.EXACT,
            authorization=memory.authorization,
            include_restricted=by is not None,
        )
        return read_access(
            using=memory.using, reader=reader, key=check_name(key, "key")
        )

    def repoint(
        self, from_key: str, to_key: str, *, by: Grant, reason: str = ""
    ) -> Repointed:
        """Give a source of exactly this scope another key.

        Its records, citations, lineage and grants move with it, at once: they hang on
        its id. Nothing is embedded anew.

        Args:
            to_key: No other source's.
            by: Who the host has verified; refused before anything is written.
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: The grant does not open this scope, or the source is restricted
                and not granted to its authorization.
            PermissionDenied: It does not govern.
            Invalid: A key cannot be stored or holds a secret, or both are one.
            NotVisible: No such source in this scope.
            Conflict: Another source has the key.
        """
        memory = self.memory
        memory.redaction.check_names({"to_key": to_key})
        return lifecycle.repoint(
            using=memory.using,
            scope=memory.scope,
            by=by,
            from_key=from_key,
            to_key=to_key,
            at=timezone.now(),
            reason=memory._noted(reason, "reason"),  # noqa: SLF001 - its other half
        )

    async def aset_access(self, grants: Given, *, reason: str = "") -> None:
        """Do as ``set_access``, for asynchronous code."""
        await sync_to_async(self.set_access)(grants, reason=reason)

    async def aaccess(
        self, key: str, *, by: Grant | None = None
    ) -> tuple[AccessGrant, ...] | None:
        """Do as ``access``, for asynchronous code."""
        return await sync_to_async(self.access)(key, by=by)

    async def arepoint(self, from_key: str, to_key: str, **kwargs: Any) -> Repointed:  # noqa: ANN401
        """Do as ``repoint``, for asynchronous code."""
        return await sync_to_async(self.repoint)(from_key, to_key, **kwargs)
