"""Assert a fact: it cites what is in sight, or nothing is written."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import replace

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from prism_memory import acceptance, access, audit
from prism_memory.access import Reader
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, FactKeyInUse
from prism_memory.facts.forgotten import hold_forgotten
from prism_memory.facts.writing import Prepared, cite, write
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import instant, open_version
from prism_memory.models import Evidence, Fact, Record
from prism_memory.types import Actor, Scope, record_ref

OPEN_KEY = "prism_memory_fact_open_key"


@for_tenant
def assert_fact(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    reader: Reader,
    prepared: Prepared,
    embedder: str,
    at: dt.datetime,
    reason: str = "",
) -> uuid.UUID:
    """Store a claim at exactly ``scope``, as the policy judges it; return its id.

    The same claim on the same evidence under an open key is the fact that is there.
    Words that were forgotten here wait behind the gate; see ``hold_forgotten``.

    Args:
        reader: Who must see what is cited.
        prepared: See ``writing.prepare_claim``.

    Raises:
        Invalid: Nothing is cited (B294).
        NotVisible: What is cited is not in sight.
        FactKeyInUse: An open fact has the key and says something else (B311).
        Conflict: The fact that says the same is archived or blocked.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    while True:
        try:
            with transaction.atomic(using=using):
                return _assert(
                    using, scope, actor, reader, prepared, embedder, at, reason
                )
        except IntegrityError as error:
            if not is_key_in_use(error):
                raise
            # Another writer was quicker: what it wrote is there now.


def is_key_in_use(error: IntegrityError) -> bool:
    """Tell whether an open fact has the key that was to be written."""
    cause = error.__cause__
    return isinstance(cause, UniqueViolation) and cause.diag.constraint_name == OPEN_KEY


def _assert(
    using: str,
    scope: Scope,
    actor: Actor,
    reader: Reader,
    prepared: Prepared,
    embedder: str,
    at: dt.datetime,
    reason: str,
) -> uuid.UUID:
    hold_lineage(using=using, tenant=scope.tenant)
    ensure_scope(using=using, scope=scope, at=at)
    if there := find_same(using=using, scope=scope, prepared=prepared):
        _require_shown(using, reader, there)
        return there
    trusts = cite(using=using, reader=reader, ids=prepared.claim.evidence)
    judged = acceptance.judge(trusts.values())
    prepared = hold_forgotten(using=using, scope=scope, prepared=prepared)
    fact = write(
        using=using,
        scope=scope,
        actor=actor,
        prepared=prepared,
        embedder=embedder,
        at=at,
        instant=instant(using=using, tenant=scope.tenant),
        acceptance=judged,
        reason=reason,
    )
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=actor,
        action="fact.assert",
        target=record_ref(fact.id),
        at=at,
        reason=reason,
        detail={"acceptance": judged, "evidence": len(trusts)},
    )
    return fact.id


def find_same(*, using: str, scope: Scope, prepared: Prepared) -> uuid.UUID | None:
    """Return the open fact of this key where it says the same; None if there is none.

    Raises:
        FactKeyInUse: It says something else.
    """
    rows = Fact.objects.using(using).filter(
        tenant=scope.tenant, scope_id=scope.id, key=prepared.key, closed_at=None
    )
    fact = rows.first()
    if fact is None:
        return None
    if _said(using, fact, prepared) != _saying(prepared):
        raise FactKeyInUse(field="key" if prepared.named else "evidence")
    return fact.id


def _require_shown(using: str, reader: Reader, fact_id: uuid.UUID) -> None:
    """Refuse to say that a claim is there, where its fact is put aside or blocked.

    Raises:
        Conflict: It is.
    """
    anyhow = replace(
        reader, include_superseded=True, include_quarantined=True, strict=False
    )
    if not access.visible(using=using, reader=anyhow).filter(id=fact_id).exists():
        message = "The fact is archived or blocked: take it back, or give another key."
        raise Conflict(message, field="key")


def _saying(prepared: Prepared) -> tuple[object, ...]:
    claim = prepared.claim
    words = (claim.subject, claim.predicate, claim.value, claim.statement)
    return (*words, claim.valid_from, claim.valid_to, frozenset(claim.evidence))


def _said(using: str, fact: Fact, prepared: Prepared) -> tuple[object, ...]:
    """Return what a stored fact says; of its validity, only what the claim says too."""
    tenant, claim = fact.tenant, prepared.claim
    version = open_version(using=using, tenant=tenant, fact_id=fact.id)
    records = Record.objects.using(using).filter(tenant=tenant, id=fact.id)
    cited = Evidence.objects.using(using).filter(tenant=tenant, fact_id=fact.id)
    starts = version.valid_from if version and claim.valid_from else None
    return (
        fact.subject,
        fact.predicate,
        fact.value,
        records.values_list("text", flat=True).get(),
        starts,
        version.valid_to if version else None,
        frozenset(cited.values_list("record_id", flat=True)),
    )
