"""What becomes of facts when some of what they cite is deleted (B320, B322, B329).

One that cites something else stays: it cites no longer what goes, and is judged anew by
what is left. One that loses its last evidence goes too. Whoever calls has the tenant's
lineage to itself.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from psycopg import sql

from prism_memory.acceptance import judge
from prism_memory.access import held
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.reach import Reach, reach
from prism_memory.lifecycle.restricting import keep_through
from prism_memory.lifecycle.reviews import open_reviews
from prism_memory.lifecycle.standing import bereft, standing
from prism_memory.lifecycle.tombstones import (
    MOST_DISTANCE,
    MOST_REFS,
    derivations,
    lift_left,
    walk,
)
from prism_memory.lifecycle.versions import instant
from prism_memory.models import Evidence, Fact, LineageEdge
from prism_memory.types import (
    Acceptance,
    Actor,
    ReviewWhy,
    TombstoneReason,
    Trust,
    record_ids,
    record_ref,
)

Link = tuple[uuid.UUID, uuid.UUID]
"""Ids of a fact and of a record that it cites."""

FIRMNESS: Final = (Acceptance.PROPOSAL, Acceptance.BELIEF, Acceptance.ACCEPTED)
"""From what may least be relied on."""


@dataclass(frozen=True)
class Loss:
    """What goes with some roots, and what facts lose that stay.

    Args:
        reached: The roots, and what can be used no more without them.
        edges: By which things derive from the roots that go too.
        links: What facts that stay cite no longer.
        cited: What each fact cites that derives from the roots, by refs.
    """

    reached: Reach
    edges: Sequence[tuple[str, str]] = ()
    links: tuple[Link, ...] = ()
    cited: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def spared(self) -> frozenset[uuid.UUID]:
        """Facts that lose some of their evidence, and stay."""
        return frozenset(fact_id for fact_id, _ in self.links)

    def check(self, *, most_refs: int, most_distance: int) -> None:
        """Do nothing if it is within the caps: what is spared is work too.

        Raises:
            LimitExceeded: It is not.
        """
        self.reached.check(most_refs=most_refs, most_distance=most_distance)
        if len(self.reached.distance) + len(self.spared) > most_refs:
            message = f"With the facts that cite them these are more than {most_refs}."
            raise LimitExceeded(message, field="lineage")

    def marks(self, *, each_root: bool) -> list[tuple[str, str]]:
        """Return what to block, each with the root that it is blocked because of.

        Args:
            each_root: All that it derives from; else the nearest alone.
        """
        if not each_root:
            return [(ref, self.reached.nearest[ref]) for ref in self.reached.refs]
        return [
            (ref, root)
            for root in self.reached.roots
            for ref in reach([root], self.edges).refs
        ]

    def bodies(self, ids: Collection[uuid.UUID], *, dependents: bool) -> set[uuid.UUID]:
        """Return which records go with ``ids``.

        Args:
            dependents: All that was reached; else only facts that cite nothing then.
        """
        if dependents:
            return record_ids(self.reached.refs)
        return {*ids, *record_ids(bereft(map(record_ref, ids), self.cited))}


@dataclass(frozen=True)
class Unlinked:
    """What facts that stay lost.

    Args:
        rows: Rows deleted, by table.
        lowered: Facts that may be relied on less than before.
    """

    rows: Mapping[str, int] = field(default_factory=dict)
    lowered: int = 0


def loss_of(*, using: str, tenant: str, ids: Collection[uuid.UUID]) -> Loss:
    """Return what goes with some records, however much it is. Two queries."""
    roots = [record_ref(record_id) for record_id in sorted(ids)]
    edges = derivations(using=using, tenant=tenant, roots=roots)
    cited = _cited(using, tenant, record_ids({*roots, *(ref for _, ref in edges)}))
    kept = standing(set(roots), edges, cited)
    going = [(source, ref) for source, ref in edges if not {source, ref} & kept]
    reached = reach(roots, going)
    links = [
        (fact, record)
        for fact in sorted(kept & cited.keys())
        for record in sorted(cited[fact])
        if record in reached.distance
    ]
    return Loss(reached, going, tuple(_ids(link) for link in links), cited)


def loss_of_forgetting(*, using: str, tenant: str, ids: Collection[uuid.UUID]) -> Loss:
    """Return what goes where a person forgets some records. Two queries.

    Raises:
        LimitExceeded: More than that may be at once.
    """
    loss = loss_of(using=using, tenant=tenant, ids=ids)
    loss.check(most_refs=MOST_REFS, most_distance=MOST_DISTANCE)
    return loss


def _cited(using: str, tenant: str, ids: Collection[uuid.UUID]) -> dict[str, set[str]]:
    given = {"tenant": tenant, "record_ids": list(ids)}
    cited: dict[str, set[str]] = defaultdict(set)
    for row in queries.fetch(using, composed("evidence", "cited", held=held()), given):
        cited[record_ref(row["fact_id"])].add(record_ref(row["record_id"]))
    return dict(cited)


def _ids(link: tuple[str, str]) -> Link:
    (fact_id,), (record_id,) = record_ids(link[:1]), record_ids(link[1:])
    return fact_id, record_id


def lock_facts(
    *, using: str, tenant: str, ids: Collection[uuid.UUID], wait: bool = True
) -> None:
    """Lock those of some ids that are facts, after their records. One query.

    Args:
        wait: For others' locks; else the first one raises.
    """
    how = sql.SQL("" if wait else "NOWAIT")
    statement = composed("evidence", "lock_facts", wait=how)
    queries.fetch(using, statement, {"tenant": tenant, "fact_ids": list(ids)})


def unlink(
    *,
    using: str,
    tenant: str,
    links: Sequence[Link],
    actor: Actor,
    at: dt.datetime,
) -> Unlinked:
    """Take evidence from facts that keep other, and judge those anew (B329).

    Their rows are locked. Deleting evidence never promotes a fact: else who deletes
    could make a claim that was only proposed one that is relied on. Nor does it open
    one that draws upon a restricted document. Seven queries at most, and one for each
    scope of proposals; none without links.
    """
    if not links:
        return Unlinked()
    keep_through(using=using, tenant=tenant, links=links)
    given = {
        "tenant": tenant,
        "fact_ids": [fact_id for fact_id, _ in links],
        "record_ids": [record_id for _, record_id in links],
    }
    texts = named("evidence")
    rows = {
        model._meta.db_table: queries.execute(using, texts[name], given)  # noqa: SLF001
        for model, name in (
            (Evidence, "unlink_evidence"),
            (LineageEdge, "unlink_lineage"),
        )
    }
    facts = sorted({fact_id for fact_id, _ in links})
    _show_again(using, tenant, facts, at)
    return Unlinked(rows, _judge_anew(using, tenant, facts, actor, at))


def _show_again(
    using: str, tenant: str, fact_ids: Sequence[uuid.UUID], at: dt.datetime
) -> None:
    """Lift what blocked facts, and what derives from them, because of what went.

    Words that were wrong or gave orders are gone. A revocation stays: who took a
    consent back, and then had the words erased, does not bring the fact into sight.
    """
    roots = [record_ref(fact_id) for fact_id in fact_ids]
    freed = walk(using=using, tenant=tenant, roots=roots).refs
    reasons = (TombstoneReason.CORRECTED, TombstoneReason.QUARANTINED)
    lift_left(
        using=using,
        tenant=tenant,
        record_ids=record_ids(freed),
        at=at,
        reasons=reasons,
    )


def _judge_anew(
    using: str,
    tenant: str,
    fact_ids: Sequence[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> int:
    lowered = _lowered(using, tenant, fact_ids)
    if not lowered:
        return 0
    change: dict[str, Any] = {
        "tenant": tenant,
        "fact_ids": [fact_id for _, fact_id, _ in lowered],
        "acceptances": [acceptance.value for _, _, acceptance in lowered],
        "instant": instant(using=using, tenant=tenant, fact_ids=fact_ids),
        "actor": actor.name,
    }
    texts = named("evidence")
    queries.execute(using, texts["close_versions"], change)
    queries.execute(using, texts["begin_judged"], change)
    waiting: dict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    undecided = Fact.objects.using(using).filter(
        tenant=tenant, id__in=fact_ids, closed_at=None, archived_at=None
    )
    undecided_ids = set(undecided.values_list("id", flat=True))
    for scope_id, fact_id, acceptance in lowered:
        if acceptance is Acceptance.PROPOSAL and fact_id in undecided_ids:
            waiting[scope_id].append(fact_id)
    given: dict[str, Any] = {"using": using, "tenant": tenant, "at": at}
    for scope_id, ids in waiting.items():
        open_reviews(**given, scope_id=scope_id, record_ids=ids, why=ReviewWhy.PROPOSAL)
    return len(lowered)


def _lowered(
    using: str, tenant: str, fact_ids: Sequence[uuid.UUID]
) -> list[tuple[uuid.UUID, uuid.UUID, Acceptance]]:
    """Return the facts that may be relied on less by what they cite now. One query.

    Ids of their scopes, their own, and how far they may.
    """
    given = {"tenant": tenant, "fact_ids": list(fact_ids)}
    found = []
    for row in queries.fetch(using, named("evidence")["held_versions"], given):
        now = judge([Trust(trust) for trust in row["trusts"]])
        if FIRMNESS.index(now) < FIRMNESS.index(Acceptance(row["acceptance"])):
            found.append((row["scope_id"], row["id"], now))
    return found
