"""What is derived from what, and what may no longer be used."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name, names, one_of
from prism_memory.models.choices import TombstoneReasonChoice
from prism_memory.models.record import Record
from prism_memory.types import LINEAGE_PATTERN, REF_PATTERN


class LineageEdge(models.Model):
    """A record is derived from a ref."""

    pk = models.CompositePrimaryKey("tenant", "record_id", "source_ref")
    tenant = TenantField()
    record = TenantForeignKey(Record)
    source_ref = NameField()
    position = models.SmallIntegerField()

    class Meta:
        constraints = [
            TenantReference(field="record", name="prism_memory_lineage_record"),
            models.CheckConstraint(
                condition=Q(position__gte=0, position__lte=31),
                name="prism_memory_lineage_position",
            ),
            # What cannot be read would name nothing, and so be blocked by nothing.
            names("source_ref", LINEAGE_PATTERN, "prism_memory_lineage_ref"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "source_ref"], name="prism_memory_lineage_source"
            )
        ]

    def __str__(self) -> str:
        return f"{self.record_id} from {self.source_ref}"


class Tombstone(TenantModel):
    """Why a ref may no longer be used. No foreign key: it outlives the body."""

    target_ref = NameField()
    scope_id = models.UUIDField(
        null=True, blank=True, help_text="Of what it is on, which may be gone."
    )
    root_ref = NameField()
    reason = models.TextField(choices=TombstoneReasonChoice)
    hold = models.BooleanField(default=False)
    supersedes_ref = NameField(default="", blank=True)
    actor = NameField()
    at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_tombstone_key"),
            models.UniqueConstraint(
                fields=["tenant", "target_ref", "root_ref", "reason"],
                condition=Q(cleared_at__isnull=True),
                name="prism_memory_tombstone_unique",
            ),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_tombstone_tenant_named"
            ),
            at_most_a_name("tenant", "prism_memory_tombstone_tenant_bytes"),
            one_of("reason", TombstoneReasonChoice, "prism_memory_tombstone_reason"),
            models.CheckConstraint(
                condition=~Q(reason="legal_hold") | Q(hold=True),
                name="prism_memory_tombstone_hold",
            ),
            names("target_ref", REF_PATTERN, "prism_memory_tombstone_target_ref"),
            names("root_ref", REF_PATTERN, "prism_memory_tombstone_root_ref"),
        ]
        indexes = [
            models.Index(
                # Never empty; said here, it keeps who asks by target away from this
                # index, which looks as good to a planner that never saw the table.
                fields=["tenant", "root_ref"],
                name="prism_memory_tombstone_root",
                condition=Q(cleared_at__isnull=True) & ~Q(root_ref=""),
            ),
            models.Index(
                # What was in force at an earlier moment; the unique one holds the rest.
                fields=["tenant", "target_ref"],
                name="prism_memory_tombstone_lifted",
                condition=Q(cleared_at__isnull=False),
            ),
            models.Index(
                # What is blocked of a scope, page by page. Not null, as the root above.
                fields=["tenant", "scope_id", "target_ref", "id"],
                name="prism_memory_tombstone_scope",
                condition=Q(cleared_at__isnull=True, scope_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reason} {self.target_ref}"
