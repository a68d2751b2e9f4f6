"""Embedding spaces: their index, and what waits in them for one tenant."""

from __future__ import annotations

from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, Tone, badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.retry import retry
from prism_memory.admin.switching import DEEDS, deed_view, space_tools
from prism_memory.admin.tabs import tabs
from prism_memory.admin.tenanted import chosen
from prism_memory.admin.using import using
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.indexing import IndexState, index_name, space_of
from prism_memory.models import Embedding, EmbeddingSpace, SpaceState
from prism_memory.types import record_ref

MOST_FAILED: Final = 50

TONES: dict[str, Tone] = {
    SpaceState.BUILDING: "warn",
    SpaceState.ACTIVE: "good",
    SpaceState.RETIRED: "quiet",
    SpaceState.DROPPING: "warn",
}


def index_states(rows: list[EmbeddingSpace]) -> dict[int, IndexState]:
    """Return the index of each space, as PostgreSQL knows it. One query."""
    wanted = {index_name(space_of(row)): row.id for row in rows}
    given = {"names": list(wanted)}
    found = {
        row["name"]: IndexState(exists=True, **row)
        for row in queries.fetch(using(), named("admin")["index_states"], given)
    }
    missing = {"exists": False, "valid": False, "bytes": 0}
    return {
        space_id: found.get(name) or IndexState(name, **missing)  # type: ignore[arg-type]
        for name, space_id in wanted.items()
    }


def queues(tenant: str, rows: list[EmbeddingSpace]) -> dict[int, dict[str, int]]:
    """Return what waits and what failed in each space, for a tenant. One query."""
    given = {"tenant": tenant, "space_ids": [row.id for row in rows]}
    found = queries.fetch(using(), named("admin")["count_queues"], given)
    return {row["space_id"]: row for row in found}


def index_badge(state: IndexState, *, wanted: bool) -> object:
    """Return whether the index of a space is there, as wished."""
    if state.exists and state.valid:
        return badge(_("index ready"), "good")
    if state.exists:
        return badge(_("index half made"), "bad")
    return badge(_("index lost"), "bad") if wanted else badge(_("no index"))


