"""Measure, on this deployment, from how many vectors on the index is worth a scan.

Reads only. The statements do what the two scans of recall do, without what is the same
in both: who may see a row is looked up for a few candidates alone.
"""

from __future__ import annotations

import math
import statistics
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prism_memory.conf import Settings, settings
from prism_memory.db import queries
from prism_memory.db.local import local_settings
from prism_memory.db.queries import composed, named
from prism_memory.errors import Conflict, Unsupported
from prism_memory.indexing.costs import Calibration, Measured, concluded
from prism_memory.indexing.hnsw import index_state
from prism_memory.indexing.progress import in_host_transaction
from prism_memory.indexing.spaces import Space

ROWS: Final = 16
"""Candidates that a scan is asked for, as recall does for a few hits."""

LOOKED_AT: Final = 3
EF_SEARCH: Final = 1_000
"""As recall's own; a test holds them together."""

SCOPES: Final = 32
TOGETHER: Final = 4
"""Scopes to choose from, and those that one question sees at most."""

SIZES: Final = 6
QUESTIONS: Final = 5
TIMES: Final = 3
"""Each question is asked so often of each size, after once for the caches."""

LEAST_VECTORS: Final = 1_000
MOST_VECTORS: Final = 100_000
"""Fewer say nothing, more take long and no more is learnt."""

Progress = Callable[[int, int], None]
"""Told the sizes that are done, and all."""


@dataclass(frozen=True)
class Group:
    """Scopes that are scanned together, and about how many vectors they hold."""

    scope_ids: tuple[uuid.UUID, ...] = ()
    vectors: int = 0


def calibrate(
    *,
    using: str,
    space: Space,
    tenants: Iterable[str],
    progress: Progress | None = None,
) -> Calibration:
    """Measure both scans in the largest scopes of the tenant that has the most.

    Some hundred queries, and one a tenant; writes nothing.

    Args:
        tenants: Those to choose from.

    Raises:
        Unsupported: Inside a transaction, which cannot be made read-only any more.
        Conflict: There is no valid index, too few vectors, or the times say nothing.
            The message says what to do.
    """
    if in_host_transaction(using):
        message = "Scans are measured outside any transaction."
        raise Unsupported(message)
    if not index_state(using=using, space=space).valid:
        message = "There is no valid index: make it first (prism_memory_index create)."
        raise Conflict(message)
    tenant, scopes = _largest(using, tenants)
    scans = Scans(using, space, tenant)
    groups = chosen(scopes)
    measured = [Measured(0, 0, scans.empty(), 0.0, enough=True)]
    for done, group in enumerate(groups, 1):
        measured.append(scans.measured(group))
        if progress is not None:
            progress(done, len(groups))
    most = int(Settings.EXACT_SCAN_ROWS.maximum or 0)
    return concluded(tenant, measured, most=most)


def _largest(using: str, tenants: Iterable[str]) -> tuple[str, Sequence[Group]]:
    """Return the tenant whose largest scopes hold the most, and these.

    Raises:
        Conflict: They hold too few.
    """
    statement = named("indexing")["largest_scopes"]
    best: tuple[str, Sequence[Group]] = ("", ())
    held = 0
    for tenant in tenants:
        rows = queries.fetch(using, statement, {"tenant": tenant, "rows": SCOPES})
        total = sum(row["vectors"] for row in rows[:TOGETHER])
        if total > held:
            scopes = [Group((row["id"],), row["vectors"]) for row in rows]
            best, held = (tenant, scopes), total
    if held < LEAST_VECTORS:
        message = (
            f"The largest scopes of a tenant hold {held:,} vectors; at least"
            f" {LEAST_VECTORS:,} are needed to measure anything."
        )
        raise Conflict(message)
    return best


def chosen(scopes: Sequence[Group]) -> list[Group]:
    """Return up to ``SIZES`` groups of these scopes, small to large, far apart.

    Args:
        scopes: One each, the largest first.
    """
    together = [
        Group(
            tuple(scope.scope_ids[0] for scope in scopes[:count]),
            sum(scope.vectors for scope in scopes[:count]),
        )
        for count in range(2, min(len(scopes), TOGETHER) + 1)
    ]
    groups = sorted([*scopes, *together], key=lambda group: group.vectors)
    kept = [group for group in groups if group.vectors <= MOST_VECTORS] or groups[:1]
    low, high = math.log(kept[0].vectors), math.log(kept[-1].vectors)
    wanted = [low + (high - low) * step / (SIZES - 1) for step in range(SIZES)]
    near = [
        min(kept, key=lambda group: abs(math.log(group.vectors) - size))
        for size in wanted
    ]
    return list(dict.fromkeys(near))


@dataclass(frozen=True)
class Scans:
    """Asks for scans of one tenant's vectors, and times them."""

    using: str
    space: Space
    tenant: str

    def empty(self) -> float:
        """Return what an exact scan of nothing takes, in ms."""
        nothing = "[" + ",".join(["0"] * self.space.identity.dimensions) + "]"
        return statistics.median(self._exact(Group(), [nothing])[0])

    def measured(self, group: Group) -> Measured:
        """Return what both scans of a group take."""
        given = {**self._place(group), "rows": QUESTIONS}
        texts = named("indexing")
        rows = queries.fetch(self.using, texts["stored_vectors"], given)
        held = queries.fetch(self.using, texts["vectors_in_scopes"], given)
        vectors = int(held[0]["vectors"])
        asked = [row["vector"] for row in rows]
        exact, _ = self._exact(group, asked)
        index, found = self._index(group, asked)
        return Measured(
            scopes=len(group.scope_ids),
            vectors=vectors,
            exact_ms=statistics.median(exact),
            index_ms=statistics.median(index),
            enough=found >= min(ROWS, vectors),
        )

    def _exact(self, group: Group, asked: Sequence[str]) -> tuple[list[float], int]:
        rows = ROWS * LOOKED_AT
        return self._timed("exact_scan", group, asked, {}, rows=rows)

    def _index(self, group: Group, asked: Sequence[str]) -> tuple[list[float], int]:
        needed = {
            "hnsw.iterative_scan": "relaxed_order",
            "hnsw.ef_search": str(EF_SEARCH),
            "hnsw.max_scan_tuples": str(settings.HNSW_MAX_SCAN_TUPLES),
            # Only the index has an order of its own: never measure anything else.
            "enable_sort": "off",
        }
        width = self.space.identity.dimensions
        parts = {"rows": ROWS, "dimensions": width}
        return self._timed("index_scan", group, asked, needed, **parts)

    def _timed(
        self,
        name: str,
        group: Group,
        asked: Sequence[str],
        needed: Mapping[str, str],
        **parts: int,
    ) -> tuple[list[float], int]:
        """Return the times in ms, and the fewest rows that came."""
        statement = composed("indexing", name, space_id=self.space.id, **parts)
        place, times, fewest = self._place(group), [], ROWS
        with local_settings(self.using, {"transaction_read_only": "on", **needed}):
            for turn in range(TIMES + 1):
                for vector in asked:
                    given = {**place, "vector": vector}
                    begun = time.perf_counter()
                    (row,) = queries.fetch(self.using, statement, given)
                    spent = (time.perf_counter() - begun) * 1000
                    fewest = min(fewest, row["found"])
                    times += [spent] if turn else []
        return times, fewest

    def _place(self, group: Group) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "space_id": self.space.id,
            "scope_ids": list(group.scope_ids),
        }
