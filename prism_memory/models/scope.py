"""Tenants, and the scopes that rows belong to."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory import types
from prism_memory.db.constraints import TenantKey
from prism_memory.db.fields import NameField, TenantField
from prism_memory.models.base import TenantModel, at_most_a_name


class Tenant(models.Model):
    """A tenant's name, once used. Global: what "list the tenants" reads."""

    name = TenantField(primary_key=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(name=""), name="prism_memory_tenant_named"
            ),
            at_most_a_name("name", "prism_memory_tenant_name_bytes"),
        ]

    def __str__(self) -> str:
        return str(self.name)


class ScopeQuerySet(models.QuerySet["Scope"]):
    """Choose scopes."""

    def at(self, scope: types.Scope) -> ScopeQuerySet:
        """Return the row of exactly this scope; the names decide, not the hash."""
        return self.filter(
            tenant=scope.tenant,
            id=scope.id,
            owner=scope.owner,
            agent=scope.agent,
            thread=scope.thread,
        )

    def below(self, scope: types.Scope) -> ScopeQuerySet:
        """Return this scope and all below it, as ``types.Scope.opens`` has it."""
        rows = self.filter(tenant=scope.tenant)
        if scope.thread:
            return rows.filter(
                owner=scope.owner, agent=scope.agent, thread=scope.thread
            )
        names = {name: getattr(scope, name) for name in ("owner", "agent")}
        return rows.filter(**{name: value for name, value in names.items() if value})


class Scope(TenantModel):
    """One row per scope ever written. Its id is the UUIDv5 of its four names."""

    owner = NameField(default="", blank=True)
    agent = NameField(default="", blank=True)
    thread = NameField(default="", blank=True)
    current_generation = models.IntegerField(null=True, blank=True)
    vectors = models.BigIntegerField(
        default=0, help_text="About how many vectors it holds; the planner reads it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ScopeQuerySet.as_manager()

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_scope_key"),
            models.UniqueConstraint(
                fields=["tenant", "owner", "agent", "thread"],
                name="prism_memory_scope_unique",
            ),
            models.UniqueConstraint(
                # What a reference names that must stay within one owner.
                fields=["tenant", "owner", "id"],
                name="prism_memory_scope_of_owner",
            ),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_scope_tenant_named"
            ),
            models.CheckConstraint(
                condition=~Q(owner="") | Q(agent="", thread=""),
                name="prism_memory_scope_owner_first",
            ),
            models.CheckConstraint(
                condition=Q(current_generation__isnull=True)
                | Q(current_generation__gte=0),
                name="prism_memory_scope_generation_not_negative",
            ),
            at_most_a_name("tenant", "prism_memory_scope_tenant_bytes"),
            at_most_a_name("owner", "prism_memory_scope_owner_bytes"),
            at_most_a_name("agent", "prism_memory_scope_agent_bytes"),
            at_most_a_name("thread", "prism_memory_scope_thread_bytes"),
        ]

    def __str__(self) -> str:
        return str(self.value)

    @property
    def value(self) -> types.Scope:
        """The scope as callers name it."""
        return types.Scope(self.tenant, self.owner, self.agent, self.thread)
