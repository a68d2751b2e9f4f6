"""Everything that can be recalled, one row each."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.expressions import RecordSearchVector
from prism_memory.db.fields import IdentityField, NameField, TenantForeignKey
from prism_memory.db.languages import LANGUAGES
from prism_memory.models.base import TenantModel, at_most_a_name, in_calendar, one_of
from prism_memory.models.choices import (
    ConsentScopeChoice,
    ConsentSourceChoice,
    GateState,
    KindChoice,
    TierChoice,
    TrustClass,
)
from prism_memory.models.scope import Scope
from prism_memory.models.source import Source


class Record(TenantModel):
    """An entry, a document's chunk, a turn, a note, or a fact's statement.

    ``access.visible`` is the only way for readers to get here.
    """

    scope = TenantForeignKey(Scope)
    kind = models.TextField(choices=KindChoice, default=KindChoice.ENTRY)
    tier = models.TextField(choices=TierChoice, default=TierChoice.NONE, blank=True)
    namespace = NameField(default="", blank=True)
    partition = NameField(default="", blank=True)
    key = NameField()

    text = models.TextField()
    lexical_text = models.TextField(null=True, blank=True)  # noqa: DJ001 - null: text
    embed_text = models.TextField(null=True, blank=True)  # noqa: DJ001 - null: text
    language = models.TextField()
    sha256 = models.BinaryField()
    search = models.GeneratedField(
        expression=RecordSearchVector(),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    sequence = IdentityField(editable=False)
    first_sequence = models.BigIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="Where it stood before it was given another sequence. Null: there.",
    )
    importance = models.FloatField(null=True, blank=True)
    uses = models.BigIntegerField(default=1)
    metadata = models.JSONField(default=dict, blank=True)

    trust = models.TextField(choices=TrustClass)
    writer = NameField()

    consent_source = models.TextField(
        choices=ConsentSourceChoice, default="", blank=True
    )
    consent_scope = models.TextField(choices=ConsentScopeChoice, default="", blank=True)
    visible = models.BooleanField(
        null=True, blank=True, help_text="Null: no consent was given."
    )
    granted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    gate = models.TextField(choices=GateState, default=GateState.OPEN)
    gate_reason = models.TextField(default="", blank=True)
    gate_markers = models.JSONField(default=list, blank=True)

    generation = models.IntegerField(null=True, blank=True)
    source = TenantForeignKey(Source, null=True, blank=True)
    ordinal = models.IntegerField(null=True, blank=True)
    line_start = models.IntegerField(null=True, blank=True)
    line_end = models.IntegerField(null=True, blank=True)
    offset_start = models.IntegerField(null=True, blank=True)
    offset_end = models.IntegerField(null=True, blank=True)

    happened_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When words, gate or consent last changed. Null: never.",
    )
    retired_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)

    version = models.IntegerField(default=1)
    mac = models.BinaryField(null=True, blank=True)
    mac_key = models.TextField(null=True, blank=True)  # noqa: DJ001 - null: no MAC

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_record_key"),
            TenantReference(field="scope", name="prism_memory_record_scope"),
            TenantReference(field="source", name="prism_memory_record_source"),
            models.UniqueConstraint(
                # The key early, so that it can be looked up without the rest.
                fields=["tenant", "scope", "key", "kind", "namespace", "partition"],
                name="prism_memory_record_unique",
            ),
            at_most_a_name("key", "prism_memory_record_key_bytes"),
            at_most_a_name("namespace", "prism_memory_record_namespace_bytes"),
            at_most_a_name("partition", "prism_memory_record_partition_bytes"),
            one_of("kind", KindChoice, "prism_memory_record_kind"),
            one_of("tier", TierChoice, "prism_memory_record_tier"),
            one_of("trust", TrustClass, "prism_memory_record_trust"),
            one_of("gate", GateState, "prism_memory_record_gate"),
            models.CheckConstraint(
                condition=Q(language__in=LANGUAGES),
                name="prism_memory_record_language",
            ),
            models.CheckConstraint(
                condition=Q(importance__isnull=True)
                | Q(importance__gte=0, importance__lte=1),
                name="prism_memory_record_importance",
            ),
            models.CheckConstraint(
                condition=Q(uses__gte=1), name="prism_memory_record_uses"
            ),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True)
                | Q(valid_from__isnull=True)
                | Q(valid_to__gt=F("valid_from")),
                name="prism_memory_record_validity",
            ),
            in_calendar(
                *("happened_at", "created_at", "changed_at", "granted_at"),
                *("revoked_at", "retired_at", "expires_at", "valid_from", "valid_to"),
                name="prism_memory_record_calendar",
            ),
            models.CheckConstraint(
                condition=~Q(kind="chunk") | Q(source__isnull=False),
                name="prism_memory_record_chunk_has_source",
            ),
        ]
        indexes = [
            GinIndex(
                fields=["search"],
                name="prism_memory_record_search",
                # A list of pending entries would be read by every question.
                fastupdate=False,
            ),
            GinIndex(
                # For ``@>`` alone, which is all that a filter asks of it.
                fields=["metadata"],
                opclasses=["jsonb_path_ops"],
                name="prism_memory_record_metadata",
                fastupdate=False,
            ),
            models.Index(
                fields=["tenant", "scope", "sequence", "id"],
                name="prism_memory_record_order",
            ),
            models.Index(
                # Whoever pages through a scope meets the few that moved where they
                # stood at first, so that none is missed or met twice.
                fields=["tenant", "scope", "first_sequence", "id"],
                name="prism_memory_record_moved",
                condition=Q(first_sequence__isnull=False),
            ),
            models.Index(
                # Of few scopes: what most of a table has not, its index does not hold.
                fields=["tenant", "scope", "generation"],
                name="prism_memory_record_generation",
                condition=Q(generation__isnull=False),
            ),
            models.Index(
                fields=["tenant", "source", "ordinal", "id"],
                name="prism_memory_record_stream",
                condition=Q(source__isnull=False),
            ),
        ]
        permissions = [
            ("reveal_record", "Can see withheld text"),
            ("force_record", "Can open the gate although rules match"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
