"""What a person decides about: a record, and the fact whose statement it is."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from prism_memory.admin.content import loaded
from prism_memory.admin.using import using
from prism_memory.admin.words import Words, words_of
from prism_memory.lifecycle.removal import held_records
from prism_memory.models import (
    ConflictDecision,
    Fact,
    FactVersion,
    GateState,
    Record,
    Review,
)
from prism_memory.types import Acceptance, Kind, ReviewWhy, Verdict


@dataclass(frozen=True)
class Item:
    """As it stands now.

    Args:
        record: With its scope, without its words.
        fact: Where the record is one's statement.
        version: The newest of the fact, held or not.
        review: Why it waits, where somebody came by that.
        words: None where they are withheld.
        conflict: What the fact was compared with, where that waits to be settled.
        is_held: A hold keeps it.
    """

    record: Record
    fact: Fact | None = None
    version: FactVersion | None = None
    review: Review | None = None
    words: Words | None = None
    conflict: ConflictDecision | None = None
    is_held: bool = False

    @property
    def is_gated(self) -> bool:
        """Whether the gate holds it back."""
        return bool(self.record.gate != GateState.OPEN)

    @property
    def is_proposal(self) -> bool:
        """Whether a person has to say that it may be relied on."""
        return self.acceptance == Acceptance.PROPOSAL

    @property
    def acceptance(self) -> str:
        """Of the fact as it is held now; empty where it is none."""
        held = self.version is not None and self.version.recorded_to is None
        return self.version.acceptance if held and self.version else ""


def items_of(
    records: Iterable[Record],
    *,
    gated: bool,
    reviews: Iterable[Review] = (),
    with_words: bool = True,
) -> dict[uuid.UUID, Item]:
    """Return what can be decided of a tenant's records, by their ids.

    Four queries with the words, five where one is in conflict.

    Args:
        records: With their scopes.
        gated: Read also what the gate holds back.
        with_words: Whether words are read at all.
        reviews: One for some of the records at most.
    """
    rows = {record.id: record for record in records}
    if not rows:
        return {}
    facts = facts_of(rows.values())
    versions = newest_versions(facts.values())
    words = words_of(rows.values(), gated=gated) if with_words else {}
    waiting = {review.record_id: review for review in reviews}
    met = _conflicts(waiting.values())
    kept = _held(rows.values()) if with_words else set()
    return {
        i: Item(
            row,
            facts.get(i),
            versions.get(i),
            waiting.get(i),
            words.get(i),
            met.get(i),
            i in kept,
        )
        for i, row in rows.items()
    }


def _held(records: Collection[Record]) -> set[uuid.UUID]:
    """Return those of a tenant's records that a hold keeps. One query."""
    (tenant,) = {record.tenant for record in records}
    ids = [record.id for record in records]
    return held_records(using=using(), tenant=tenant, ids=ids)


def _conflicts(reviews: Iterable[Review]) -> dict[uuid.UUID, ConflictDecision]:
    """Return the newest conflict of each fact that is to be settled, as is settled.

    One query; none where none waits for that.
    """
    ids = {r.record_id: r.tenant for r in reviews if r.why == ReviewWhy.CONFLICT}
    if not ids:
        return {}
    (tenant,) = set(ids.values())
    rows = ConflictDecision.objects.using(using()).filter(
        tenant=tenant, fact_id__in=ids, verdict=Verdict.PENDING, settled_at=None
    )
    return {row.fact_id: row for row in rows.order_by("at", "id")}


def records_of(tenant: str, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Record]:
    """Return rows of a tenant's records without their words, by id. One query."""
    rows = Record.objects.using(using()).filter(tenant=tenant, id__in=ids)
    return {row.id: row for row in loaded(rows)}


def facts_of(records: Iterable[Record]) -> dict[uuid.UUID, Fact]:
    """Return the facts whose statements are among a tenant's records. One query."""
    ids = {row.id: row.tenant for row in records if row.kind == Kind.FACT}
    if not ids:
        return {}
    (tenant,) = set(ids.values())
    rows = Fact.objects.using(using()).filter(tenant=tenant, id__in=ids)
    return {row.id: row for row in rows}


def newest_versions(facts: Iterable[Fact]) -> dict[uuid.UUID, FactVersion]:
    """Return the newest version of each of a tenant's facts. One query."""
    ids = {fact.id: fact.tenant for fact in facts}
    if not ids:
        return {}
    (tenant,) = set(ids.values())
    rows = FactVersion.objects.using(using()).filter(tenant=tenant, fact_id__in=ids)
    newest = rows.order_by("fact_id", "-recorded_from").distinct("fact_id")
    return {row.fact_id: row for row in newest}
