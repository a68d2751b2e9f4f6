"""Share records of a thread with another: first the effect, then the deed."""

from __future__ import annotations

import uuid
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import access, lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, ask
from prism_memory.admin.audit import LocalTimeField
from prism_memory.admin.badges import moment
from prism_memory.admin.characters import shown
from prism_memory.admin.content import reader
from prism_memory.admin.filters import ExactNameField
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.errors import NotVisible, PrismMemoryError
from prism_memory.lifecycle.share import check_expiry, check_ids, check_threads
from prism_memory.models import Scope, ShareGrant, ShareGrantItem
from prism_memory.types import SHARED_AT_MOST
from prism_memory.types import Scope as ScopeValue

ABOUT: Final = _(
    "The other thread recalls these records, and nothing else of this one. Nothing is"
    " copied, and what is withheld here is withheld there."
)
REPLACED: Final = _(
    "What this thread shared with the other before is replaced, and so is the expiry."
)
FIELDS: Final = {"child": "thread", "ids": "records"}
"""The fields here of what the domain refuses."""


class ShareForm(forms.Form):
    thread = ExactNameField(label=_("With the thread"), required=True)
    agent = ExactNameField(label=_("Of the agent; empty: of none"))
    records = forms.CharField(
        label=_("Records"),
        help_text=_("Ids or keys, one a line; 32 at most."),
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    expires_at = LocalTimeField(label=_("Until; empty: until revoked"))
    reason = ReasonField()

    def __init__(self, *args: Any, row: Scope, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.row = row

    def clean(self) -> dict[str, Any]:
        """Say what the domain refuses before an effect is shown."""
        given = super().clean() or self.cleaned_data
        if self.errors:
            return given
        row = self.row
        try:
            child = ScopeValue(row.tenant, row.owner, given["agent"], given["thread"])
            check_threads(row.value, child)
            ids = check_ids(self._ids(given["records"]))
            check_expiry(given["expires_at"], timezone.now())
        except PrismMemoryError as error:
            self.refuse(error)
            return given
        return given | {"child": child, "ids": ids}

    def _ids(self, text: str) -> list[uuid.UUID]:
        """Return the ids; what is named by no key here is told with what is withheld.

        Raises:
            NotVisible: A line is neither an id nor a key of this thread's records.
        """
        lines = list(filter(None, (line.strip() for line in text.splitlines())))
        keys = [line for line in lines if _id(line) is None][: SHARED_AT_MOST + 1]
        seen = access.visible(using=using(), reader=reader(self.row, at=timezone.now()))
        known = dict(seen.filter(key__in=keys).values_list("key", "id"))
        found = [_id(line) or known.get(line) for line in lines]
        if None in found:
            raise NotVisible(field="ids")
        return [one for one in found if one is not None]

    def refuse(self, error: PrismMemoryError) -> None:
        """Say what the domain said, beside the field if it is one of these."""
        field = FIELDS.get(error.field, error.field)
        words = _("One of them is no record of this thread that is in sight.")
        told = words if isinstance(error, NotVisible) else str(error)
        self.add_error(field if field in self.fields else None, str(told))


def _id(line: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(line)
    except ValueError:
        return None


def may_share(request: HttpRequest, row: Scope) -> bool:
    """Tell whether somebody may share of a scope, which must be a thread."""
    may = request.user.has_perm("prism_memory.add_sharegrant")
    return bool(row.owner and row.thread and may)


def share_tools(request: HttpRequest, row: Scope) -> list[Tool]:
    """Return the button of a thread."""
    if not may_share(request, row):
        return []
    return [Tool(_("Share records"), links.row_page(row, "share"))]


def share_view(page: ReadOnlyAdmin, request: HttpRequest, row: Scope) -> HttpResponse:
    """Show the form; once it is filled, what it would do; then share."""
    if not row.thread:
        raise Http404
    if not may_share(request, row):
        raise PermissionDenied
    form = ShareForm(request.POST or None, initial={"agent": row.agent}, row=row)
    effect: list[object] = [REPLACED]
    label, seen = _("Show the effect"), ""
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        seen = ascii([given[name] for name in ("child", "ids", "expires_at")])
        if request.POST.get("seen") == seen and _share(request, row, form):
            return HttpResponseRedirect(_after(row))
        if form.is_valid():
            # What was not looked at is not shared.
            effect, label = _effect(row, given), _("Share")
    words = Ask(
        _("Share records of this thread?"),
        label,
        effect,
        about=ABOUT,
        kept=[("seen", seen)] if seen else [],
    )
    return ask(page, request, row, form, words)


def _after(row: Scope) -> str:
    wish = links.tenant_wish(row.tenant) | {"owner": row.owner, "parent": row.thread}
    listed = links.list_page(ShareGrant, **wish)
    return listed if links.leads(listed) else links.row_page(row)


def _effect(row: Scope, given: dict[str, Any]) -> list[object]:
    before = ShareGrantItem.objects.using(using()).filter(
        tenant=row.tenant,
        grant__parent=row.id,
        grant__child=given["child"].id,
    )
    count, gone = len(given["ids"]), before.exclude(record_id__in=given["ids"]).count()
    new = ngettext(
        "It recalls %(count)s record of this thread.",
        "It recalls %(count)s records of this thread.",
        count,
    )
    old = ngettext(
        "%(gone)s that was shared with it before is shared no more.",
        "%(gone)s that were shared with it before are shared no more.",
        gone,
    )
    ends = moment(given["expires_at"], _("it is revoked"))
    lines: list[object] = [
        format_html("{} {}", _("With"), shown(str(given["child"]))),
        format_html("{} {} {}.", new % {"count": count}, _("Until"), ends),
    ]
    return [*lines, old % {"gone": gone}] if gone else lines


def _share(request: HttpRequest, row: Scope, form: ShareForm) -> bool:
    given = form.cleaned_data
    try:
        lifecycle.share_with(
            using=using(),
            scope=row.value,
            actor=actor(request),
            at=timezone.now(),
            strict=access.strictness(),
            **{name: given[name] for name in ("child", "ids", "expires_at", "reason")},
        )
    except PrismMemoryError as error:
        form.refuse(error)
        return False
    messages.success(request, _("The records are shared."))
    return True
