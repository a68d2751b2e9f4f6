"""What records come from: documents and streams."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name, in_calendar, one_of
from prism_memory.models.choices import (
    IngestionState,
    SourceKindChoice,
    SourceState,
    TrustClass,
)
from prism_memory.models.scope import Scope


class Source(TenantModel):
    """An ingested document, or a stream such as one session of a conversation."""

    scope = TenantForeignKey(Scope)
    key = NameField()
    kind = models.TextField(
        choices=SourceKindChoice,
        db_default=SourceKindChoice.STREAM,
        default=SourceKindChoice.STREAM,
    )
    uri = models.TextField(default="", blank=True)
    trust = models.TextField(choices=TrustClass)
    writer = NameField()
    sha256 = models.BinaryField(null=True, blank=True)
    state = models.TextField(choices=SourceState, default=SourceState.ACTIVE)
    ingestion = models.TextField(choices=IngestionState, default=IngestionState.PENDING)
    bytes = models.BigIntegerField(default=0)
    chunks = models.IntegerField(default=0)
    error = models.TextField(default="", blank=True)
    restricted = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Only who is granted it reads it, and what was derived from it.",
    )
    chunker = models.TextField(
        default="", db_default="", blank=True, help_text="How it was cut; its options."
    )
    language = models.TextField(default="", db_default="", blank=True)
    metadata = models.JSONField(default=dict, db_default={}, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ingested_at = models.DateTimeField(
        null=True, blank=True, help_text="When an ingest last changed it."
    )
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_source_key"),
            TenantReference(field="scope", name="prism_memory_source_scope"),
            models.UniqueConstraint(
                fields=["tenant", "scope", "key"], name="prism_memory_source_unique"
            ),
            at_most_a_name("key", "prism_memory_source_key_bytes"),
            one_of("trust", TrustClass, "prism_memory_source_trust"),
            one_of("kind", SourceKindChoice, "prism_memory_source_kind"),
            one_of("state", SourceState, "prism_memory_source_state"),
            one_of("ingestion", IngestionState, "prism_memory_source_ingestion"),
            in_calendar(
                *("ingested_at", "retired_at"),
                name="prism_memory_source_calendar",
            ),
        ]
        indexes = [
            models.Index(
                # Documents whose vectors were not all there when somebody last looked.
                fields=["tenant", "id"],
                name="prism_memory_source_pending",
                condition=Q(kind="document") & ~Q(ingestion="indexed"),
            ),
            models.Index(
                # Whether a tenant has any: empty for those that restrict nothing.
                fields=["tenant", "id"],
                name="prism_memory_source_restricted",
                condition=Q(restricted=True),
            ),
        ]

    def __str__(self) -> str:
        return str(self.key)
