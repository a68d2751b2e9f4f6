"""Who may read a document: its list of grants."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantForeignKey
from prism_memory.models.base import TenantModel, at_most_a_name
from prism_memory.models.source import Source


class SourceAccess(TenantModel):
    """A principal, or a group, that may read one restricted source. Goes with it."""

    source = TenantForeignKey(Source)
    principal = NameField(default="", blank=True)
    group = NameField(default="", blank=True, db_column="group_name")
    access_version = models.IntegerField(default=1, db_default=1)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_sourceaccess_key"),
            TenantReference(
                field="source", name="prism_memory_sourceaccess_source", cascade=True
            ),
            models.UniqueConstraint(
                fields=["tenant", "source", "principal", "group"],
                name="prism_memory_sourceaccess_unique",
            ),
            models.CheckConstraint(
                condition=Q(principal="") & ~Q(group="")
                | ~Q(principal="") & Q(group=""),
                name="prism_memory_sourceaccess_one_of_both",
            ),
            models.CheckConstraint(
                condition=Q(access_version__gte=1),
                name="prism_memory_sourceaccess_version",
            ),
            *(
                at_most_a_name(name, f"prism_memory_sourceaccess_{name}_bytes")
                for name in ("principal", "group")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.principal or self.group} reads {self.source_id}"
