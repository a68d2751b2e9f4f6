"""Claims: what they say, since when, on what evidence. Their words are records."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name, in_calendar, one_of
from prism_memory.models.choices import (
    AcceptanceChoice,
    ClosingChoice,
    FactChangeChoice,
    GateState,
    PrincipalChoice,
    ProvenanceChoice,
    SensitivityChoice,
)
from prism_memory.models.record import Record
from prism_memory.models.scope import Scope


class Fact(TenantModel):
    """A claim. Its statement is a record of kind fact, and has the same id.

    What it supersedes and what supersedes it are no foreign keys: either may be erased
    before the other.
    """

    record = TenantForeignKey(Record)
    scope = TenantForeignKey(Scope)
    key = NameField()
    subject = NameField(default="", blank=True)
    folded_subject = NameField(default="", blank=True)
    predicate = NameField(default="", blank=True)
    value = models.TextField(default="", blank=True)
    folded_sha256 = models.BinaryField(
        default=b"",
        db_default=b"",
        help_text="Of its words: what duplicates are found by.",
    )
    confidence = models.FloatField(null=True, blank=True)
    provenance = models.TextField(choices=ProvenanceChoice, default="", blank=True)
    principal = models.TextField(choices=PrincipalChoice, default="user")
    sensitivity = models.TextField(choices=SensitivityChoice, default="internal")
    supersedes = models.UUIDField(null=True, blank=True)
    superseded_by = models.UUIDField(null=True, blank=True)
    pending_supersedes = models.UUIDField(
        null=True, blank=True, help_text="What it replaces once it may."
    )
    archived_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closing = models.TextField(choices=ClosingChoice, default="", blank=True)
    closing_actor = NameField(default="", blank=True)
    closing_reason = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_fact_key"),
            TenantReference(field="record", name="prism_memory_fact_record"),
            TenantReference(field="scope", name="prism_memory_fact_scope"),
            models.UniqueConstraint(
                fields=["tenant", "scope", "key"],
                condition=Q(closed_at__isnull=True),
                name="prism_memory_fact_open_key",
            ),
            models.CheckConstraint(
                condition=Q(record=F("id")), name="prism_memory_fact_is_its_record"
            ),
            at_most_a_name("key", "prism_memory_fact_key_bytes"),
            at_most_a_name("subject", "prism_memory_fact_subject_bytes"),
            at_most_a_name("folded_subject", "prism_memory_fact_folded_bytes"),
            at_most_a_name("predicate", "prism_memory_fact_predicate_bytes"),
            one_of("provenance", ProvenanceChoice, "prism_memory_fact_provenance"),
            one_of("principal", PrincipalChoice, "prism_memory_fact_principal"),
            one_of("sensitivity", SensitivityChoice, "prism_memory_fact_sensitivity"),
            one_of("closing", ClosingChoice, "prism_memory_fact_closing"),
            models.CheckConstraint(
                condition=Q(closing="", closed_at__isnull=True)
                | (~Q(closing="") & Q(closed_at__isnull=False)),
                name="prism_memory_fact_closed_for_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(confidence__isnull=True)
                | Q(confidence__gte=0, confidence__lte=1),
                name="prism_memory_fact_confidence",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "scope", "key", "id"], name="prism_memory_fact_by_key"
            ),
            models.Index(
                fields=["tenant", "folded_subject", "scope", "id"],
                name="prism_memory_fact_by_subject",
                condition=~Q(folded_subject=""),
            ),
            models.Index(
                fields=["tenant", "scope", "folded_sha256"],
                name="prism_memory_fact_by_words",
            ),
            models.Index(
                # Of a scope's open ones, page by page.
                fields=["tenant", "scope", "id"],
                name="prism_memory_fact_open",
                condition=Q(closed_at__isnull=True, archived_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "supersedes"],
                name="prism_memory_fact_supersedes",
                condition=Q(supersedes__isnull=False),
            ),
            models.Index(
                fields=["tenant", "superseded_by"],
                name="prism_memory_fact_replaced_by",
                condition=Q(superseded_by__isnull=False),
            ),
            models.Index(
                fields=["tenant", "pending_supersedes"],
                name="prism_memory_fact_pending",
                condition=Q(pending_supersedes__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"fact {self.key}"


class FactVersion(TenantModel):
    """What was held of a fact for a while: two half-open intervals.

    Valid time is the world's, recorded time the database's clock. One version is open.
    """

    fact = TenantForeignKey(Fact)
    acceptance = models.TextField(choices=AcceptanceChoice)
    gate = models.TextField(choices=GateState, default=GateState.OPEN)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)
    recorded_from = models.DateTimeField()
    recorded_to = models.DateTimeField(null=True, blank=True)
    cause = models.TextField(choices=FactChangeChoice)
    actor = NameField()
    reason = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_factversion_key"),
            TenantReference(field="fact", name="prism_memory_factversion_fact"),
            models.UniqueConstraint(
                fields=["tenant", "fact"],
                condition=Q(recorded_to__isnull=True),
                name="prism_memory_factversion_one_open",
            ),
            models.UniqueConstraint(
                fields=["tenant", "fact", "recorded_from"],
                name="prism_memory_factversion_instant",
            ),
            one_of(
                "acceptance", AcceptanceChoice, "prism_memory_factversion_acceptance"
            ),
            one_of("gate", GateState, "prism_memory_factversion_gate"),
            one_of("cause", FactChangeChoice, "prism_memory_factversion_cause"),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="prism_memory_factversion_valid",
            ),
            models.CheckConstraint(
                condition=Q(recorded_to__isnull=True)
                | Q(recorded_to__gt=F("recorded_from")),
                name="prism_memory_factversion_recorded",
            ),
            in_calendar(
                *("valid_from", "valid_to", "recorded_from", "recorded_to"),
                name="prism_memory_factversion_calendar",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.acceptance} version of {self.fact_id}"


class Evidence(models.Model):
    """A fact cites a record. What is cited is lineage too, see ``LineageEdge``."""

    pk = models.CompositePrimaryKey("tenant", "fact_id", "record_id")
    tenant = TenantField()
    fact = TenantForeignKey(Fact)
    record = TenantForeignKey(Record)

    class Meta:
        constraints = [
            TenantReference(field="fact", name="prism_memory_evidence_fact"),
            TenantReference(field="record", name="prism_memory_evidence_record"),
            models.CheckConstraint(
                condition=~Q(fact=F("record")), name="prism_memory_evidence_of_another"
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "record"], name="prism_memory_evidence_by_rec"
            )
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} cites {self.record_id}"
