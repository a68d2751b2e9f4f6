"""Count what an erasure would remove, and what holds would keep. Changes nothing."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Model, Q
from psycopg import sql

from prism_memory.access import held
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.erasure.copies import EXPORTS, copies_of, elsewhere
from prism_memory.governance.erasure.entities import mentioned, unmentioned
from prism_memory.governance.erasure.places import (
    GUARDED,
    HOLD_NAMES,
    STONES,
    entities_of,
    named_rows,
    outside_of,
)
from prism_memory.governance.erasure.receipts import count_kept
from prism_memory.governance.erasure.target import Target, find, released_holds
from prism_memory.lifecycle.evidence import Loss, loss_of
from prism_memory.lifecycle.reach import reach
from prism_memory.lifecycle.registry import (
    ERASURE,
    WithScope,
    WithSource,
    tables_of_record,
)
from prism_memory.models import (
    Entity,
    EntityMerge,
    Evidence,
    LineageEdge,
    ShareGrant,
    ShareGrantItem,
    Source,
)
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Foreseen, Kind, Scope, record_ids


@for_tenant
def foresee(
    *,
    using: str,
    scope: Scope,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
) -> Foreseen:
    """Count what ``erase`` would remove now, and what it would keep.

    In the receipt's own words. Reads what an erasure would read.

    Raises:
        Invalid: As ``erase``.
    """
    target = find(using=using, scope=scope, record_id=record_id, source_key=source_key)
    if not target.found:
        return Foreseen(target.level, target.ref, found=False)
    return _Looking(using, target).foreseen()


class _Looking:
    """One look at what would go."""

    def __init__(self, using: str, target: Target) -> None:
        self.using = using
        self.target = target
        self.loss = Loss(reach((), ()))
        self.reached = self._spared(self._reached())
        self.free = [row["id"] for row in self.reached if not row["held"]]
        self.sources = [] if target.family == "record" else self._sources()
        self.places = self._places() if target.is_scope else []
        self.unmentioned = self._unmentioned()
        self._keep_named_places()

    def foreseen(self) -> Foreseen:
        """Return the counts."""
        others = [row for row in self.reached if not row["mine"]]
        counts = {name: count for name, count in self._counts().items() if count}
        return Foreseen(
            self.target.level,
            self.target.ref,
            found=True,
            counts=counts,
            derived=sum(not row["held"] for row in others),
            kept=self._kept(counts)
            | {
                "derived": sum(row["held"] for row in others),
                "spared": len(self.loss.spared),
            },
        )

    def _counts(self) -> Counter[str]:
        counts = Counter(
            {
                _table(model): self._count(
                    model, how.rows(self.target.tenant, self.free)
                )
                for model, how in tables_of_record()
            }
        )
        counts += self._links() + self._entities()
        counts[_table(Source)] += len(self.sources)
        for model, how in ERASURE.items():
            if isinstance(how, WithSource):
                of_sources = Q(**{f"{how.column}__in": self.sources})
                counts[_table(model)] += self._count(model, of_sources)
        if self.target.is_scope:
            for model, rows in named_rows(using=self.using, target=self.target):
                counts[_table(model)] += rows.count()
            counts += self._beside()
            holds = released_holds(using=self.using, target=self.target)
            counts += Counter({HOLD_NAMES: holds.count(), STONES: self._stones()})
        counts[EXPORTS] += len(self._exports())
        return counts

    def _stones(self) -> int:
        """Count the tombstones on things outside, which go with the scopes."""
        gone = [str(row["id"]) for row in self.places if row["goes"]]
        statement = composed("erasure", "count_outside", outside=outside_of())
        given = {"tenant": self.target.tenant, "gone": gone}
        (row,) = queries.fetch(self.using, statement, given)
        return int(row["stones"])

    def _links(self) -> Counter[str]:
        """Count what facts lose that stay, beside what goes with records."""
        links, gone = self.loss.links, set(self.free)
        held_ones = sum(record_id not in gone for _, record_id in links)
        return Counter({_table(Evidence): held_ones, _table(LineageEdge): len(links)})

    def _unmentioned(self) -> set[uuid.UUID]:
        """Return the entities that nothing would speak of any more."""
        given: dict[str, Any] = {"using": self.using, "tenant": self.target.tenant}
        free = set(self.free)
        facts = [r["id"] for r in self.reached if r["kind"] == Kind.FACT]
        facts = [fact_id for fact_id in facts if fact_id in free]
        ids = mentioned(**given, fact_ids=facts)
        ids |= entities_of(**given, scope_ids=[row["id"] for row in self.places])
        return unmentioned(**given, ids=ids, without=facts)

    def _entities(self) -> Counter[str]:
        gone = self.unmentioned
        merges = Q(entity_id__in=gone) | Q(into_id__in=gone)
        counts = {Entity: len(gone), EntityMerge: self._count(EntityMerge, merges)}
        return Counter({_table(model): count for model, count in counts.items()})

    def _beside(self) -> Counter[str]:
        """Count what goes with scopes beside records: shares, and themselves."""
        ids = [row["id"] for row in self.places]
        counts = Counter({_table(ScopeRow): sum(row["goes"] for row in self.places)})
        for model, how in ERASURE.items():
            if isinstance(how, WithScope) and not how.by_names and model not in GUARDED:
                where = Q()
                for column in how.columns:
                    where |= Q(**{f"{column}__in": ids})
                counts[_table(model)] += self._rows(model).filter(where).count()
        grants = Q(parent_id__in=ids) | Q(child_id__in=ids)
        lists = Q(grant_id__in=list(self._rows(ShareGrant, grants)))
        items = self._rows(ShareGrantItem).filter(lists)
        counts[_table(ShareGrantItem)] += items.exclude(record_id__in=self.free).count()
        return counts

    def _kept(self, counts: dict[str, int]) -> dict[str, int]:
        there = count_kept(using=self.using, target=self.target)
        mine = [row for row in self.reached if row["mine"] and not row["held"]]
        facts = sum(row["kind"] == Kind.FACT.value for row in mine)
        gone = {
            "records": len(mine),
            "facts": facts,
            "sources": len(self.sources),
            "scopes": counts.get(_table(ScopeRow), 0),
        }
        return {name: count - gone[name] for name, count in there.items()}

    def _exports(self) -> list[Any]:
        given: dict[str, Any] = {"using": self.using, "target": self.target}
        ids = {
            row["scope_id"]
            for row in self.reached
            if not row["mine"] and not row["held"]
        }
        return copies_of(**given, elsewhere=elsewhere(**given, scope_ids=ids))

    def _reached(self) -> list[dict[str, Any]]:
        target = self.target
        roots = sql.SQL(named("erasure")[f"{target.family}_roots"])
        if self.target.is_scope:
            filled = roots.format(within=self.target.within).as_string(None)
            roots = sql.SQL(filled)
        statement = composed("erasure", "foreseen", held=held(), roots=roots)
        return queries.fetch(self.using, statement, self.target.parameters())

    def _spared(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Leave out what stays, as facts cite something else too."""
        if not any(row["kind"] == Kind.FACT and not row["mine"] for row in rows):
            return rows
        roots = [row["id"] for row in rows if row["mine"] and not row["held"]]
        self.loss = loss_of(using=self.using, tenant=self.target.tenant, ids=roots)
        there = record_ids(self.loss.reached.refs)
        return [row for row in rows if row["id"] in there]

    def _sources(self) -> list[uuid.UUID]:
        within = self.target.within if self.target.is_scope else sql.SQL("TRUE")
        found = self._fetch("foreseen_sources", within)
        return [row["id"] for row in found]

    def _places(self) -> list[dict[str, Any]]:
        return self._fetch("foreseen_places", self.target.within, sources=self.sources)

    def _keep_named_places(self) -> None:
        """Keep the scopes of entities that something still speaks of."""
        ids = [row["id"] for row in self.places]
        named_by = self._rows(Entity).filter(scope_id__in=ids)
        left = named_by.exclude(id__in=self.unmentioned)
        kept = set(left.values_list("scope_id", flat=True))
        for row in self.places:
            row["goes"] = row["goes"] and row["id"] not in kept

    def _fetch(
        self, name: str, within: sql.SQL, sources: Sequence[uuid.UUID] = ()
    ) -> list[dict[str, Any]]:
        covered = sql.SQL(named("erasure")["covered"])
        parts = {"held": held(), "within": within, "covered": covered}
        given = {**self.target.parameters(), "sources": list(sources)}
        return queries.fetch(self.using, composed("erasure", name, **parts), given)

    def _count(self, model: type[Model], where: Q) -> int:
        return int(self._rows(model).filter(where).count())

    def _rows(self, model: type[Model], where: Q | None = None) -> Any:  # noqa: ANN401
        rows = model._base_manager.using(self.using)  # noqa: SLF001
        mine = rows.filter(tenant=self.target.tenant)
        return (
            mine if where is None else mine.filter(where).values_list("id", flat=True)
        )


def _table(model: type[Model]) -> str:
    return model._meta.db_table  # noqa: SLF001 - Django has no other name for it
