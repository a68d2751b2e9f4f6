"""Who and what facts speak of."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from pgvector.django import HalfVectorField

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name, one_of
from prism_memory.models.choices import MentionRoleChoice
from prism_memory.models.fact import Fact
from prism_memory.models.scope import Scope


class Entity(TenantModel):
    """A name of one scope, folded; one name is one entity.

    Facts are linked to the entity of the name that they say. One that is merged into
    another stays, and is read as that: so a merge can be undone exactly.

    Args:
        name: Folded, see ``types.naming.fold``.
        label: As it was written first.
        merged_into: The entity that it is the same as. No foreign key: merges are
            followed by reading, and undone.
        space_id: Of the embedding space of ``vector``; entities of different spaces
            are never compared.
    """

    scope = TenantForeignKey(Scope)
    name = NameField()
    label = models.TextField()
    merged_into = models.UUIDField(null=True, blank=True)
    vector = HalfVectorField(null=True, blank=True)
    space_id = models.IntegerField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "entities"
        constraints = [
            TenantKey(name="prism_memory_entity_key"),
            TenantReference(field="scope", name="prism_memory_entity_scope"),
            models.UniqueConstraint(
                fields=["tenant", "scope", "name"],
                name="prism_memory_entity_one_name",
            ),
            at_most_a_name("name", "prism_memory_entity_name_bytes"),
            models.CheckConstraint(
                condition=~Q(name=""), name="prism_memory_entity_named"
            ),
            models.CheckConstraint(
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")),
                name="prism_memory_entity_not_into_itself",
            ),
            models.CheckConstraint(
                condition=Q(vector__isnull=True, space_id__isnull=True)
                | Q(vector__isnull=False, space_id__isnull=False),
                name="prism_memory_entity_vector_of_a_space",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "merged_into"],
                name="prism_memory_entity_merged",
                condition=Q(merged_into__isnull=False),
            ),
            models.Index(
                fields=["tenant", "space_id", "id"],
                name="prism_memory_entity_by_space",
                condition=Q(merged_into__isnull=True),
            ),
            models.Index(
                fields=["tenant", "scope", "id"],
                name="prism_memory_entity_roots",
                condition=Q(merged_into__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"entity {self.id}"


class Mention(models.Model):
    """A fact speaks of an entity."""

    pk = models.CompositePrimaryKey("tenant", "fact_id", "role")
    tenant = TenantField()
    fact = TenantForeignKey(Fact)
    role = models.TextField(choices=MentionRoleChoice)
    entity = TenantForeignKey(Entity)

    class Meta:
        constraints = [
            TenantReference(field="fact", name="prism_memory_mention_fact"),
            TenantReference(field="entity", name="prism_memory_mention_entity"),
            one_of("role", MentionRoleChoice, "prism_memory_mention_role"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "entity", "fact"],
                name="prism_memory_mention_of",
            )
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} speaks of {self.entity_id}"


class EntityMerge(TenantModel):
    """That two entities are the same, who said so, and whether it was undone.

    Args:
        cosine: Of their names' vectors, -1..1; null where a person decided.
    """

    scope = TenantForeignKey(Scope)
    entity = TenantForeignKey(Entity)
    into = TenantForeignKey(Entity)
    cosine = models.FloatField(null=True, blank=True)
    actor = NameField()
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = NameField(default="", blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_merge_key"),
            TenantReference(field="scope", name="prism_memory_merge_scope"),
            TenantReference(field="entity", name="prism_memory_merge_entity"),
            TenantReference(field="into", name="prism_memory_merge_into"),
            models.UniqueConstraint(
                fields=["tenant", "entity"],
                condition=Q(undone_at__isnull=True),
                name="prism_memory_merge_one_in_force",
            ),
            models.CheckConstraint(
                condition=~Q(entity=F("into")), name="prism_memory_merge_of_two"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "into"], name="prism_memory_merge_root"),
            models.Index(fields=["tenant", "entity"], name="prism_memory_merge_of"),
        ]

    def __str__(self) -> str:
        return f"{self.entity_id} into {self.into_id}"
