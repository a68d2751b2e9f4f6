"""What all pages of this app share: read-only, one tenant at a time, paged to the end.

Django's own change list counts whole tables, takes any look-up from the address and
finds rows by id alone. These pages do none of that: without a tenant there are no rows,
and every address of a tenant's row names the tenant.
"""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.text import capfirst

from prism_memory.admin import keyset, links
from prism_memory.admin.acting import acting
from prism_memory.admin.badges import NOTHING
from prism_memory.admin.characters import marked, shown
from prism_memory.admin.filters import FilterForm
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.tabs import tabs
from prism_memory.admin.using import using
from prism_memory.types import Actor

PER_PAGE = 50


def actor(request: HttpRequest) -> Actor:
    """Return who acts, as the audit names them."""
    return Actor(f"user:{request.user.pk}")


def private(response: HttpResponse) -> HttpResponse:
    """Keep a page with a secret or withheld text out of every cache."""
    response["Cache-Control"] = "no-store, private"
    return response


class ReadOnlyAdmin(admin.ModelAdmin):
    """Lists and shows; adds, changes and deletes nothing."""

    actions = None
    order: ClassVar[keyset.Order]
    filters: ClassVar[type[FilterForm]] = FilterForm
    per_page: ClassVar[int] = PER_PAGE
    list_template: ClassVar[str] = "admin/prism_memory/list.html"
    detail_template: ClassVar[str] = "admin/prism_memory/detail.html"
    empty: ClassVar[object] = ""
    intro: ClassVar[object] = ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        del request
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        del request, obj
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        del request, obj
        return False

    def get_urls(self) -> list[URLPattern]:
        urls = [*self.more_urls(), *super().get_urls()]
        for url in urls:
            url.callback = acting(url.callback)
        return urls

    def more_urls(self) -> list[URLPattern]:
        """Return the routes that this page group adds."""
        return []

    def route(self, address: str, view: Any, name: str) -> URLPattern:  # noqa: ANN401
        """Return a route of this model's pages."""
        full = f"prism_memory_{self.opts.model_name}_{name}"
        route: URLPattern = path(address, self.admin_site.admin_view(view), name=full)
        return route

    # -- lists

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return nothing: rows are read through ``rows``, which names the tenant."""
        del request
        rows: QuerySet[Any] = self.model.objects.none()
        return rows

    def place(self, request: HttpRequest) -> Place:
        """Return whose rows are asked for."""
        del request
        return Place(tenant="")

    def rows(self, place: Place) -> QuerySet[Any]:
        """Return the rows that pages of ``place`` may be about."""
        del place
        rows: QuerySet[Any] = self.model.objects.using(using())
        return rows

    def list_rows(self, place: Place) -> QuerySet[Any]:
        """Return the rows that the list is narrowed from."""
        return self.rows(place)

    def filter_form(self, request: HttpRequest, place: Place) -> FilterForm:
        del place
        return self.filters(request.GET)

    def prepare(self, place: Place, rows: list[Any]) -> None:
        """Load what all rows of a page need, in as many queries as for one."""

    def tools(self, request: HttpRequest, place: Place) -> list[Tool]:
        """Return the buttons of the list."""
        del request, place
        return []

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        place = self.place(request)
        form = self.filter_form(request, place)
        window = keyset.Window([])
        if place.tenant is not None and form.is_valid():
            window = keyset.read(
                form.narrow(self.list_rows(place)),
                order=self.order,
                wish=request.GET.dict(),
                per_page=self.per_page,
            )
            self.prepare(place, window.rows)
        context = self.list_context(request, place, form, window)
        return self.answer(request, self.list_template, context | (extra_context or {}))

    def list_context(
        self,
        request: HttpRequest,
        place: Place,
        form: FilterForm,
        window: keyset.Window,
    ) -> dict[str, Any]:
        """Return what the list's template shows."""
        return {
            "title": capfirst(self.opts.verbose_name_plural),
            "place": place,
            "form": form,
            "window": window,
            "kept_query": urlencode(_kept(request)),
            "narrowed": form.is_narrowing,
            "plain_page": links.list_page(self.model, **place.wish),
            "tenant_shown": shown(place.tenant or ""),
            "headers": self._headers(),
            "table": [self.cells(row) for row in window.rows],
            "tools": _open(self.tools(request, place)),
            "empty": self.empty,
            "intro": self.intro,
            "tabs": tabs(request, place.tenant if place.wish else None, self.model),
        }

    def _headers(self) -> list[Any]:
        columns = (getattr(self, str(name)) for name in self.list_display)
        return [column.short_description for column in columns]

    def cells(self, row: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 - any row
        """Return header and value of each column of ``row``."""
        values = (getattr(self, str(name))(row) for name in self.list_display)
        filled = (NOTHING if value in ("", None) else value for value in values)
        return list(zip(self._headers(), filled, strict=True))

    # -- one row

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:  # noqa: ANN401 - a row of self.model
        del request, from_field
        rows = self.rows(Place(tenant=""))
        try:
            return rows.filter(pk=unquote(object_id)).first()
        except (ValueError, ValidationError):
            return None

    def object_or_404(self, request: HttpRequest, object_id: str) -> Any:  # noqa: ANN401
        """Return the row of an address, if the user may see it.

        Raises:
            PermissionDenied: They may not see any such row.
            Http404: There is none.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        if "\0" in unquote(object_id):
            raise Http404
        found = self.get_object(request, object_id)
        if found is None:
            raise Http404
        return found

    def sections(self, request: HttpRequest, row: Any) -> list[Section]:  # noqa: ANN401
        """Return what the detail page shows of ``row``."""
        raise NotImplementedError

    def row_tools(self, request: HttpRequest, row: Any) -> list[Tool]:  # noqa: ANN401
        """Return the buttons of the detail page."""
        del request, row
        return []

    def more(self, request: HttpRequest, row: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return what the detail page's own template shows beside the sections."""
        del request, row
        return {}

    def name_of(self, row: Any) -> str:  # noqa: ANN401 - any row
        """Return what a page about ``row`` calls it. Never any content."""
        return str(row)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        del form_url
        row = self.object_or_404(request, object_id)
        context = self.row_context(request, row)
        context["sections"] = self.sections(request, row)
        context["tools"] = _open(self.row_tools(request, row))
        context |= self.more(request, row)
        return self.answer(
            request, self.detail_template, context | (extra_context or {})
        )

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return what every page about ``row`` shows."""
        tenant: str | None = getattr(row, "tenant", None)
        wish = {} if tenant is None else links.tenant_wish(tenant)
        return {
            "title": marked(self.name_of(row)),
            "row_page": links.row_page(row),
            "row_name": marked(self.name_of(row)),
            "list_page": links.list_page(self.model, **wish),
            "place": Place(tenant, wish=wish),
            "tenant_shown": shown(tenant or ""),
            "tabs": tabs(request, tenant, self.model),
        }

    def history_view(
        self,
        request: HttpRequest,
        object_id: str,
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Lead to the audit: Django's own log knows nothing of these rows."""
        del extra_context
        row = self.object_or_404(request, object_id)
        tenant = getattr(row, "tenant", "")
        return HttpResponseRedirect(links.audit_of(tenant, self.audit_target(row)))

    def audit_target(self, row: Any) -> str:  # noqa: ANN401 - any row
        """Return what the audit calls ``row``."""
        return f"{self.opts.model_name}:{row.pk}"

    def answer(
        self, request: HttpRequest, template: str, context: dict[str, Any]
    ) -> TemplateResponse:
        """Return a page within the admin's frame."""
        frame = self.admin_site.each_context(request)
        return TemplateResponse(
            request, template, {**frame, "opts": self.opts, **context}
        )


def _open(tools: list[Tool]) -> list[Tool]:
    """Return the buttons whose pages the viewer may see."""
    return [tool for tool in tools if links.leads(tool.address)]


def _kept(request: HttpRequest) -> dict[str, str]:
    """Return the address's narrowing, without the place in the list."""
    places = {"after", "before", "end"}
    return {k: str(v) for k, v in request.GET.items() if k not in places}
