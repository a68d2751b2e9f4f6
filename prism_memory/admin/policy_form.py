"""Make or change a policy: first what it would do, then the deed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.asking import ReasonField
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField
from prism_memory.admin.readonly import actor
from prism_memory.admin.tabs import tabs
from prism_memory.admin.tenanted import chosen
from prism_memory.admin.using import using
from prism_memory.errors import Invalid, NotVisible, PrismMemoryError
from prism_memory.governance.retention import (
    change_policy,
    create_policy,
    preview_rules,
    rules_of,
)
from prism_memory.models import RetentionPolicy
from prism_memory.models.choices import KindChoice, ScopeLevelChoice, TierChoice
from prism_memory.types import RETAINED_KINDS, Preview, Rules, Scope

if TYPE_CHECKING:
    from prism_memory.admin.policies import PoliciesAdmin

PREVIEW_SECONDS: Final = 5.0
ANY: Final = "any"
"""Stands for no tier at all: the empty one is that of records without one."""


class PolicyForm(forms.Form):
    """What a policy says."""

    name = ExactNameField(label=_("Name"), required=True)
    kind = forms.TypedChoiceField(
        label=_("Kind"),
        required=False,
        empty_value=None,
        choices=[
            ("", _("entries, turns and notes")),
            *((kind.value, KindChoice(kind.value).label) for kind in RETAINED_KINDS),
        ],
    )
    tier = forms.TypedChoiceField(
        label=_("Tier"),
        required=False,
        empty_value="",
        choices=[
            (ANY, _("any")),
            *((v, label if v else _("none")) for v, label in TierChoice.choices),
        ],
        initial=ANY,
    )
    level = forms.TypedChoiceField(
        label=_("Level of the scopes"),
        required=False,
        empty_value=None,
        choices=[("", _("all")), *ScopeLevelChoice.choices],
    )
    max_age_days = forms.IntegerField(
        label=_("Days"),
        required=False,
        help_text=_(
            "What was remembered longer ago goes. Empty: no such rule. 0 keeps nothing."
        ),
    )
    max_entries = forms.IntegerField(
        label=_("Number"),
        required=False,
        help_text=_(
            "Of each scope, the oldest beyond so many go. Empty: no such rule. 0 keeps"
            " nothing."
        ),
    )
    expired = forms.BooleanField(
        label=_("What has passed its own expiry goes"), required=False
    )
    reason = ReasonField()

    def rules(self) -> Rules | None:
        """Return the rules, or add what the domain refused to the errors."""
        given = {name: self.cleaned_data[name] for name in RULES}
        given["tier"] = None if given["tier"] == ANY else given["tier"]
        if given["max_age_days"] is given["max_entries"] is None and (
            not given["expired"]
        ):
            self.add_error(None, NO_RULE)
            return None
        try:
            return Rules(**given)
        except Invalid as error:
            self.refuse(error)
            return None

    def refuse(self, error: PrismMemoryError) -> None:
        """Say what the domain said, beside the field, by its label, if it is here."""
        if error.field not in self.fields:
            self.add_error(None, str(error))
            return
        label = str(self.fields[error.field].label)
        self.add_error(error.field, str(error).replace(error.field, label))

    def refuse_name_of_another(self, tenant: str, row: RetentionPolicy | None) -> None:
        """Say that the tenant has another policy of that name. One query."""
        rows = RetentionPolicy.objects.using(using()).filter(tenant=tenant)
        others = rows if row is None else rows.exclude(id=row.id)
        if others.filter(name=self.cleaned_data["name"]).exists():
            self.add_error("name", NAME_TAKEN)


NO_RULE: Final = _(
    "Give Days or Number, or tick that what has passed its own expiry goes: else"
    " nothing would go."
)
NAME_TAKEN: Final = _("There is a policy of that name already.")
KEEPS_NOTHING: Final = _(
    "0 keeps nothing: every record that this policy is about goes, the newest too."
)
RULES: Final = ("level", "kind", "tier", "max_age_days", "max_entries", "expired")


def form_view(
    page: PoliciesAdmin, request: HttpRequest, row: RetentionPolicy | None
) -> HttpResponse:
    """Show the form; once it is filled, what it would do; then make or change it."""
    verb = "add" if row is None else "change"
    if not request.user.has_perm(f"prism_memory.{verb}_retentionpolicy"):
        raise PermissionDenied
    context = _frame(page, request, row)
    if context is None:
        # The link of the admin's index knows no tenant.
        return HttpResponseRedirect(links.list_page(RetentionPolicy))
    form = PolicyForm(request.POST or None, initial=_initial(row))
    if request.method == "POST" and form.is_valid():
        tenant = context["place"].tenant
        form.refuse_name_of_another(tenant, row)
        rules = form.rules()
        rules = None if form.errors else rules
        seen = "save" in request.POST and request.POST.get("seen") == str(rules)
        if rules is not None and seen:
            saved = _save(request, tenant, row, form, rules)
            if saved is not None:
                messages.success(request, _("The policy was saved."))
                return HttpResponseRedirect(links.row_page(saved))
        elif rules is not None:
            # What was not looked at is not saved.
            context |= {"effect": foretold(tenant, rules), "seen": str(rules)}
    return page.answer(
        request, "admin/prism_memory/policy_form.html", context | {"form": form}
    )


def _frame(
    page: PoliciesAdmin, request: HttpRequest, row: RetentionPolicy | None
) -> dict[str, Any] | None:
    if row is not None:
        return page.row_context(request, row) | {"title": _("Change the policy")}
    place = chosen(request)
    if not place.tenant or place.unknown:
        return None
    return {
        "title": _("Make a policy"),
        "place": place,
        "tenant_shown": shown(place.tenant),
        "list_page": links.list_page(RetentionPolicy, **place.wish),
        "tabs": tabs(request, place.tenant, RetentionPolicy),
    }


def _initial(row: RetentionPolicy | None) -> dict[str, Any]:
    if row is None:
        return {}
    found = {name: getattr(row, name) for name in (*RULES, "name")}
    return found | {"tier": ANY if row.tier is None else row.tier}


def _preview(tenant: str, rules: Rules) -> Preview:
    return preview_rules(
        using=using(),
        tenant=tenant,
        rules=rules,
        at=timezone.now(),
        max_seconds=PREVIEW_SECONDS,
    )


def effect(told: Preview) -> str:
    """Return in words what rules would do now."""
    text = ngettext(
        "%(due)s record is due now, and goes with the next sweep; holds keep %(kept)s.",
        "%(due)s records are due now, and go with the next sweep; holds keep %(kept)s.",
        told.due,
    ) % {"due": f"{told.due:,}", "kept": f"{told.kept:,}"}
    late = "" if told.complete else str(_("There are more: the time was over."))
    return f"{text} {late}".strip()


def _save(
    request: HttpRequest,
    tenant: str,
    row: RetentionPolicy | None,
    form: PolicyForm,
    rules: Rules,
) -> RetentionPolicy | None:
    given: dict[str, Any] = {
        "using": using(),
        "scope": Scope(tenant),
        "actor": actor(request),
        "at": timezone.now(),
        "name": form.cleaned_data["name"],
        "reason": form.cleaned_data["reason"],
    }
    try:
        if row is None:
            return create_policy(**given, rules=rules)
        changes = {name: getattr(rules, name) for name in RULES}
        return change_policy(**given, policy_id=row.id, changes=changes)
    except NotVisible:
        raise Http404 from None
    except PrismMemoryError as error:
        form.refuse(error)
        return None


def effect_of(row: RetentionPolicy) -> str:
    """Return in words what a policy would do now."""
    return foretold(row.tenant, rules_of(row))


def foretold(tenant: str, rules: Rules) -> str:
    """Return in words what rules would do now, and whether they keep nothing."""
    told = effect(_preview(tenant, rules))
    return f"{KEEPS_NOTHING} {told}" if rules.keeps_nothing else told
