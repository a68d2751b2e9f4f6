"""How the rows of each table go. A table without a line here fails a test (B504)."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Model, Q

from prism_memory import models


@dataclass(frozen=True)
class WithRecord:
    """Its rows go with a record.

    Args:
        columns: Each that holds a record's id. A fact has its record's.
    """

    columns: tuple[str, ...] = ("record_id",)

    def rows(self, tenant: str, ids: Collection[uuid.UUID]) -> Q:
        """Return which rows go with some records of a tenant."""
        theirs = [Q(**{f"{column}__in": list(ids)}) for column in self.columns]
        return Q(tenant=tenant) & reduce(or_, theirs)


@dataclass(frozen=True)
class WithSource:
    """Its rows go with a source.

    Args:
        column: That holds the source's id.
    """

    column: str = "source_id"


@dataclass(frozen=True)
class WithScope:
    """Its rows go with a scope, once its records and sources are gone.

    Args:
        columns: Each that may hold the scope's id.
        by_names: The rows bear the scope's names, whether or not there is a row of it;
            the columns do not matter then.
    """

    columns: tuple[str, ...] = ("scope_id",)
    by_names: bool = False


@dataclass(frozen=True)
class Kept:
    """Its rows stay.

    Args:
        why: What they are good for, and that they hold no text.
    """

    why: str


Erasure = WithRecord | WithSource | WithScope | Kept

ERASURE: Final[Mapping[type[Model], Erasure]] = {
    models.Embedding: WithRecord(),
    models.LineageEdge: WithRecord(),
    models.ConsentGrant: WithRecord(),
    models.ShareGrantItem: WithRecord(),
    models.Reinforcement: WithRecord(),
    models.ReinforcedQuery: WithRecord(),
    models.Review: WithRecord(),
    models.ConflictDecision: WithRecord(("fact_id",)),
    models.Mention: WithRecord(("fact_id",)),
    models.Evidence: WithRecord(("fact_id", "record_id")),
    models.FactVersion: WithRecord(("fact_id",)),
    models.Fact: WithRecord(),
    models.Record: WithRecord(("id",)),
    models.EntityMerge: WithScope(),
    models.Entity: WithScope(),
    models.SourceAccess: WithSource(),
    models.Source: WithScope(),
    models.RecallTrace: WithScope(by_names=True),
    models.ShareGrant: WithScope(("parent_id", "child_id")),
    models.AccessKey: WithScope((), by_names=True),
    models.Scope: WithScope(("id",)),
    models.Tombstone: Kept("Proof that a ref may not be used; ids only."),
    models.LegalHold: Kept("What was held and when; once released, without names."),
    models.RetentionPolicy: Kept("Rules of the tenant; no content."),
    models.Run: Kept("What was worked on; ids and counts."),
    models.Reading: Kept("How much waited, by the hour, for two days; counts only."),
    models.AuditEvent: Kept("Who did what to which id; no content."),
    models.AuditSeal: Kept("Hashes over the audit."),
    models.ManifestBlock: Kept("Which records there were, at which version; ids only."),
    models.ErasureReceipt: Kept("Proof of what was erased; ids and counts."),
    models.VectorCopy: Kept("What an external index is to delete; ids only."),
    models.Tenant: Kept("A name that was used once."),
    models.EmbeddingSpace: Kept("Of the installation, not of a tenant."),
}
"""In the order in which rows may be deleted: what points before what is pointed at."""


def tables_of_record() -> list[tuple[type[Model], WithRecord]]:
    """Return the tables whose rows go with a record, the record's own last."""
    return [
        (model, how) for model, how in ERASURE.items() if isinstance(how, WithRecord)
    ]
