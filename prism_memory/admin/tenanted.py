"""Pages about the rows of one tenant."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import keyset, links
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import FilterForm
from prism_memory.admin.parts import Place
from prism_memory.admin.readonly import PER_PAGE, ReadOnlyAdmin
from prism_memory.admin.using import using
from prism_memory.models import Tenant


def chosen(request: HttpRequest) -> Place:
    """Return the tenant that the address names, if there is one. One query."""
    name = request.GET.get("tenant") or request.POST.get("tenant", "")
    if not name:
        return Place()
    if "\0" in name:
        return Place(unknown=True)
    tenants = Tenant.objects.using(using()).filter(name=name)
    # A key or an event may name a tenant before anything is remembered there.
    unknown = not tenants.exists()
    return Place(name, unknown=unknown, wish=links.tenant_wish(name))


class TenantAdmin(ReadOnlyAdmin):
    """Pages about the rows of one tenant, which must be chosen first."""

    installation: ClassVar[bool] = False
    """Whether some rows belong to no tenant but to the whole installation."""

    def place(self, request: HttpRequest) -> Place:
        if self.installation and "installation" in request.GET:
            return Place("", wish=links.tenant_wish(""))
        return chosen(request)

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).filter(tenant=place.tenant)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:  # noqa: ANN401 - a row of self.model
        del request, from_field
        row_id, tenant = links.read_object_id(object_id)
        return self.rows(Place(tenant)).filter(pk=row_id).first()

    def list_context(
        self,
        request: HttpRequest,
        place: Place,
        form: FilterForm,
        window: keyset.Window,
    ) -> dict[str, Any]:
        context = super().list_context(request, place, form, window)
        if place.tenant is None:
            rows = Tenant.objects.using(using()).order_by("name")
            known = [tenant.name for tenant in rows[: PER_PAGE + 1]]
            context["choices"] = [
                (links.list_page(self.model, tenant=name), shown(name))
                for name in known[:PER_PAGE]
            ]
            context["more_tenants"] = len(known) > PER_PAGE
            context["all_tenants"] = links.anchor(
                links.list_page(Tenant), _("All tenants")
            )
            if self.installation:
                context["installation"] = links.list_page(self.model, installation="1")
        return context
