"""What an external index of vectors holds, or is still to be told."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory.db.fields import NameField, TenantField
from prism_memory.models.base import at_most_a_name, one_of
from prism_memory.models.choices import CopyState


class VectorCopy(models.Model):
    """One vector in one external index. No foreign key: it outlives the record.

    Written with the vector, and marked with its deletion, in the same transactions. So
    the index may lose any message, and still be put right.
    """

    # The record first: what deletes a record looks for its copies.
    pk = models.CompositePrimaryKey("tenant", "record_id", "space_id", "index")
    tenant = TenantField()
    record_id = models.UUIDField(help_text="Zero in the row that all are enlisted.")
    space_id = models.IntegerField()
    index = NameField(help_text="Name of the index.")
    scope_id = models.UUIDField()
    state = models.TextField(choices=CopyState)
    version = models.BigIntegerField(default=1, help_text="Of what is to be told.")
    claimed_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_copy_tenant_named"
            ),
            at_most_a_name("tenant", "prism_memory_copy_tenant_bytes"),
            at_most_a_name("index", "prism_memory_copy_index_bytes"),
            one_of("state", CopyState, "prism_memory_copy_state"),
        ]
        indexes = [
            models.Index(
                # Recall compares these itself, until the index has them.
                fields=["tenant", "space_id", "index", "scope_id", "record_id"],
                name="prism_memory_copy_wanted",
                condition=Q(state="wanted"),
            ),
            models.Index(
                fields=["tenant", "index", "space_id", "record_id"],
                name="prism_memory_copy_gone",
                condition=Q(state="gone"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.record_id} in {self.index}"
