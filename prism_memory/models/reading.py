"""How it stood, by the hour: what charts of the last day are drawn of. No content."""

from __future__ import annotations

from django.db import models

from prism_memory.db.constraints import TenantKey
from prism_memory.models.base import TenantModel, at_most_a_name


class Reading(TenantModel):
    """The most of each count within an hour; ``tenant`` is empty for the sums of all.

    Written by a task and dropped after two days: at most 49 rows a tenant, and none
    for one with nothing to tell.
    """

    hour = models.DateTimeField()
    counts = models.JSONField(default=dict, help_text="Numbers by name.")
    worst = models.JSONField(
        default=list, blank=True, help_text="Of all: tenants with the most to do."
    )
    at = models.DateTimeField()

    class Meta:
        verbose_name = "reading"
        verbose_name_plural = "operations"  # what the admin's page of them is called
        constraints = [
            TenantKey(name="prism_memory_reading_key"),
            models.UniqueConstraint(
                fields=["tenant", "hour"], name="prism_memory_reading_unique"
            ),
            at_most_a_name("tenant", "prism_memory_reading_tenant_bytes"),
        ]

    def __str__(self) -> str:
        return f"reading of {self.hour:%Y-%m-%d %H:%M}"
