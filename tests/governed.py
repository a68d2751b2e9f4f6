"""One row in each table of governance, by plain inserts: what no verb is needed for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from prism_memory.models import (
    AuditSeal,
    ConflictDecision,
    ConsentGrant,
    Entity,
    EntityMerge,
    ErasureReceipt,
    Evidence,
    Fact,
    LegalHold,
    ManifestBlock,
    Mention,
    Reading,
    Record,
    RetentionPolicy,
    Review,
    ShareGrant,
    ShareGrantItem,
    Source,
    SourceAccess,
)
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Scope
from tests.factories import NOON, make_record, make_version


def make_governed(record: Record) -> None:
    """Write a row of each of its tenant's; the record is shared, with a new thread."""
    given = {"tenant": record.tenant, "actor": "system"}
    ConsentGrant.objects.create(record=record, at=NOON, **given)
    LegalHold.objects.create(
        tenant=record.tenant,
        level="scope",
        target_ref=f"scope:{record.scope_id}",
        owner=record.scope.owner,
        agent=record.scope.agent,
        thread=record.scope.thread,
        placed_by="system",
        placed_at=NOON,
    )
    RetentionPolicy.objects.create(name="a year", max_age_days=365, **given)
    make_share(record)
    make_access(record)
    ErasureReceipt.objects.create(
        level="owner",
        target_ref=f"scope:{record.scope_id}",
        found=True,
        at=NOON,
        finished_at=NOON,
        **given,
    )
    make_seal(record.tenant)
    make_block(record)
    Reading.objects.create(tenant=record.tenant, hour=NOON, at=NOON)
    make_claim(record)


def make_access(record: Record) -> SourceAccess:
    """Grant a source of the tenant's to Ada, a new one where there is none."""
    own = {"tenant": record.tenant}
    source = Source.objects.filter(**own).first() or Source.objects.create(
        scope=record.scope, key="granted", trust="document", **own
    )
    return SourceAccess.objects.create(
        tenant=record.tenant, source=source, principal="ada"
    )


def make_claim(record: Record) -> Fact:
    """Write a row of each table of facts, for a record of whatever kind."""
    home = {"tenant": record.tenant, "scope": record.scope}
    own = {"tenant": record.tenant, "actor": "system"}
    closed = {"closing": "retracted", "closed_at": NOON}
    fact = Fact.objects.create(
        id=record.id, record=record, key="claim", **home, **closed
    )
    make_version(fact)
    cited = make_record("It was said.", scope=record.scope.value)
    Evidence.objects.create(tenant=record.tenant, fact=fact, record=cited)
    settled = {"opened_at": NOON, "decided_at": NOON, "decision": "rejected"}
    Review.objects.create(record=record, why="proposal", **home, **settled)
    decided = {"verdict": "admit", "stage": "zones", "zone": "cold", "at": NOON}
    ConflictDecision.objects.create(fact=fact, scope=record.scope, **own, **decided)
    one, other = (make_entity(record, name) for name in ("ada", "ada lovelace"))
    spoken = {"tenant": record.tenant, "fact": fact, "role": "subject"}
    Mention.objects.create(entity=other, **spoken)
    merged = {"entity": one, "into": other, "scope": record.scope}
    EntityMerge.objects.create(at=NOON, **own, **merged)
    return fact


def make_entity(record: Record, name: str) -> Entity:
    home = {"tenant": record.tenant, "scope": record.scope}
    return Entity.objects.create(name=name, label=name, created_at=NOON, **home)


def make_seal(tenant: str, **given: Any) -> AuditSeal:
    hashes = dict.fromkeys(("digest", "previous", "sha256"), bytes(32))
    fields = {"number": 1, "events": 1, "at": NOON, **hashes, **given}
    return AuditSeal.objects.create(tenant=tenant, **fields)


def make_block(record: Record) -> ManifestBlock:
    return ManifestBlock.objects.create(
        tenant=record.tenant,
        number=1,
        ids=[record.id],
        versions=[record.version],
        sha256=bytes(32),
    )


def make_share(record: Record, **given: Any) -> ShareGrant:
    """Share a record with another thread of its owner's, or as ``given``."""
    grant = make_grant(record.scope.value, **given)
    ShareGrantItem.objects.create(
        tenant=record.tenant, grant=grant, record=record, position=0
    )
    return grant


def make_grant(parent: Scope, child: str = "chat-2", **given: Any) -> ShareGrant:
    """Make a share that lists nothing yet, with a thread named ``child``."""
    scopes = {
        "parent_id": make_scope_row(parent).id,
        "child_id": make_scope_row(replace(parent, thread=child)).id,
    }
    fields = {"tenant": parent.tenant, "owner": parent.owner, "actor": "system"}
    return ShareGrant.objects.create(**fields | scopes | given)


def make_scope_row(scope: Scope) -> ScopeRow:
    """Make the row of a scope that nothing is written to, and of its tenant."""
    row, _ = ScopeRow.objects.get_or_create(
        tenant=scope.tenant,
        id=scope.id,
        owner=scope.owner,
        agent=scope.agent,
        thread=scope.thread,
    )
    return row
