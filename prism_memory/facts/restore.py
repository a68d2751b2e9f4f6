"""Bring back the facts of an export: add what is missing, overwrite nothing.

What was retracted, superseded or forgotten here stays so, whatever an older file says;
what was deleted here is blocked by its tombstone, and stays away.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction

from prism_memory import acceptance, lifecycle
from prism_memory.facts.bare_words import store_bare_words
from prism_memory.facts.coming_back import Coming
from prism_memory.facts.forgotten import were_forgotten
from prism_memory.facts.linking import link
from prism_memory.facts.sorted_out import fact_of, find_cited, sorted_out
from prism_memory.facts.vouching import FORGOTTEN
from prism_memory.lifecycle.entries import Row
from prism_memory.lifecycle.reviews import open_reviews
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import instant
from prism_memory.models import Evidence, Fact, FactVersion, Record, Tombstone
from prism_memory.types import (
    Acceptance,
    Actor,
    ReviewWhy,
    Scope,
    Trust,
    record_ids,
    record_ref,
)


@dataclass(frozen=True)
class Back:
    """What one restoring did.

    Args:
        restored: Ids of facts that were missing.
        refused: Ids of those that could not come back, with why.
    """

    restored: tuple[uuid.UUID, ...] = ()
    refused: Mapping[uuid.UUID, str] = field(default_factory=dict)


def restore(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    rows: Sequence[Row],
    embedder: str,
    at: dt.datetime,
    trusted: bool,
) -> Back:
    """Store those facts of exactly ``scope`` that are not there. All, or none.

    Args:
        rows: Made of ``Restored`` entries, each of a fact.
        trusted: Believe the file what was held when. Else a fact is held from now on,
            and no more accepted than the file says, and than its evidence allows here.
    """
    given: dict[str, Any] = {"using": using, "scope": scope, "at": at}
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        new = _new(using, scope.tenant, rows)
        cited = find_cited(**given, rows=new)
        coming, refused = sorted_out(using, scope, new, cited)
        if not trusted:
            coming = _still_forgotten(using, scope, coming)
        store_bare_words(
            **given,
            actor=actor,
            notes=[note for one in coming for note in one.notes()],
            embedder=embedder,
        )
        lifecycle.restore(
            **given, actor=actor, rows=[one.row for one in coming], embedder=embedder
        )
        _write(**given, actor=actor, coming=coming, trusted=trusted)
    return Back(tuple(one.fact.id for one in coming), refused)


def _new(using: str, tenant: str, rows: Sequence[Row]) -> list[Row]:
    """Return those that neither are here nor were deleted here. Two queries."""
    ids = [fact_of(row).id for row in rows]
    records = Record.objects.using(using).filter(tenant=tenant, kind="fact", id__in=ids)
    here = set(records.values_list("id", flat=True))
    stones = Tombstone.objects.using(using).filter(
        tenant=tenant, target_ref__in=map(record_ref, ids), cleared_at=None
    )
    here |= record_ids(stones.values_list("target_ref", flat=True))
    named = [replace(row, id=fact_of(row).id) for row in rows]
    return [row for row in named if row.id not in here]


def _still_forgotten(
    using: str, scope: Scope, coming: Sequence[Coming]
) -> list[Coming]:
    """Hold back words that were forgotten here: a file may tell them anew (C12).

    Whoever wrote what they cite did not write the file. One query for each.
    """
    return [
        one.gated(FORGOTTEN)
        if were_forgotten(using=using, scope=scope, words=one.words)
        else one
        for one in coming
    ]


def _write(
    using: str,
    scope: Scope,
    at: dt.datetime,
    actor: Actor,
    coming: Sequence[Coming],
    trusted: bool,
) -> None:
    if not coming:
        return
    tenant = scope.tenant
    Fact.objects.using(using).bulk_create(one.fact_row(scope) for one in coming)
    cited = [row for one in coming for row in one.evidence_rows(tenant)]
    Evidence.objects.using(using).bulk_create(cited)
    judged = _judged(using, tenant, coming)
    moment = instant(using=using, tenant=tenant)
    versions = [
        row
        for one in coming
        for row in one.version_rows(
            tenant, judged[one.fact.id], moment, actor, trusted=trusted
        )
    ]
    FactVersion.objects.using(using).bulk_create(versions)
    open_ones = {one.fact.id for one in coming if not one.fact.closing}
    _let_wait(using, scope, [v for v in versions if v.fact_id in open_ones], at)
    for one in coming:
        words = {"subject": one.fact.subject, "value": one.fact.value}
        link(using=using, scope=scope, fact_id=one.fact.id, at=at, **words)


def _judged(
    using: str, tenant: str, coming: Sequence[Coming]
) -> dict[uuid.UUID, Acceptance]:
    """Return what the policy makes of what each cites here. One query."""
    every = {record_id for one in coming for record_id in one.evidence}
    rows = Record.objects.using(using).filter(tenant=tenant, id__in=every)
    trusts = dict(rows.values_list("id", "trust"))
    return {
        one.fact.id: acceptance.judge([Trust(trusts[i]) for i in one.evidence])
        for one in coming
    }


def _let_wait(
    using: str, scope: Scope, versions: Iterable[FactVersion], at: dt.datetime
) -> None:
    now = [version for version in versions if version.recorded_to is None]
    proposed = [v.fact_id for v in now if v.acceptance == Acceptance.PROPOSAL]
    gated = [v.fact_id for v in now if v.gate == "quarantined"]
    given: dict[str, Any] = {"using": using, "tenant": scope.tenant, "at": at}
    reasons = ((proposed, ReviewWhy.PROPOSAL), (gated, ReviewWhy.QUARANTINED))
    for ids, why in reasons:
        if ids:
            open_reviews(**given, scope_id=scope.id, record_ids=ids, why=why)
