"""Proof of what was erased. Counts and ids; no text, no names."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey
from prism_memory.db.fields import NameField
from prism_memory.models.base import TenantModel, at_most_a_name, one_of
from prism_memory.models.choices import ErasureLevelChoice


class ErasureReceipt(TenantModel):
    """What one erasure removed, table by table, and what it had to keep. Append only.

    A scope stands by its id, which is a hash of its names: who knows the names finds
    the receipt, and the receipt tells nobody the names.
    """

    level = models.TextField(choices=ErasureLevelChoice)
    target_ref = NameField(help_text="record:, source: or scope: and its id.")
    found = models.BooleanField()
    counts = models.JSONField(default=dict, help_text="Rows removed, by table.")
    kinds = models.JSONField(default=dict, help_text="Records removed, by kind.")
    kept = models.JSONField(default=dict, help_text="What holds kept: counts.")
    scope_ids = ArrayField(
        models.UUIDField(),
        default=list,
        help_text="Of its scope and of those above it; who may see them may see this.",
    )
    run_id = models.UUIDField(null=True, blank=True)
    actor = NameField()
    at = models.DateTimeField()
    finished_at = models.DateTimeField()

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_receipt_key"),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_receipt_tenant_named"
            ),
            at_most_a_name("tenant", "prism_memory_receipt_tenant_bytes"),
            one_of("level", ErasureLevelChoice, "prism_memory_receipt_level"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "target_ref"], name="prism_memory_receipt_target"
            ),
            models.Index(
                fields=["tenant", "finished_at", "id"], name="prism_memory_receipt_time"
            ),
        ]

    def __str__(self) -> str:
        return f"erasure of {self.target_ref}"
