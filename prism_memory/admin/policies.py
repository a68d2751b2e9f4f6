"""Policies of retention: what they say, what they would do, how they are changed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.badges import badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.policy_act import ACTS, act_view
from prism_memory.admin.policy_form import KEEPS_NOTHING, PREVIEW_SECONDS, form_view
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.governance.retention import preview_policy, rules_of
from prism_memory.models import RetentionPolicy, Run


class PolicyFilter(FilterForm):
    name = ExactNameField(label=_("Name, exactly"))
    state = choice(_("State"), [("on", _("in force")), ("off", _("off"))])
    exact = {"name": "name"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        state = self.cleaned_data["state"]
        narrowed = super().narrow(rows)
        return narrowed.filter(enabled=state == "on") if state else narrowed


@admin.register(RetentionPolicy)
class PoliciesAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = PolicyFilter
    list_display = ("title", "about", "says", "states", "by", "changed")
    empty = _("No policy here: everything is kept until somebody deletes it.")
    intro = _("Each night, what one of them says goes, unless a hold keeps it.")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("prism_memory.add_retentionpolicy"))

    def more_urls(self) -> list[URLPattern]:
        return [
            self.route("<path:object_id>/preview/", self.preview_view, "preview"),
            self.route("<path:object_id>/alter/", self.alter_view, "alter"),
            *(
                self.route(f"<path:object_id>/{verb}/", self._act(verb), verb)
                for verb in ACTS
            ),
        ]

    def _act(self, verb: str) -> Any:  # noqa: ANN401 - a view
        def view(request: HttpRequest, object_id: str) -> HttpResponse:
            row = self.object_or_404(request, object_id)
            return act_view(self, request, row, verb)

        return view

    def tools(self, request: HttpRequest, place: Place) -> list[Tool]:
        if not self.has_add_permission(request) or not place.tenant or place.unknown:
            return []
        add = links.page(RetentionPolicy, "add")
        address = links.with_wish(add, place.wish)
        return [Tool(_("Make a policy"), address)]

    @admin.display(description=_("Name"))
    def title(self, row: RetentionPolicy) -> object:
        return links.anchor(links.row_page(row), row.name)

    @admin.display(description=_("About"))
    def about(self, row: RetentionPolicy) -> str:
        return about(row)

    @admin.display(description=_("What goes"))
    def says(self, row: RetentionPolicy) -> str:
        return "; ".join(what_goes(row))

    @admin.display(description=_("State"))
    def states(self, row: RetentionPolicy) -> object:
        return badge(_("in force"), "good") if row.enabled else badge(_("off"))

    @admin.display(description=_("By"))
    def by(self, row: RetentionPolicy) -> object:
        return shown(row.actor)

    @admin.display(description=_("Changed"))
    def changed(self, row: RetentionPolicy) -> object:
        return moment(row.changed_at)

    def row_tools(self, request: HttpRequest, row: RetentionPolicy) -> list[Tool]:
        tools = [Tool(_("Preview"), links.row_page(row, "preview"))]
        if request.user.has_perm("prism_memory.change_retentionpolicy"):
            tools.append(Tool(_("Change"), links.row_page(row, "alter")))
        tools += [
            Tool(act.label, links.row_page(row, verb))
            for verb, act in ACTS.items()
            if act.fits(row) and request.user.has_perm(f"prism_memory.{act.permission}")
        ]
        wish = links.tenant_wish(row.tenant)
        runs = links.list_page(Run, **wish, kind="retention", target=str(row.id))
        audit = links.audit_of(row.tenant, f"policy:{row.id}")
        return [*tools, Tool(_("Runs"), runs), Tool(_("Audit"), audit)]

    def sections(self, request: HttpRequest, row: RetentionPolicy) -> list[Section]:
        del request
        rules = [
            (_("About"), about(row)),
            *((_("What goes"), words) for words in what_goes(row)),
            (_("State"), self.states(row)),
        ]
        life = [
            (_("By"), self.by(row)),
            (_("Made"), moment(row.created_at)),
            (_("Changed"), moment(row.changed_at)),
            (_("Id"), links.code(row.id)),
        ]
        return [Section(_("Rules"), rules), Section(_("Life"), life)]

    def preview_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Tell what it would do now."""
        row = self.object_or_404(request, object_id)
        told = preview_policy(
            using=using(), policy=row, at=timezone.now(), max_seconds=PREVIEW_SECONDS
        )
        scopes = [
            (
                shown(" / ".join(filter(None, (one.owner, one.agent, one.thread)))),
                number(one.due),
                number(one.kept),
            )
            for one in told.scopes
        ]
        totals = [
            *([(_("Mind"), KEEPS_NOTHING)] if rules_of(row).keeps_nothing else []),
            (_("Records that would go"), number(told.due)),
            (_("Kept by a hold"), number(told.kept)),
            (_("Scopes counted"), number(told.counted)),
            (_("Complete"), _("yes") if told.complete else _("no, out of time")),
        ]
        table = Section(
            _("Scopes"),
            scopes,
            headers=(_("Scope"), _("Would go"), _("Kept by a hold")),
            empty=_("Nothing is due in any scope."),
            note=_("Those with most, 100 at most."),
        )
        context = self.row_context(request, row)
        context["sections"] = [Section(_("Effect now"), totals), table]
        return self.answer(request, self.detail_template, context)

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        del form_url, extra_context
        return form_view(self, request, None)

    def alter_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Change what it says."""
        return form_view(self, request, self.object_or_404(request, object_id))


def about(row: RetentionPolicy) -> str:
    """Return in words what a policy looks at."""
    kind = row.get_kind_display() if row.kind else _("entries, turns and notes")
    parts = [str(kind)]
    if row.tier is not None:
        tier = row.get_tier_display() if row.tier else _("none")
        parts.append(str(_("tier: %(tier)s") % {"tier": tier}))
    if row.level:
        level = row.get_level_display()
        parts.append(str(_("in scopes of level: %(level)s") % {"level": level}))
    return ", ".join(parts)


def what_goes(row: RetentionPolicy) -> list[str]:
    """Return in words what a policy says."""
    found = []
    if rules_of(row).keeps_nothing:
        found.append(str(KEEPS_NOTHING))
    if row.max_age_days is not None:
        text = ngettext(
            "older than %(days)s day", "older than %(days)s days", row.max_age_days
        )
        found.append(text % {"days": number(row.max_age_days)})
    if row.max_entries is not None:
        count = number(row.max_entries)
        found.append(str(_("all but %(n)s of each scope") % {"n": count}))
    if row.expired:
        found.append(str(_("past their own expiry")))
    return found
