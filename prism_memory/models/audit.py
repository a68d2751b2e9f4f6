"""Who did what to which id, when and why. No text content."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.lookups import Exact

from prism_memory.db.constraints import TenantKey
from prism_memory.db.expressions import OctetLength
from prism_memory.db.fields import NameField
from prism_memory.models.base import TenantModel, at_most_a_name
from prism_memory.types import HASH_BYTES


class AuditEvent(TenantModel):
    """One governing act. Append only; ``tenant`` is empty for the installation's."""

    actor = NameField()
    action = models.TextField()
    target = NameField()
    reason = models.TextField(default="", blank=True)
    detail = models.JSONField(default=dict, blank=True, help_text="Ids and counts.")
    at = models.DateTimeField()
    seal = models.BigIntegerField(
        null=True, blank=True, editable=False, help_text="Number of the seal over it."
    )

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_audit_key"),
            at_most_a_name("tenant", "prism_memory_audit_tenant_bytes"),
        ]
        indexes = [
            models.Index(fields=["tenant", "at", "id"], name="prism_memory_audit_time"),
            models.Index(fields=["tenant", "target"], name="prism_memory_audit_target"),
            models.Index(
                fields=["tenant", "seal", "id"], name="prism_memory_audit_seal"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"


class AuditSeal(TenantModel):
    """A SHA-256 over a run of one tenant's events and over the seal before it.

    Whoever edits, removes, reorders or inserts an event breaks it. Seals stay when the
    events they close are pruned, so that the chain can still be followed.
    """

    number = models.BigIntegerField()
    events = models.BigIntegerField()
    digest = models.BinaryField(help_text="Over the events, in the order of their ids.")
    previous = models.BinaryField(help_text="Hash of the seal before; zeros at first.")
    sha256 = models.BinaryField(help_text="Over all of this seal.")
    content = models.BinaryField(
        null=True, blank=True, help_text="Over the manifest, where records were sealed."
    )
    violations = models.BigIntegerField(
        default=0, help_text="Records that were removed or set back unaccounted for."
    )
    mac = models.BinaryField(null=True, blank=True)
    mac_key = models.TextField(null=True, blank=True)  # noqa: DJ001 - null: no MAC
    first_at = models.DateTimeField(null=True, blank=True)
    last_at = models.DateTimeField(null=True, blank=True)
    at = models.DateTimeField()
    pruned_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_seal_key"),
            models.UniqueConstraint(
                fields=["tenant", "number"], name="prism_memory_seal_unique"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1, events__gte=0, violations__gte=0),
                name="prism_memory_seal_counts",
            ),
            *(
                models.CheckConstraint(
                    condition=Exact(OctetLength(name), HASH_BYTES),
                    name=f"prism_memory_seal_{name}_bytes",
                )
                for name in ("digest", "previous", "sha256")
            ),
            at_most_a_name("tenant", "prism_memory_seal_tenant_bytes"),
        ]

    def __str__(self) -> str:
        return f"seal {self.number}"


class ManifestBlock(TenantModel):
    """Which records a tenant has, and at which version: a part of the list.

    A seal over content takes its root from all blocks, in the order of their numbers,
    which is that of the ids. What a later look at the records must find again: all of
    these, unless a deletion accounts for one, at these versions or later ones.
    """

    number = models.BigIntegerField()
    ids = ArrayField(models.UUIDField())
    versions = ArrayField(models.IntegerField())
    sha256 = models.BinaryField(help_text="Over the ids and versions.")

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_manifest_key"),
            models.UniqueConstraint(
                fields=["tenant", "number"], name="prism_memory_manifest_unique"
            ),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_manifest_tenant_named"
            ),
            models.CheckConstraint(
                condition=Exact(OctetLength("sha256"), HASH_BYTES),
                name="prism_memory_manifest_bytes",
            ),
            at_most_a_name("tenant", "prism_memory_manifest_tenant_bytes"),
        ]

    def __str__(self) -> str:
        return f"block {self.number}"
