"""Long work that can be resumed."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from prism_memory.db.constraints import TenantKey
from prism_memory.db.fields import NameField
from prism_memory.models.base import TenantModel, at_most_a_name, one_of
from prism_memory.models.choices import RunState


class Run(TenantModel):
    """One piece of long work: an import, an index build, an erasure.

    ``tenant`` is empty for work of the whole installation. ``attempts`` counts the
    failures in a row; ``done_before`` is how much was done when it was taken up.
    """

    kind = models.TextField()
    target = NameField(default="", blank=True)
    state = models.TextField(choices=RunState, default=RunState.RUNNING)
    cursor = models.JSONField(default=dict, blank=True)
    counts = models.JSONField(default=dict, blank=True)
    actor = NameField()
    error = models.TextField(default="", blank=True)
    started_at = models.DateTimeField(db_default=Now())
    heartbeat_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    next_try_at = models.DateTimeField(null=True, blank=True)
    taken_up_at = models.DateTimeField(null=True, blank=True)
    done_before = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_run_key"),
            models.UniqueConstraint(
                fields=["tenant", "kind", "target"],
                condition=Q(state="running"),
                name="prism_memory_run_one_running",
            ),
            at_most_a_name("tenant", "prism_memory_run_tenant_bytes"),
            at_most_a_name("target", "prism_memory_run_target_bytes"),
            one_of("state", RunState, "prism_memory_run_state"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-started_at"], name="prism_memory_run_recent"
            ),
            models.Index(
                fields=["tenant", "heartbeat_at"],
                condition=Q(state="running") | Q(next_try_at__isnull=False),
                name="prism_memory_run_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target}".strip()
