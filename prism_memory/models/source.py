"""What records come from: documents and streams."""

from __future__ import annotations

from django.db import models

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name, one_of
from prism_memory.models.choices import IngestionState, SourceState, TrustClass
from prism_memory.models.scope import Scope


class Source(TenantModel):
    """An ingested document, or a stream such as one session of a conversation."""

    scope = TenantForeignKey(Scope)
    key = NameField()
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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_source_key"),
            TenantReference(field="scope", name="prism_memory_source_scope"),
            models.UniqueConstraint(
                fields=["tenant", "scope", "key"], name="prism_memory_source_unique"
            ),
            at_most_a_name("key", "prism_memory_source_key_bytes"),
            one_of("trust", TrustClass, "prism_memory_source_trust"),
            one_of("state", SourceState, "prism_memory_source_state"),
            one_of("ingestion", IngestionState, "prism_memory_source_ingestion"),
        ]
        indexes = [
            models.Index(
                # Whether a tenant has any: empty for those that restrict nothing.
                fields=["tenant", "id"],
                name="prism_memory_source_restricted",
                condition=models.Q(restricted=True),
            )
        ]

    def __str__(self) -> str:
        return str(self.key)
