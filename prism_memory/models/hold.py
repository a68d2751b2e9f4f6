"""What must not be deleted, whoever asks for it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from prism_memory.db.constraints import TenantKey
from prism_memory.db.fields import NameField
from prism_memory.models.base import TenantModel, at_most_a_name, names, one_of
from prism_memory.models.choices import HoldLevelChoice
from prism_memory.types import UUID_PATTERN

HELD_PATTERN = rf"^(record|source|scope):{UUID_PATTERN}$"
IN_FORCE = Q(released_at__isnull=True)


class LegalHold(TenantModel):
    """A hold on a record, on a source, or on a scope with all below it.

    It keeps from deletion and hides nothing. No foreign key: it outlives what it is on,
    and may be placed on a scope where nothing was written yet. An owner is the scope of
    that owner; names that are empty are those of all.
    """

    level = models.TextField(choices=HoldLevelChoice)
    target_ref = NameField(help_text="record:, source: or scope: and its id.")
    owner = NameField(default="", blank=True)
    agent = NameField(default="", blank=True)
    thread = NameField(default="", blank=True)
    matter = NameField(
        default="", blank=True, help_text="What it is for, as a case's number."
    )
    placed_by = NameField()
    placed_at = models.DateTimeField()
    released_by = NameField(default="", blank=True)
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_hold_key"),
            models.UniqueConstraint(
                fields=["tenant", "target_ref", "matter"],
                condition=IN_FORCE,
                name="prism_memory_hold_unique",
            ),
            models.CheckConstraint(
                condition=~Q(tenant=""), name="prism_memory_hold_tenant_named"
            ),
            models.CheckConstraint(
                condition=Q(level="scope") | Q(owner="", agent="", thread=""),
                name="prism_memory_hold_names_of_scope",
            ),
            models.CheckConstraint(
                condition=~Q(owner="") | Q(agent="", thread=""),
                name="prism_memory_hold_owner_first",
            ),
            one_of("level", HoldLevelChoice, "prism_memory_hold_level"),
            names("target_ref", HELD_PATTERN, "prism_memory_hold_target_ref"),
            at_most_a_name("tenant", "prism_memory_hold_tenant_bytes"),
            at_most_a_name("matter", "prism_memory_hold_matter_bytes"),
        ]
        indexes = [
            models.Index(
                # Those that may be on any row of the tenant; there are few.
                fields=["tenant", "owner"],
                condition=IN_FORCE & Q(level="scope"),
                name="prism_memory_hold_on_scopes",
            )
        ]

    def __str__(self) -> str:
        return f"hold on {self.target_ref}"
