"""The bar that leads from one list of a tenant to another."""

from __future__ import annotations

from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    AuditSeal,
    ConflictDecision,
    EmbeddingSpace,
    Entity,
    ErasureReceipt,
    Fact,
    LegalHold,
    Reading,
    RecallTrace,
    Record,
    RetentionPolicy,
    Review,
    Run,
    Scope,
    ShareGrant,
    Source,
    Tombstone,
)

OF_TENANT: tuple[tuple[type[Model], object], ...] = (
    (Scope, _("Scopes")),
    (Source, _("Sources")),
    (Record, _("Records")),
    (Fact, _("Facts")),
    (Review, _("Reviews")),
    (ConflictDecision, _("Conflicts")),
    (Entity, _("Entities")),
    (Tombstone, _("Tombstones")),
    (LegalHold, _("Holds")),
    (ShareGrant, _("Shares")),
    (EmbeddingSpace, _("Vectors")),
    (RecallTrace, _("Recalls")),
    (RetentionPolicy, _("Retention")),
    (ErasureReceipt, _("Erasures")),
    (Reading, _("Operations")),
    (Run, _("Runs")),
    (AuditEvent, _("Audit")),
    (AuditSeal, _("Seals")),
    (AccessKey, _("Access keys")),
)
OF_INSTALLATION = (Reading, Run, AuditEvent, AuditSeal)


def tabs(
    request: HttpRequest, tenant: str | None, current: type[Model]
) -> list[tuple[str, object, bool]]:
    """Return address, label and whether it is current, as far as the user may look."""
    if tenant is None:
        return []
    return [
        (links.list_page(model, **links.tenant_wish(tenant)), label, model is current)
        for model, label in OF_TENANT
        if (tenant or model in OF_INSTALLATION) and links.may_view(request.user, model)
    ]
