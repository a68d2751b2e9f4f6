"""What ``prism_memory_index status`` says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from prism_memory import indexing
from prism_memory.management.command import table
from prism_memory.models import EmbeddingSpace
from prism_memory.models.choices import IndexMode, SpaceState


@dataclass(frozen=True)
class SpaceStatus:
    """A space and its index.

    Args:
        index: ``valid``, ``invalid``, ``missing``, or ``none`` where none was made.
    """

    id: int
    alias: str
    embedder: str
    state: str
    index: str
    index_bytes: int


@dataclass(frozen=True)
class TenantStatus:
    """What of a tenant waits for its vector."""

    tenant: str
    pending: int
    failed: int
    oldest_at: str | None


@dataclass(frozen=True)
class Status:
    """How the vectors are."""

    spaces: list[SpaceStatus]
    tenants: list[TenantStatus]
    tables: dict[str, int]

    @property
    def broken(self) -> list[str]:
        """Indexes that recall counts on and cannot use (C06)."""
        return [
            f"{space.alias} ({space.index})"
            for space in self.spaces
            if space.state == SpaceState.ACTIVE
            and space.index in {"invalid", "missing"}
        ]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return it for people."""
        spaces = [tuple(asdict(space).values()) for space in self.spaces]
        tenants = [tuple(asdict(tenant).values()) for tenant in self.tenants]
        headers = ("space", "alias", "embedder", "state", "index", "bytes")
        return [
            *table(headers, [(str(space[0]), *space[1:]) for space in spaces]),
            "",
            *table(("tenant", "pending", "failed", "oldest"), tenants),
            "",
            *table(("table", "bytes"), list(self.tables.items())),
        ]


def status(*, using: str, alias: str, tenants: Iterable[str]) -> Status:
    """Return how the vectors are. Two queries, one a space and one a tenant."""
    space = indexing.find_active(using=using, alias=alias)
    spaces = EmbeddingSpace.objects.using(using).order_by("alias", "id")
    return Status(
        spaces=[_space(using, row) for row in spaces],
        tenants=[_tenant(using, space, name) for name in tenants if space],
        tables=indexing.table_sizes(using=using),
    )


def _space(using: str, row: EmbeddingSpace) -> SpaceStatus:
    wanted = row.index_mode == IndexMode.HNSW
    space = indexing.space_of(row)
    found = indexing.index_state(using=using, space=space)
    state = "valid" if found.valid else "invalid"
    if not found.exists:
        state = "missing" if wanted else "none"
    return SpaceStatus(
        row.id, row.alias, str(row.identity), row.state, state, found.bytes
    )


def _tenant(using: str, space: indexing.Space, tenant: str) -> TenantStatus:
    found = indexing.pending_of_tenant(using=using, space=space, tenant=tenant)
    oldest = found.oldest_at.isoformat() if found.oldest_at else None
    return TenantStatus(tenant, found.pending, found.failed, oldest)
