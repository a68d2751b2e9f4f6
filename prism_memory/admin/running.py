"""Cancel a run, or let it go on: first the effect, then why, then it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory import runs
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonForm, Told, ask
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.governance import running
from prism_memory.models import Run, RunState
from prism_memory.types import RunStatus, Scope

if TYPE_CHECKING:
    from prism_memory.admin.runs import RunsAdmin

CANCEL: Final = Ask(
    _("Cancel this run?"),
    _("Cancel it"),
    about=_("Who works on it stops at its next step. What is done stays done."),
    danger=True,
)
RETRY: Final = Ask(
    _("Let this run go on?"),
    _("Retry it"),
    about=_("A worker goes on where it stopped, with all its tries again."),
)
OPEN: Final = (RunState.RUNNING, RunState.FAILED)


def may_change(request: HttpRequest) -> bool:
    """Tell whether somebody may cancel and retry runs."""
    return bool(request.user.has_perm("prism_memory.change_run"))


def can_retry(row: Run) -> bool:
    """Tell whether a worker may go on with a run."""
    over = row.state in (RunState.FAILED, RunState.CANCELLED)
    gone = bool(row.cursor.get("deleted"))
    silent = runs.is_silent(row, timezone.now())
    return row.kind in runs.BY_WORKERS and not gone and (over or silent)


def act_tools(request: HttpRequest, row: Run) -> list[Tool]:
    """Return the buttons of a run. Those of the installation have none."""
    if not (row.tenant and may_change(request)):
        return []
    found = [Tool(_("Retry"), links.row_page(row, "retry"))] if can_retry(row) else []
    if row.state in OPEN:
        found.append(Tool(_("Cancel"), links.row_page(row, "cancel")))
    return found


def cancel_view(page: RunsAdmin, request: HttpRequest, row: Run) -> HttpResponse:
    """Say how far it is, ask why, then cancel it."""
    return _asked(page, request, row, CANCEL, running.cancel_run, _("It is cancelled."))


def retry_view(page: RunsAdmin, request: HttpRequest, row: Run) -> HttpResponse:
    """Say how far it is, ask why, then let it go on."""
    told = _("A worker goes on with it; this page tells how far it is.")
    return _asked(page, request, row, RETRY, running.retry_run, told)


def _asked(
    page: RunsAdmin,
    request: HttpRequest,
    row: Run,
    words: Ask,
    act: Callable[..., RunStatus],
    done: Any,  # noqa: ANN401 - words, translated late
) -> HttpResponse:
    if not (row.tenant and may_change(request)):
        raise PermissionDenied
    form = ReasonForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return ask(page, request, row, form, replace(words, effect=_effect(page, row)))
    with Told(request) as told:
        act(
            using=using(),
            scope=Scope(row.tenant),
            actor=actor(request),
            run_id=row.id,
            at=timezone.now(),
            reason=form.cleaned_data["reason"],
        )
    if not told.refused:
        messages.success(request, done)
    return HttpResponseRedirect(links.row_page(row))


def _effect(page: RunsAdmin, row: Run) -> list[object]:
    """Return in words how far a run is."""
    share = runs.percent(row)
    lines: list[object] = [] if share is None else [_("%d %% are done.") % int(share)]
    return [*lines, page.progress(row)] if row.counts else lines
