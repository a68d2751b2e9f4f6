"""Shares: what one thread lets another recall, and the end of that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonForm, Told, ask
from prism_memory.admin.badges import badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.models import ShareGrant, ShareGrantItem
from prism_memory.types import record_ref


class ShareFilter(FilterForm):
    owner = ExactNameField(label=_("Owner, exactly"))
    parent = ExactNameField(label=_("From the thread, exactly"))
    child = ExactNameField(label=_("With the thread, exactly"))
    state = choice(_("State"), [("force", _("in force")), ("expired", _("expired"))])
    exact = {"owner": "owner", "parent": "parent__thread", "child": "child__thread"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        expired = Q(expires_at__lte=timezone.now())
        states = {
            "": Q(),
            "force": Q(expires_at=None) | ~expired,
            "expired": expired,
        }
        return super().narrow(rows).filter(states[self.cleaned_data["state"]])


REVOKE: Final = Ask(
    _("Revoke this share?"),
    _("Revoke"),
    about=_("Nothing is deleted, and it can be shared again."),
    danger=True,
)


@admin.register(ShareGrant)
class SharesAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = ShareFilter
    list_display = ("parent_of", "child_of", "states", "count", "expires", "by", "made")
    empty = _("Nothing is shared here.")
    intro = _("Each lets one thread recall a few records of another, and nothing else.")

    def more_urls(self) -> list[URLPattern]:
        return [self.route("<path:object_id>/revoke/", self.revoke_view, "revoke")]

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).select_related("parent", "child")

    def prepare(self, place: Place, rows: list[Any]) -> None:
        counts = _counts(str(place.tenant), rows)
        for row in rows:
            row.records = counts.get(row.id, 0)

    @admin.display(description=_("From"))
    def parent_of(self, row: ShareGrant) -> object:
        return links.anchor(links.row_page(row), shown(str(row.parent)))

    @admin.display(description=_("With"))
    def child_of(self, row: ShareGrant) -> object:
        return shown(str(row.child))

    @admin.display(description=_("State"))
    def states(self, row: ShareGrant) -> object:
        if row.expires_at is not None and row.expires_at <= timezone.now():
            return badge(_("expired"))
        return badge(_("in force"), "good")

    @admin.display(description=_("Records"))
    def count(self, row: Any) -> object:  # noqa: ANN401 - a grant, with its count
        return number(row.records)

    @admin.display(description=_("Expires"))
    def expires(self, row: ShareGrant) -> object:
        return moment(row.expires_at, _("never"))

    @admin.display(description=_("By"))
    def by(self, row: ShareGrant) -> object:
        return shown(row.actor)

    @admin.display(description=_("Changed"))
    def made(self, row: ShareGrant) -> object:
        return moment(row.changed_at)

    def name_of(self, row: ShareGrant) -> str:
        return f"{row.parent.thread} \N{RIGHTWARDS ARROW} {row.child.thread}"

    def row_tools(self, request: HttpRequest, row: ShareGrant) -> list[Tool]:
        audit = Tool(_("Audit"), links.audit_of(row.tenant, f"sharegrant:{row.id}"))
        if not _may_revoke(request):
            return [audit]
        return [Tool(_("Revoke"), links.row_page(row, "revoke")), audit]

    def sections(self, request: HttpRequest, row: ShareGrant) -> list[Section]:
        del request
        pairs = [
            (_("From"), links.anchor(links.row_page(row.parent), str(row.parent))),
            (_("With"), links.anchor(links.row_page(row.child), str(row.child))),
            (_("State"), self.states(row)),
            (_("Expires"), self.expires(row)),
            (_("By"), shown(row.actor)),
            (_("Given"), moment(row.created_at)),
            (_("Changed"), moment(row.changed_at)),
            (_("Id"), links.code(row.id)),
        ]
        records = [
            (str(place + 1), links.ref_link(row.tenant, record_ref(record_id)))
            for place, record_id in _items(row)
        ]
        return [
            Section(_("Share"), pairs),
            Section(
                _("Records"),
                records,
                headers=(_("Place"), _("Record")),
                empty=_("All of them are gone."),
                note=_("What is withheld in its thread is withheld here too."),
            ),
        ]

    def revoke_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what ends, ask why, then end it."""
        row = self.object_or_404(request, object_id)
        if not _may_revoke(request):
            raise PermissionDenied
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            return self._revoke(request, row, form.cleaned_data["reason"])
        return ask(self, request, row, form, replace(REVOKE, effect=_effect(row)))

    def _revoke(
        self, request: HttpRequest, row: ShareGrant, reason: str
    ) -> HttpResponse:
        with Told(request) as told:
            lifecycle.revoke_share(
                using=using(),
                scope=row.parent.value,
                actor=actor(request),
                child=row.child.value,
                at=timezone.now(),
                reason=reason,
            )
        if told.refused:
            return HttpResponseRedirect(links.row_page(row))
        messages.success(request, _("The share was revoked."))
        wish = links.tenant_wish(row.tenant)
        return HttpResponseRedirect(links.list_page(ShareGrant, **wish))


def _may_revoke(request: HttpRequest) -> bool:
    return bool(request.user.has_perm("prism_memory.delete_sharegrant"))


def _counts(tenant: str, rows: list[ShareGrant]) -> dict[Any, int]:
    """Return how many records each grant shares. One query."""
    items = ShareGrantItem.objects.using(using()).filter(tenant=tenant)
    found = items.filter(grant_id__in=[row.id for row in rows]).values("grant_id")
    counted = found.annotate(records=Count("record_id")).order_by()
    return dict(counted.values_list("grant_id", "records"))


def _items(row: ShareGrant) -> list[tuple[int, Any]]:
    items = ShareGrantItem.objects.using(using()).filter(tenant=row.tenant)
    found = items.filter(grant_id=row.id).order_by("position")
    return list(found.values_list("position", "record_id"))


def _effect(row: ShareGrant) -> list[object]:
    """Return with whom it is shared, and what is recalled no more. One query."""
    count = len(_items(row))
    text = ngettext(
        "It recalls %(count)s record of the other thread no more.",
        "It recalls %(count)s records of the other thread no more.",
        count,
    )
    child = format_html("{} {}", _("It is shared with"), shown(str(row.child)))
    return [child, text % {"count": count}]
