"""Show withheld words once, to those who may, after the audit knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from prism_memory import audit
from prism_memory.admin import links
from prism_memory.admin.asking import ReasonForm
from prism_memory.admin.characters import shown
from prism_memory.admin.content import Content, withheld_content
from prism_memory.admin.readonly import actor, private
from prism_memory.admin.using import using
from prism_memory.models import Record
from prism_memory.types import record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin


def parts_shown(content: Content) -> list[tuple[object, object]]:
    """Return the words of a record as titled HTML, nothing in it hidden or live."""
    parts = [
        (_("Text"), content.text),
        (_("What full text sees"), content.lexical_text),
        (_("What the embedder sees"), content.embed_text),
        (_("Metadata"), content.metadata),
        (_("Gate markers"), content.markers),
    ]
    return [(title, shown(words)) for title, words in parts if words]


@sensitive_variables()
def reveal_view(
    page: RecordsAdmin, request: HttpRequest, record: Record
) -> HttpResponse:
    """Answer with the words of ``record``.

    They are rendered inside the transaction that holds the audit event, and sent only
    once it has committed: no event, no words.
    """
    form = ReasonForm(request.POST)
    if not form.is_valid():
        context = page.row_context(request, record)
        context |= {
            "reveal_form": form,
            "reveal_page": links.row_page(record, "reveal"),
        }
        response = page.answer(request, "admin/prism_memory/reveal_ask.html", context)
        response.status_code = 400
        return response
    with transaction.atomic(using=using()):
        _note(request, record, form.cleaned_data["reason"])
        context = page.row_context(request, record)
        context["content"] = parts_shown(withheld_content(record))
        shown_once = page.answer(request, "admin/prism_memory/revealed.html", context)
        shown_once.render()
    return private(shown_once)


def _note(request: HttpRequest, record: Record, reason: str) -> None:
    audit.record(
        using=using(),
        tenant=record.tenant,
        actor=actor(request),
        action="record.reveal",
        target=record_ref(record.id),
        at=timezone.now(),
        reason=reason,
    )
