"""Apply a policy now, as long as a request may last."""

from __future__ import annotations

import time
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.asking import Told
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.conf import settings
from prism_memory.governance.retention import RUN_SECONDS, Swept, sweep
from prism_memory.models import RetentionPolicy, Run

ENDS: Final[dict[str, object]] = {
    "done": _("The sweep is done."),
    "unfinished": _("The time was over: beat goes on from there, or another sweep."),
    "changed": _("The policy was changed meanwhile, so the sweep ended."),
    "elsewhere": _("Another process took it up, and does the rest."),
}


def sweep_now(request: HttpRequest, row: RetentionPolicy, reason: str) -> HttpResponse:
    """Sweep, and lead to the run where there is one and it may be seen."""
    if not row.enabled:
        messages.error(request, _("The policy is not in force."))
        return HttpResponseRedirect(links.row_page(row))
    with Told(request) as told:
        done = sweep(
            using=using(),
            policy=row,
            actor=actor(request),
            batch=settings.RETENTION_BATCH,
            end=time.monotonic() + RUN_SECONDS,
            reason=reason,
        )
    if not told.refused:
        messages.success(request, _said(done))
        if done.run_id is not None:
            page = links.row_page(Run(id=done.run_id, tenant=row.tenant))
            if links.leads(page):
                return HttpResponseRedirect(page)
    return HttpResponseRedirect(links.row_page(row))


def _said(done: Swept) -> str:
    count = done.counts.get("deleted", 0)
    text = ngettext(
        "%(count)s record was deleted; holds keep %(kept)s.",
        "%(count)s records were deleted; holds keep %(kept)s.",
        count,
    ) % {"count": f"{count:,}", "kept": f"{done.counts.get('kept', 0):,}"}
    return f"{ENDS[done.ended]} {text}"