@admin.register(EmbeddingSpace)
class SpacesAdmin(ReadOnlyAdmin):
    """Which vectors may be compared with which. Global; queues are a tenant's."""

    order = Order(("id",))
    detail_template = "admin/prism_memory/space.html"
    list_display = ("name", "identity", "state", "index", "waiting", "failed", "made")
    empty = _("No space yet: one is made with the first text that is embedded.")
    intro = _("The vectors of one embedder each. Queues show once a tenant is chosen.")

    def more_urls(self) -> list[URLPattern]:
        deeds = [
            self.route(
                f"<path:object_id>/{deed.name}/",
                partial(self.deed, name=deed.name),
                deed.name,
            )
            for deed in DEEDS
        ]
        return [
            self.route("<path:object_id>/retry/", self.retry_view, "retry"),
            *deeds,
        ]

    def row_tools(self, request: HttpRequest, row: EmbeddingSpace) -> list[Tool]:
        return [*super().row_tools(request, row), *space_tools(request, row)]

    def deed(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """Switch to a space, build it again, or drop it."""
        return deed_view(self, request, self.object_or_404(request, object_id), name)

    def place(self, request: HttpRequest) -> Place:
        place = chosen(request)
        return place if place.tenant or place.unknown else Place(tenant="")

    def prepare(self, place: Place, rows: list[Any]) -> None:
        if not rows:
            return
        states = index_states(rows)
        waiting = queues(place.tenant, rows) if place.tenant else {}
        for row in rows:
            row.index = states[row.id]
            row.queue = waiting.get(row.id, {"pending": 0, "failed": 0})
            row.tenant_chosen = place.tenant

    @admin.display(description=_("Alias"))
    def name(self, row: Any) -> object:  # noqa: ANN401 - a space, prepared
        address = links.row_page(row)
        if row.tenant_chosen:
            wish = urlencode({"tenant": row.tenant_chosen})
            address = f"{address}?{wish}"
        return links.anchor(address, row.alias)

    @admin.display(description=_("Embedder"))
    def identity(self, row: EmbeddingSpace) -> object:
        return shown(str(row.identity))

    @admin.display(description=_("State"))
    def state(self, row: EmbeddingSpace) -> object:
        return badge(row.get_state_display(), TONES[row.state])

    @admin.display(description=_("Index"))
    def index(self, row: Any) -> object:  # noqa: ANN401 - a space, prepared
        return index_badge(row.index, wanted=row.index_mode == "hnsw")

    @admin.display(description=_("Waiting"))
    def waiting(self, row: Any) -> object:  # noqa: ANN401 - a space, prepared
        return number(row.queue["pending"]) if row.tenant_chosen else NOTHING

    @admin.display(description=_("Failed"))
    def failed(self, row: Any) -> object:  # noqa: ANN401 - a space, prepared
        if not row.tenant_chosen:
            return NOTHING
        failed = row.queue["failed"]
        return badge(number(failed), "bad") if failed else "0"

    @admin.display(description=_("Made"))
    def made(self, row: EmbeddingSpace) -> object:
        return moment(row.created_at)

    def row_context(self, request: HttpRequest, row: EmbeddingSpace) -> dict[str, Any]:
        context = super().row_context(request, row)
        place = chosen(request)
        may = request.user.has_perm("prism_memory.change_embeddingspace")
        return context | {
            "place": place,
            "tenant_shown": shown(place.tenant or ""),
            "list_page": links.list_page(EmbeddingSpace, **place.wish),
            "tabs": tabs(request, place.tenant, EmbeddingSpace),
            "may_retry": may,
            "retry_page": links.row_page(row, "retry"),
        }

    def more(self, request: HttpRequest, row: EmbeddingSpace) -> dict[str, Any]:
        tenant = chosen(request).tenant
        if not tenant:
            return {"failed": 0}
        queue = queues(tenant, [row]).get(row.id, {"pending": 0, "failed": 0})
        return {"failed": queue["failed"], "queue": _queue(tenant, row, queue)}

    def sections(self, request: HttpRequest, row: EmbeddingSpace) -> list[Section]:
        del request
        state = index_states([row])[row.id]
        pairs = [
            (_("Alias"), shown(row.alias)),
            (_("Entry of EMBEDDERS"), shown(row.backend or row.alias)),
            (_("Provider"), shown(row.provider)),
            (_("Model"), shown(row.model)),
            (_("Dimensions"), number(row.dimensions)),
            (_("Metric"), row.metric),
            (_("State"), self.state(row)),
            (_("Since"), moment(row.state_since)),
            (_("Made"), moment(row.created_at)),
        ]
        index = [
            (_("State"), index_badge(state, wanted=row.index_mode == "hnsw")),
            (_("Mode"), row.get_index_mode_display()),
            (_("Name"), links.code(state.name)),
            (_("Bytes"), number(state.bytes)),
        ]
        return [Section(_("Space"), pairs), Section(_("Index"), index)]

    def retry_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Give what failed all its tries again."""
        row = self.object_or_404(request, object_id)
        if not request.user.has_perm("prism_memory.change_embeddingspace"):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(links.row_page(row))
        place = chosen(request)
        if not place.tenant:
            raise Http404
        count = retry(place.tenant, space_of(row), actor(request))
        text = ngettext(
            "%(count)s text will be tried again.",
            "%(count)s texts will be tried again.",
            count,
        )
        messages.success(request, text % {"count": count})
        wish = urlencode(place.wish)
        return HttpResponseRedirect(f"{links.row_page(row)}?{wish}")


def _queue(tenant: str, row: EmbeddingSpace, queue: dict[str, int]) -> list[Section]:
    counts = [
        (_("Waiting"), number(queue["pending"])),
        (_("Failed"), badge(queue["failed"], "bad") if queue["failed"] else "0"),
    ]
    return [
        Section(_("Queue of this tenant"), counts),
        Section(
            _("What failed"),
            [
                (
                    links.ref_link(tenant, record_ref(record_id)),
                    attempts,
                    moment(failed_at),
                    shown(error),
                )
                for record_id, attempts, failed_at, error in _failed(tenant, row)
            ],
            headers=(_("Record"), _("Tries"), _("Given up"), _("Error")),
            empty=_("Nothing failed."),
        ),
    ]


def _failed(tenant: str, row: EmbeddingSpace) -> QuerySet[Any, Any]:
    rows = Embedding.objects.using(using()).filter(
        tenant=tenant, space=row.id, vector__isnull=True, failed_at__isnull=False
    )
    columns = rows.values_list("record_id", "attempts", "failed_at", "error")
    return columns.order_by("-failed_at")[:MOST_FAILED]
