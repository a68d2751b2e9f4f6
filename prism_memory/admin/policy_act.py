"""Switch a policy on or off, or take it away: first the effect, then the deed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonForm, ask
from prism_memory.admin.policy_form import effect_of
from prism_memory.admin.readonly import actor
from prism_memory.admin.sweeping import sweep_now
from prism_memory.admin.using import using
from prism_memory.errors import NotVisible
from prism_memory.governance.retention import change_policy, delete_policy
from prism_memory.models import RetentionPolicy
from prism_memory.types import Scope

if TYPE_CHECKING:
    from prism_memory.admin.policies import PoliciesAdmin


@dataclass(frozen=True)
class Act:
    """One thing that can be done to a policy.

    Args:
        fits: Whether there is anything to do.
        effect: What it does, in words.
    """

    label: Any
    question: Any
    permission: str
    fits: Callable[[RetentionPolicy], bool]
    effect: Callable[[RetentionPolicy], Any]
    done: Any


ENDS: Final = _(
    "What goes now cannot be brought back. This works for ten seconds at most; what is"
    " left then, beat does, or another sweep."
)
STAYS: Final = _("What it deleted stays deleted. Nothing is deleted by it any more.")

ACTS: Final[Mapping[str, Act]] = {
    "disable": Act(
        _("Switch off"),
        _("Switch this policy off?"),
        "change_retentionpolicy",
        lambda row: bool(row.enabled),
        lambda _row: STAYS,
        _("The policy is off."),
    ),
    "enable": Act(
        _("Switch on"),
        _("Put this policy in force?"),
        "change_retentionpolicy",
        lambda row: not row.enabled,
        effect_of,
        _("The policy is in force."),
    ),
    "sweep": Act(
        _("Sweep now"),
        _("Apply this policy now?"),
        "change_retentionpolicy",
        lambda row: bool(row.enabled),
        lambda row: f"{effect_of(row)} {ENDS}",
        _("The sweep is done."),
    ),
    "delete": Act(
        _("Delete"),
        _("Delete this policy?"),
        "delete_retentionpolicy",
        lambda _row: True,
        lambda _row: STAYS,
        _("The policy is gone."),
    ),
}


def act_view(
    page: PoliciesAdmin, request: HttpRequest, row: RetentionPolicy, verb: str
) -> HttpResponse:
    """Show the effect and ask why, or do it."""
    act = ACTS[verb]
    if not request.user.has_perm(f"prism_memory.{act.permission}"):
        raise PermissionDenied
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if verb == "sweep":
            return sweep_now(request, row, form.cleaned_data["reason"])
        _do(request, row, verb, form.cleaned_data["reason"])
        messages.success(request, act.done)
        gone = verb == "delete"
        wish = links.tenant_wish(row.tenant)
        listed = links.list_page(RetentionPolicy, **wish)
        return HttpResponseRedirect(listed if gone else links.row_page(row))
    words = Ask(act.question, act.label, [act.effect(row)], danger=True)
    return ask(page, request, row, form, words)


def _do(request: HttpRequest, row: RetentionPolicy, verb: str, reason: str) -> None:
    given: dict[str, Any] = {
        "using": using(),
        "scope": Scope(row.tenant),
        "actor": actor(request),
        "policy_id": row.id,
        "at": timezone.now(),
        "reason": reason,
    }
    try:
        if verb == "delete":
            delete_policy(**given)
        else:
            change_policy(**given, enabled=verb == "enable")
    except NotVisible:
        raise Http404 from None
