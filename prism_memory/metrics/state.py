"""What waits, runs and failed, read from the database at a bounded cost.

No table is read through: each count walks an index and stops at a bound. No text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.indexing import index_name
from prism_memory.indexing.spaces import space_of
from prism_memory.models import EmbeddingSpace, SpaceState
from prism_memory.models.choices import IndexMode, ReviewWhyChoice
from prism_memory.runs.progress import DONE

MOST_COUNTED: Final = 100_000
"""Of each thing and tenant; there may be more. So many index entries take 20 ms."""


@dataclass(frozen=True)
class Queue:
    """What waits for its vector in one space.

    Args:
        oldest_seconds: Age of the oldest among the thousand that are due first.
    """

    space_id: int
    pending: int
    failed: int
    oldest_seconds: float


@dataclass(frozen=True)
class Running:
    """Runs of one kind that are at work.

    Args:
        done: Of ``total``, together, where both are known; else both are 0.
        silent_seconds: Since the last sign of life of the most silent one.
    """

    kind: str
    runs: int
    done: float
    total: float
    silent_seconds: float


@dataclass(frozen=True)
class Waiting:
    """What waits for a person, for one reason."""

    why: str
    waiting: int
    oldest_seconds: float


@dataclass(frozen=True)
class TenantState:
    """What there is of one tenant.

    Args:
        ended: Runs that began within a day and have ended, by kind and state.
    """

    queues: tuple[Queue, ...] = ()
    running: tuple[Running, ...] = ()
    ended: tuple[tuple[str, str, int], ...] = ()
    reviews: tuple[Waiting, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The sums that charts are drawn of."""
        ended = Counter[str]()
        for _kind, state, runs in self.ended:
            ended[state] += runs
        return {
            "pending": sum(queue.pending for queue in self.queues),
            "failed": sum(queue.failed for queue in self.queues),
            "reviews": sum(one.waiting for one in self.reviews),
            "running": sum(one.runs for one in self.running),
            "failed_runs": ended["failed"],
        }

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to tell of it."""
        return not (self.ended or any(self.counts.values()))


@dataclass(frozen=True)
class SpaceHealth:
    """A space and its index.

    Args:
        healthy: The index is there and whole, or none is wished for.
    """

    id: int
    alias: str
    state: str
    healthy: bool
    index_bytes: int


@for_tenant
def state_of(*, using: str, tenant: str, space_ids: Sequence[int]) -> TenantState:
    """Return the state of a tenant; '' is the installation's own. One query."""
    given = {
        "tenant": tenant,
        "space_ids": list(space_ids),
        "most": MOST_COUNTED,
        "done_of": json.dumps(DONE),
        "whys": [str(why) for why in ReviewWhyChoice.values],
    }
    (found,) = queries.fetch(using, named("metrics")["state_of_tenant"], given)
    row = {name: as_json(value) for name, value in found.items()}
    return TenantState(
        queues=tuple(
            Queue(one["space_id"], one["pending"], one["failed"], _age(one, "oldest"))
            for one in row["queues"] or ()
            if one["pending"] or one["failed"]
        ),
        running=tuple(
            Running(
                one["kind"],
                one["runs"],
                float(one["done"] or 0),
                float(one["total"] or 0),
                _age(one, "silent"),
            )
            for one in row["running"] or ()
        ),
        ended=tuple((o["kind"], o["state"], o["runs"]) for o in row["ended"] or ()),
        reviews=tuple(
            Waiting(one["why"], one["waiting"], _age(one, "oldest"))
            for one in row["reviews"] or ()
            if one["waiting"]
        ),
    )


def as_json(found: object) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON as it is read: Django's cursors leave jsonb as text."""
    return json.loads(found) if isinstance(found, str) else found


def _age(row: dict[str, Any], name: str) -> float:
    return max(0.0, float(row[f"{name}_seconds"] or 0))


def spaces(*, using: str) -> list[SpaceHealth]:
    """Return the spaces that are in use, and how their indexes are. Two queries."""
    rows = EmbeddingSpace.objects.using(using).filter(
        state__in=(SpaceState.ACTIVE, SpaceState.BUILDING)
    )
    found = list(rows.order_by("alias", "id"))
    names = {row.id: index_name(space_of(row)) for row in found}
    given = {"names": list(names.values())}
    states = {
        state["name"]: state
        for state in queries.fetch(using, named("metrics")["index_states"], given)
    }
    return [_health(row, states.get(names[row.id])) for row in found]


def _health(row: EmbeddingSpace, state: dict[str, Any] | None) -> SpaceHealth:
    wanted = row.index_mode == IndexMode.HNSW
    return SpaceHealth(
        row.id,
        row.alias,
        str(row.state),
        healthy=not wanted if state is None else bool(state["valid"]),
        index_bytes=0 if state is None else state["bytes"],
    )


@dataclass(frozen=True)
class Size:
    """A table: rows as PostgreSQL last counted, bytes with indexes."""

    name: str
    rows: int
    bytes: int


def sizes(*, using: str) -> list[Size]:
    """Return how large the large tables are. One query; nothing is counted."""
    found = queries.fetch(using, named("metrics")["sizes"], {})
    return [Size(r["name"], max(0, r["rows"]), r["bytes"]) for r in found]


def totals(states: Iterable[TenantState]) -> dict[str, int]:
    """Return the sums over tenants."""
    summed = Counter[str]()
    for state in states:
        summed.update(state.counts)
    return {name: summed[name] for name in TenantState().counts}
