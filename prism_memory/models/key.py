"""Keys of the HTTP API."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value

from prism_memory import types
from prism_memory.db.fields import NameField, TenantField
from prism_memory.models.base import at_most_a_name, one_of
from prism_memory.models.choices import PermissionChoice, TrustClass
from prism_memory.types import uuid7


class AccessKey(models.Model):
    """A key, bound to a scope. Global: looked up by its id, which the token carries.

    The secret is shown once; its SHA-256 is stored. It holds 256 random bits, so a
    fast hash is enough: there is nothing to guess.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    label = models.TextField()
    sha256 = models.BinaryField(editable=False)
    tenant = TenantField()
    owner = NameField(default="", blank=True)
    agent = NameField(default="", blank=True)
    thread = NameField(default="", blank=True)
    trust = models.TextField(
        choices=TrustClass,
        default=TrustClass.AGENT,
        help_text="Trust class of what this key writes; no request can change it.",
    )
    permissions = ArrayField(models.TextField(choices=PermissionChoice))
    principal = NameField(
        default="",
        db_default="",
        blank=True,
        help_text="As whom this key reads restricted documents; empty: it reads none.",
    )
    groups = ArrayField(
        NameField(),
        default=list,
        db_default=Value([], ArrayField(NameField())),
        blank=True,
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_access_key_tenant_named"
            ),
            models.CheckConstraint(
                condition=~Q(owner="") | Q(agent="", thread=""),
                name="prism_memory_access_key_owner_first",
            ),
            models.CheckConstraint(
                condition=Q(
                    permissions__contained_by=[str(p) for p in types.Permission]
                )
                & ~Q(permissions=[]),
                name="prism_memory_access_key_permissions",
            ),
            one_of("trust", TrustClass, "prism_memory_access_key_trust"),
            models.CheckConstraint(
                condition=~Q(principal="") | Q(groups=[]),
                name="prism_memory_access_key_principal_first",
            ),
            at_most_a_name("principal", "prism_memory_access_key_principal_bytes"),
            *(
                at_most_a_name(level, f"prism_memory_access_key_{level}_bytes")
                for level in ("tenant", "owner", "agent", "thread")
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def scope(self) -> types.Scope:
        """The scope that the key opens, with all below it."""
        return types.Scope(self.tenant, self.owner, self.agent, self.thread)
