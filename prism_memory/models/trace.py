"""What was recalled, and how often. No text of a question or of a record."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.lookups import Exact

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.expressions import OctetLength
from prism_memory.db.fields import NameField, TenantField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name, one_of
from prism_memory.models.choices import ReadModeChoice
from prism_memory.models.record import Record
from prism_memory.types import HASH_BYTES, STRENGTH_AT_FIRST, STRENGTH_AT_MOST, Scope


class RecallTrace(TenantModel):
    """One recall: who asked where, what came back and why.

    The scope stands by its names, without a foreign key: a reader may stand where
    nothing was ever written.
    """

    scope_id = models.UUIDField()
    owner = NameField(default="", blank=True)
    agent = NameField(default="", blank=True)
    thread = NameField(default="", blank=True)
    query_sha256 = models.BinaryField(
        help_text="HMAC-SHA-256 under a key made from SECRET_KEY."
    )
    actor = NameField()
    mode = models.TextField(choices=ReadModeChoice)
    strategy = models.TextField(default="none")
    degraded = models.TextField(default="", blank=True)
    options = models.JSONField(default=dict, blank=True, help_text="No text.")
    hits = models.JSONField(default=list, blank=True, help_text="Ids and numbers.")
    timings_ms = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_trace_key"),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_trace_tenant_named"
            ),
            models.CheckConstraint(
                condition=~Q(owner="") | Q(agent="", thread=""),
                name="prism_memory_trace_owner_first",
            ),
            at_most_a_name("tenant", "prism_memory_trace_tenant_bytes"),
            at_most_a_name("owner", "prism_memory_trace_owner_bytes"),
            at_most_a_name("agent", "prism_memory_trace_agent_bytes"),
            at_most_a_name("thread", "prism_memory_trace_thread_bytes"),
            one_of("mode", ReadModeChoice, "prism_memory_trace_mode"),
            models.CheckConstraint(
                condition=Exact(OctetLength("query_sha256"), HASH_BYTES),
                name="prism_memory_trace_query_bytes",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "at", "id"], name="prism_memory_trace_time"),
            models.Index(
                fields=["tenant", "scope_id", "at"], name="prism_memory_trace_scope"
            ),
        ]

    def __str__(self) -> str:
        return f"recall {self.id}"

    @property
    def scope(self) -> Scope:
        """Where the reader stood."""
        return Scope(self.tenant, self.owner, self.agent, self.thread)


class Reinforcement(models.Model):
    """How strong recalling has made a record. Goes with its record."""

    pk = models.CompositePrimaryKey("tenant", "record_id")
    tenant = TenantField()
    record = TenantForeignKey(Record)
    strength = models.FloatField(default=STRENGTH_AT_FIRST)
    recalls = models.BigIntegerField(default=0)
    last_recalled_at = models.DateTimeField()

    class Meta:
        constraints = [
            TenantReference(
                field="record", name="prism_memory_reinforcement_record", cascade=True
            ),
            models.CheckConstraint(
                condition=Q(strength__gte=0, strength__lte=STRENGTH_AT_MOST),
                name="prism_memory_reinforcement_strength",
            ),
            models.CheckConstraint(
                condition=Q(recalls__gte=0), name="prism_memory_reinforcement_recalls"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.record_id} recalled {self.recalls} times"


class ReinforcedQuery(models.Model):
    """A question that recalled a record, once for each record. Goes with its record."""

    pk = models.CompositePrimaryKey("tenant", "record_id", "query_sha256")
    tenant = TenantField()
    record = TenantForeignKey(Record)
    query_sha256 = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            TenantReference(
                field="record", name="prism_memory_reinforcedquery_record", cascade=True
            ),
            models.CheckConstraint(
                condition=Exact(OctetLength("query_sha256"), HASH_BYTES),
                name="prism_memory_reinforcedquery_query_bytes",
            ),
        ]

    def __str__(self) -> str:
        return f"a question that recalled {self.record_id}"
