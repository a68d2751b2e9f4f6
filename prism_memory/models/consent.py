"""Each decision about consent, never changed."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantForeignKey
from prism_memory.models.base import TenantModel
from prism_memory.models.choices import ConsentScopeChoice, ConsentSourceChoice
from prism_memory.models.record import Record


class ConsentGrant(TenantModel):
    """One decision: a consent given, changed or revoked. Goes with its record.

    The record's own columns hold what is in force; this is how it came about.
    """

    record = TenantForeignKey(Record)
    source = models.TextField(choices=ConsentSourceChoice, default="", blank=True)
    label = models.TextField(choices=ConsentScopeChoice, default="", blank=True)
    visible = models.BooleanField(null=True, blank=True)
    granted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    actor = NameField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_consent_key"),
            TenantReference(
                field="record", name="prism_memory_consent_record", cascade=True
            ),
            models.CheckConstraint(
                condition=Q(source="")
                | Q(source__in=[str(v) for v in ConsentSourceChoice.values]),
                name="prism_memory_consent_source",
            ),
            models.CheckConstraint(
                condition=Q(label="")
                | Q(label__in=[str(v) for v in ConsentScopeChoice.values]),
                name="prism_memory_consent_label",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "record", "at", "id"],
                name="prism_memory_consent_history",
            )
        ]

    def __str__(self) -> str:
        return f"consent for {self.record_id}"
