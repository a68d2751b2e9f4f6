"""From a claim to the rows of a fact. The transaction is the verb's."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from prism_memory import access, lifecycle
from prism_memory.access import Reader
from prism_memory.conf import Limits
from prism_memory.errors import Invalid, NotVisible
from prism_memory.facts.conflict import folded_sha256
from prism_memory.facts.linking import link
from prism_memory.lifecycle.columns import gate_of
from prism_memory.lifecycle.entries import Row, prepare
from prism_memory.lifecycle.reviews import open_review
from prism_memory.lifecycle.versions import begin_versions
from prism_memory.models import Evidence, Fact
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Acceptance,
    Actor,
    Claim,
    Entry,
    Kind,
    Lineage,
    Origin,
    ReviewWhy,
    Scope,
    Trust,
    check_name,
    record_ref,
    uuid7,
)
from prism_memory.types.naming import fold


@dataclass(frozen=True)
class Prepared:
    """A claim that can be stored.

    Args:
        row: Its statement as a record, whose id is the fact's.
        claim: Without secrets.
        key: Given, or made of its words.
        named: Whether the caller gave the key.
    """

    row: Row
    claim: Claim
    key: str
    named: bool

    @property
    def id(self) -> uuid.UUID:
        """The fact's id, and its record's."""
        return self.row.id


def prepare_claim(
    claim: Claim, *, origin: Origin | None, limits: Limits, redaction: Redaction
) -> Prepared:
    """Redact a claim, and judge its words; nothing is stored yet.

    Raises:
        Invalid: No origin, blank after redaction, or a name holds a secret.
        LimitExceeded: A text is too long; the error names the limit.
    """
    clean = redacted_claim(claim, redaction)
    fact_id = uuid7()
    entry = Entry(
        clean.statement,
        key=str(fact_id),
        kind=Kind.FACT,
        metadata=claim_metadata(clean),
        importance=clean.importance,
        lineage=Lineage(tuple(map(record_ref, clean.evidence))),
        valid_from=clean.valid_from,
        valid_to=clean.valid_to,
    )
    (row,) = prepare([entry], origin=origin, limits=limits, redaction=redaction)
    key = clean.key or made_key(clean)
    return Prepared(replace(row, id=fact_id), clean, key, clean.key is not None)


def made_key(claim: Claim) -> str:
    """Return the key of a claim that was given none: the same for the same words."""
    said = [fold(claim.subject), fold(claim.predicate), claim.value, claim.statement]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def redacted_claim(claim: Claim, redaction: Redaction) -> Claim:
    """Return a claim without secrets.

    Raises:
        Invalid: Its key holds one, or nothing is left of its words.
        LimitExceeded: A name is too long without them.
    """
    redaction.check_names({"key": claim.key})
    words = {
        name: check_name(redaction.text(getattr(claim, name)), name, blank=True)
        for name in ("subject", "predicate")
    }
    return replace(
        claim,
        **words,  # type: ignore[arg-type] # mypy takes each for any field
        value=redaction.text(claim.value),
        text=None if claim.text is None else redaction.text(claim.text),
        tags=tuple(redaction.text(tag) for tag in claim.tags),
    )


def claim_metadata(claim: Claim) -> dict[str, Any]:
    """Return what recall, its filters and its index texts see of a claim."""
    said = {
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.value,
        "tags": list(claim.tags),
    }
    return {**claim.metadata, **{name: value for name, value in said.items() if value}}


def cite(
    *, using: str, reader: Reader, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, Trust]:
    """Return who vouches for each record that is cited. One query.

    Raises:
        Invalid: Nothing is cited (B294).
        NotVisible: One is not in sight.
    """
    if not ids:
        message = "A fact cites at least one record."
        raise Invalid(message, field="evidence")
    rows = access.visible(using=using, reader=reader).filter(id__in=list(ids))
    found = dict(rows.values_list("id", "trust"))
    if len(found) < len(set(ids)):
        raise NotVisible(field="evidence")
    return {record_id: Trust(trust) for record_id, trust in found.items()}


def write(  # noqa: PLR0913 - keywords
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    prepared: Prepared,
    embedder: str,
    at: dt.datetime,
    instant: dt.datetime,
    acceptance: Acceptance,
    links: Mapping[str, uuid.UUID] | None = None,
    reason: str = "",
) -> Fact:
    """Store a fact with its first version and its evidence. Inside a transaction.

    Args:
        at: The time of writing, and of validity where the claim says none.
        instant: Of the database's clock, see ``versions.instant``.
        links: Of ``supersedes`` and ``pending_supersedes``.
    """
    claim, tenant = prepared.claim, scope.tenant
    starts = claim.valid_from or at
    row = replace(prepared.row, entry=replace(prepared.row.entry, valid_from=starts))
    lifecycle.remember(
        using=using, scope=scope, actor=actor, rows=[row], embedder=embedder, at=at
    )
    fact = _insert(using, scope, prepared, links or {})
    begin_versions(
        using=using,
        tenant=tenant,
        fact_id=fact.id,
        at=instant,
        acceptance=acceptance,
        gate=gate_of(row.verdict),
        valid_from=starts,
        valid_to=claim.valid_to,
        actor=actor,
        reason=reason,
    )
    cited = [
        Evidence(tenant=tenant, fact_id=fact.id, record_id=i) for i in claim.evidence
    ]
    Evidence.objects.using(using).bulk_create(cited)
    _let_wait(using, scope, fact.id, row, acceptance, at)
    link(
        using=using,
        scope=scope,
        fact_id=fact.id,
        subject=claim.subject,
        value=claim.value,
        at=at,
    )
    return fact


def _insert(
    using: str, scope: Scope, prepared: Prepared, links: Mapping[str, uuid.UUID]
) -> Fact:
    claim = prepared.claim
    return Fact.objects.using(using).create(
        id=prepared.id,
        record_id=prepared.id,
        tenant=scope.tenant,
        scope_id=scope.id,
        key=prepared.key,
        subject=claim.subject,
        folded_subject=fold(claim.subject),
        predicate=claim.predicate,
        value=claim.value,
        folded_sha256=folded_sha256(claim.statement),
        confidence=claim.confidence,
        provenance=claim.provenance,
        principal=claim.principal,
        sensitivity=claim.sensitivity,
        **links,
    )


def _let_wait(
    using: str,
    scope: Scope,
    fact_id: uuid.UUID,
    row: Row,
    acceptance: Acceptance,
    at: dt.datetime,
) -> None:
    reasons = [
        (acceptance is Acceptance.PROPOSAL, ReviewWhy.PROPOSAL),
        (row.verdict.flagged, ReviewWhy.QUARANTINED),
    ]
    for waits, why in reasons:
        if waits:
            open_review(
                using=using,
                tenant=scope.tenant,
                scope_id=scope.id,
                record_id=fact_id,
                why=why,
                at=at,
            )
