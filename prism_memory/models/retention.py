"""How long what is kept."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from prism_memory.db.constraints import TenantKey
from prism_memory.db.fields import NameField
from prism_memory.models.base import TenantModel, at_most_a_name
from prism_memory.models.choices import KindChoice, ScopeLevelChoice, TierChoice


class RetentionPolicy(TenantModel):
    """A rule of one tenant: which records go, and when.

    What is empty does not narrow: no level, all scopes. But without a kind it is about
    entries, turns and notes, never about chunks or facts (B151). A record goes as soon
    as one rule of one policy says so, unless a hold keeps it.
    """

    name = NameField()
    level = models.TextField(choices=ScopeLevelChoice, default="", blank=True)
    kind = models.TextField(choices=KindChoice, default="", blank=True)
    tier = models.TextField(  # noqa: DJ001 - null: any tier; empty: those without one
        choices=TierChoice, null=True, blank=True
    )
    max_age_days = models.IntegerField(null=True, blank=True)
    max_entries = models.BigIntegerField(
        null=True, blank=True, help_text="Of each scope; the oldest go."
    )
    expired = models.BooleanField(
        default=False, help_text="Delete what has passed its own expires_at."
    )
    enabled = models.BooleanField(default=True)
    actor = NameField()
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "retention policies"
        constraints = [
            TenantKey(name="prism_memory_retention_key"),
            models.UniqueConstraint(
                fields=["tenant", "name"], name="prism_memory_retention_unique"
            ),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_retention_tenant_named"
            ),
            at_most_a_name("tenant", "prism_memory_retention_tenant_bytes"),
            at_most_a_name("name", "prism_memory_retention_name_bytes"),
            models.CheckConstraint(
                condition=Q(level="")
                | Q(level__in=[str(v) for v in ScopeLevelChoice.values]),
                name="prism_memory_retention_level",
            ),
            models.CheckConstraint(
                condition=Q(kind="") | Q(kind__in=[str(v) for v in KindChoice.values]),
                name="prism_memory_retention_kind",
            ),
            models.CheckConstraint(
                condition=Q(tier__isnull=True)
                | Q(tier__in=[str(v) for v in TierChoice.values]),
                name="prism_memory_retention_tier",
            ),
            models.CheckConstraint(
                condition=(Q(max_age_days__isnull=True) | Q(max_age_days__gte=0))
                & (Q(max_entries__isnull=True) | Q(max_entries__gte=0)),
                name="prism_memory_retention_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(max_age_days__isnull=False)
                | Q(max_entries__isnull=False)
                | Q(expired=True),
                name="prism_memory_retention_says_something",
            ),
        ]

    def __str__(self) -> str:
        return str(self.name)
