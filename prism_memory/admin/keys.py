"""Access keys of the HTTP API: made, shown once, revoked."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, Tone, badge, badges, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.key_form import create_view
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.tenanted import chosen
from prism_memory.admin.using import using
from prism_memory.errors import Conflict
from prism_memory.models import AccessKey

SOON: Final = dt.timedelta(days=14)


def state(row: AccessKey, at: dt.datetime) -> tuple[Any, Tone]:
    """Return whether a key opens anything, as a badge."""
    if row.revoked_at is not None:
        return _("revoked"), "bad"
    if row.expires_at is None:
        return _("open"), "good"
    if row.expires_at <= at:
        return _("expired"), "quiet"
    if row.expires_at <= at + SOON:
        return _("expires soon"), "warn"
    return _("open"), "good"


class KeyFilter(FilterForm):
    owner = ExactNameField(label=_("Owner, exactly"))
    state = choice(
        _("State"),
        [
            ("open", _("open")),
            ("expired", _("expired")),
            ("revoked", _("revoked")),
        ],
    )
    exact = {"owner": "owner"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        ended = Q(expires_at__lte=timezone.now())
        states = {
            "": Q(),
            "open": Q(revoked_at=None) & (Q(expires_at=None) | ~ended),
            "expired": Q(revoked_at=None) & ended,
            "revoked": Q(revoked_at__isnull=False),
        }
        return super().narrow(rows).filter(states[self.cleaned_data["state"]])


@admin.register(AccessKey)
class KeysAdmin(ReadOnlyAdmin):
    """Newest first. A key's bounds never change: make another and revoke this one."""

    order = Order(("id",), descending=True)
    filters = KeyFilter
    list_display = (
        "name",
        "opens",
        "allowed",
        "trusted",
        "states",
        "used",
        "expires",
        "made",
    )
    empty = _("No key here.")
    intro = _("Each opens its scope and all below it.")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("prism_memory.add_accesskey"))

    def more_urls(self) -> list[URLPattern]:
        return [self.route("<path:object_id>/revoke/", self.revoke_view, "revoke")]

    def place(self, request: HttpRequest) -> Place:
        place = chosen(request)
        return place if place.tenant or place.unknown else Place(tenant="")

    def list_rows(self, place: Place) -> QuerySet[Any]:
        rows = self.rows(place)
        return rows.filter(tenant=place.tenant) if place.tenant else rows

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).defer("sha256")

    def tools(self, request: HttpRequest, place: Place) -> list[Tool]:
        if not self.has_add_permission(request):
            return []
        wish = f"?{urlencode(place.wish)}" if place.wish else ""
        return [Tool(_("Create a key"), links.page(AccessKey, "add") + wish)]

    @admin.display(description=_("Label"))
    def name(self, row: AccessKey) -> object:
        return links.anchor(links.row_page(row), row.label)

    @admin.display(description=_("Opens"))
    def opens(self, row: AccessKey) -> object:
        return shown(str(row.scope))

    @admin.display(description=_("Permissions"))
    def allowed(self, row: AccessKey) -> object:
        return badges([(name, "quiet") for name in row.permissions])

    @admin.display(description=_("Trust"))
    def trusted(self, row: AccessKey) -> object:
        return badge(row.get_trust_display())

    @admin.display(description=_("State"))
    def states(self, row: AccessKey) -> object:
        return badge(*state(row, timezone.now()))

    @admin.display(description=_("Last used"))
    def used(self, row: AccessKey) -> object:
        return moment(row.last_used_at, _("never"))

    @admin.display(description=_("Expires"))
    def expires(self, row: AccessKey) -> object:
        return moment(row.expires_at, _("never"))

    @admin.display(description=_("Created"))
    def made(self, row: AccessKey) -> object:
        return moment(row.created_at)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:  # noqa: ANN401 - an AccessKey
        del request, from_field
        try:
            key_id = uuid.UUID(unquote(object_id))
        except ValueError:
            return None
        return self.rows(Place(tenant="")).filter(id=key_id).first()

    def row_tools(self, request: HttpRequest, row: AccessKey) -> list[Tool]:
        audit = Tool(_("Audit"), links.audit_of(row.tenant, f"key:{row.id}"))
        may = request.user.has_perm("prism_memory.change_accesskey")
        if not may or row.revoked_at is not None:
            return [audit]
        return [Tool(_("Revoke"), links.row_page(row, "revoke")), audit]

    def sections(self, request: HttpRequest, row: AccessKey) -> list[Section]:
        del request
        bounds = [
            (_("Label"), shown(row.label)),
            (_("Tenant"), shown(row.tenant)),
            (_("Owner"), shown(row.owner) or NOTHING),
            (_("Agent"), shown(row.agent) or NOTHING),
            (_("Thread"), shown(row.thread) or NOTHING),
            (_("Permissions"), self.allowed(row)),
            (_("Trust of what it writes"), self.trusted(row)),
            (_("Principal"), shown(row.principal) or NOTHING),
            (_("Groups"), shown(", ".join(row.groups)) or NOTHING),
            (_("Id"), links.code(row.id)),
        ]
        life = [
            (_("State"), self.states(row)),
            (_("Last used"), self.used(row)),
            (_("Created"), moment(row.created_at)),
            (_("Expires"), self.expires(row)),
            (_("Revoked"), moment(row.revoked_at)),
        ]
        return [Section(_("Bounds"), bounds), Section(_("Life"), life)]

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        del form_url, extra_context
        if not self.has_add_permission(request):
            raise PermissionDenied
        return create_view(self, request)

    def revoke_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then end a key at once."""
        row = self.object_or_404(request, object_id)
        if not request.user.has_perm("prism_memory.change_accesskey"):
            raise PermissionDenied
        if request.method != "POST":
            context = self.row_context(request, row) | {"scope": shown(str(row.scope))}
            return self.answer(request, "admin/prism_memory/key_revoke.html", context)
        try:
            lifecycle.revoke_key(
                using=using(), key_id=row.id, actor=actor(request), at=timezone.now()
            )
        except Conflict as error:
            messages.warning(request, str(error))
        else:
            messages.success(request, _("The key was revoked. It opens nothing now."))
        return HttpResponseRedirect(links.row_page(row))
