"""Who did what to which id, when and why. No text content."""

from __future__ import annotations

from django.db import models

from prism_memory.db.constraints import TenantKey
from prism_memory.db.fields import NameField
from prism_memory.models.base import TenantModel, at_most_a_name


class AuditEvent(TenantModel):
    """One governing act. Append only; ``tenant`` is empty for the installation's."""

    actor = NameField()
    action = models.TextField()
    target = NameField()
    reason = models.TextField(default="", blank=True)
    detail = models.JSONField(default=dict, blank=True, help_text="Ids and counts.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_audit_key"),
            at_most_a_name("tenant", "prism_memory_audit_tenant_bytes"),
        ]
        indexes = [
            models.Index(fields=["tenant", "at", "id"], name="prism_memory_audit_time"),
            models.Index(fields=["tenant", "target"], name="prism_memory_audit_target"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"
