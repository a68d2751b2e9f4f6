"""What a thread lets another one recall."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantField, TenantForeignKey
from prism_memory.models.base import TenantModel
from prism_memory.models.record import Record
from prism_memory.models.scope import Scope


class ShareGrant(TenantModel):
    """A list of records that a child thread may recall of its parent's.

    Both are threads of one owner: the keys hold that, not the code.
    """

    owner = NameField()
    parent = TenantForeignKey(Scope)
    child = TenantForeignKey(Scope)
    expires_at = models.DateTimeField(null=True, blank=True)
    actor = NameField()
    created_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            TenantKey(name="prism_memory_share_key"),
            TenantReference(
                field="parent", name="prism_memory_share_parent", also=("owner",)
            ),
            TenantReference(
                field="child", name="prism_memory_share_child", also=("owner",)
            ),
            models.UniqueConstraint(
                fields=["tenant", "parent", "child"], name="prism_memory_share_unique"
            ),
            models.CheckConstraint(
                condition=~Q(parent=F("child")), name="prism_memory_share_of_two"
            ),
            models.CheckConstraint(
                condition=~Q(owner=""), name="prism_memory_share_owner_named"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "child"], name="prism_memory_share_by_child")
        ]

    def __str__(self) -> str:
        return f"share of {self.parent_id} with {self.child_id}"


class ShareGrantItem(models.Model):
    """One record of a share. At most 32: the positions are 0 to 31. Goes with both."""

    pk = models.CompositePrimaryKey("tenant", "grant_id", "record_id")
    tenant = TenantField()
    grant = TenantForeignKey(ShareGrant)
    record = TenantForeignKey(Record)
    position = models.SmallIntegerField()

    class Meta:
        constraints = [
            TenantReference(
                field="grant", name="prism_memory_share_grant", cascade=True
            ),
            TenantReference(
                field="record", name="prism_memory_share_record", cascade=True
            ),
            models.UniqueConstraint(
                fields=["tenant", "grant", "position"],
                name="prism_memory_shareitem_place",
            ),
            models.CheckConstraint(
                condition=Q(position__gte=0, position__lte=31),
                name="prism_memory_shareitem_position",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "record"], name="prism_memory_shareitem_record"
            )
        ]

    def __str__(self) -> str:
        return f"{self.record_id} in {self.grant_id}"
