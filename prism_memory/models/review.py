"""What waits for a person, and what became of claims that met others."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantForeignKey
from prism_memory.models.base import TenantModel, one_of
from prism_memory.models.choices import (
    ConflictStageChoice,
    ConflictZoneChoice,
    ReviewDecisionChoice,
    ReviewWhyChoice,
    VerdictChoice,
)
from prism_memory.models.fact import Fact
from prism_memory.models.record import Record
from prism_memory.models.scope import Scope


class Review(TenantModel):
    """A record, or a fact by its statement, that a person has to decide about."""

    record = TenantForeignKey(Record)
    scope = TenantForeignKey(Scope)
    why = models.TextField(choices=ReviewWhyChoice)
    opened_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decision = models.TextField(choices=ReviewDecisionChoice, default="", blank=True)
    actor = NameField(default="", blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_review_key"),
            TenantReference(field="record", name="prism_memory_review_record"),
            TenantReference(field="scope", name="prism_memory_review_scope"),
            models.UniqueConstraint(
                fields=["tenant", "record", "why"],
                condition=Q(decided_at__isnull=True),
                name="prism_memory_review_one_open",
            ),
            one_of("why", ReviewWhyChoice, "prism_memory_review_why"),
            one_of("decision", ReviewDecisionChoice, "prism_memory_review_decision"),
            models.CheckConstraint(
                condition=Q(decision="", decided_at__isnull=True)
                | (~Q(decision="") & Q(decided_at__isnull=False)),
                name="prism_memory_review_decided",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "why", "opened_at", "id"],
                name="prism_memory_review_queue",
                condition=Q(decided_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "record"], name="prism_memory_review_of_record"
            ),
        ]

    def __str__(self) -> str:
        return f"review of {self.record_id}"


class ConflictDecision(TenantModel):
    """What was decided about a claim beside others, and on what scale. No text.

    Args:
        fact: The one that stands: the new one, or for a duplicate the old one.
        others: Facts it was compared with, the nearest first.
        similarity: Raw cosine of the nearest, -1..1; null where none was computed.
    """

    fact = TenantForeignKey(Fact)
    scope = TenantForeignKey(Scope)
    others = ArrayField(models.UUIDField(), default=list, blank=True)
    verdict = models.TextField(choices=VerdictChoice)
    stage = models.TextField(choices=ConflictStageChoice)
    zone = models.TextField(choices=ConflictZoneChoice, default="", blank=True)
    similarity = models.FloatField(null=True, blank=True)
    reason = models.TextField(default="", blank=True)
    actor = NameField()
    at = models.DateTimeField()
    attempts = models.IntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = NameField(default="", blank=True)
    settled_as = models.TextField(choices=VerdictChoice, default="", blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_conflict_key"),
            TenantReference(field="fact", name="prism_memory_conflict_fact"),
            TenantReference(field="scope", name="prism_memory_conflict_scope"),
            one_of("verdict", VerdictChoice, "prism_memory_conflict_verdict"),
            one_of("stage", ConflictStageChoice, "prism_memory_conflict_stage"),
            one_of("zone", ConflictZoneChoice, "prism_memory_conflict_zone"),
            models.CheckConstraint(
                condition=Q(similarity__isnull=True)
                | Q(similarity__gte=-1, similarity__lte=1),
                name="prism_memory_conflict_cosine",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "fact"], name="prism_memory_conflict_of_fact"
            ),
            models.Index(
                fields=["tenant", "scope", "id"],
                name="prism_memory_conflict_waiting",
                condition=Q(verdict="pending", settled_at__isnull=True),
            ),
            models.Index(
                fields=["tenant", "next_try_at", "id"],
                name="prism_memory_conflict_queue",
                condition=Q(verdict="pending", settled_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} of {self.fact_id}"
