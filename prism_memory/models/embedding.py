"""Vectors, and the queue of those still to be made."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from prism_memory.db.constraints import TenantReference
from prism_memory.db.expressions import UnitVector
from prism_memory.db.fields import TenantField, TenantForeignKey
from prism_memory.models.base import one_of
from prism_memory.models.choices import IndexMode, SpaceState
from prism_memory.models.record import Record
from prism_memory.models.scope import Scope
from prism_memory.types import EmbedderIdentity

MAX_DIMENSIONS = 4_000
"""Source: pgvector 0.8, the most that an HNSW index over ``halfvec`` takes."""


class EmbeddingSpace(models.Model):
    """The vectors of one embedder. Global: not tenant data.

    ``alias`` is the name that records are written and asked with. Of one alias a space
    answers, one more may be building, and retired ones wait to be dropped.
    """

    id = models.AutoField(primary_key=True)
    alias = models.TextField()
    backend = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="Entry of EMBEDDERS that embeds for it. Empty: the alias's own.",
    )
    provider = models.TextField()
    model = models.TextField()
    dimensions = models.IntegerField()
    metric = models.TextField(default="cosine")
    index_mode = models.TextField(choices=IndexMode, default=IndexMode.NONE)
    state = models.TextField(choices=SpaceState, default=SpaceState.BUILDING)
    situate = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="SITUATE when its texts were indexed. Empty: nobody noted it.",
    )
    created_at = models.DateTimeField(db_default=Now())
    state_since = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["alias"],
                condition=Q(state="active"),
                name="prism_memory_space_one_active",
            ),
            models.UniqueConstraint(
                fields=["alias"],
                condition=Q(state="building"),
                name="prism_memory_space_one_building",
            ),
            models.CheckConstraint(
                condition=Q(dimensions__gte=1, dimensions__lte=MAX_DIMENSIONS),
                name="prism_memory_space_dimensions",
            ),
            models.CheckConstraint(
                condition=Q(metric="cosine"), name="prism_memory_space_metric"
            ),
            one_of("state", SpaceState, "prism_memory_space_state"),
            one_of("index_mode", IndexMode, "prism_memory_space_index_mode"),
        ]

    def __str__(self) -> str:
        return f"{self.alias}: {self.identity}"

    @property
    def identity(self) -> EmbedderIdentity:
        """What pins this space."""
        return EmbedderIdentity(self.provider, self.model, self.dimensions)


class Embedding(models.Model):
    """The vector of a record in a space; null while it waits in the queue."""

    # The record before the space: what deletes a record looks for its vectors.
    pk = models.CompositePrimaryKey("tenant", "record_id", "space_id")
    tenant = TenantField()
    space = models.ForeignKey(
        EmbeddingSpace, models.DO_NOTHING, db_index=False, related_name="+"
    )
    record = TenantForeignKey(Record)
    # Of the record, for scans of one scope. No constraint: the record has that one, and
    # none here could be checked by an index when a scope goes.
    scope = TenantForeignKey(Scope)
    sha256 = models.BinaryField(help_text="Of the text that is to be embedded.")
    vector = HalfVectorField(null=True, blank=True)
    attempts = models.IntegerField(default=0)
    claimed_until = models.DateTimeField(null=True, blank=True)
    next_try_at = models.DateTimeField(db_default=Now())
    counted = models.BooleanField(
        db_default=False, help_text="The count of its scope's vectors includes it."
    )
    failed_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            TenantReference(field="record", name="prism_memory_embedding_record"),
            models.CheckConstraint(
                condition=UnitVector("vector"), name="prism_memory_embedding_unit"
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "space", "scope"],
                name="prism_memory_embedding_scan",
                condition=Q(vector__isnull=False),
            ),
            models.Index(
                fields=["tenant", "space", "failed_at", "next_try_at"],
                name="prism_memory_embedding_queue",
                condition=Q(vector__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.record_id} in space {self.space_id}"
