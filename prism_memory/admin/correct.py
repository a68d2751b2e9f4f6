"""Give a record other words: first what that blocks, then the deed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import ReasonField
from prism_memory.admin.consent import blocks
from prism_memory.admin.content import visible_content
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.conf import Limits, settings
from prism_memory.errors import (
    Conflict,
    Invalid,
    LimitExceeded,
    NotVisible,
    Unsupported,
)
from prism_memory.lifecycle.governed import is_held
from prism_memory.lifecycle.tombstones import closure
from prism_memory.models import Record
from prism_memory.redaction import Redaction
from prism_memory.types import record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin


class CorrectForm(forms.Form):
    text = forms.CharField(
        label=_("What it shall say"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "aria-describedby": "id_text_help"}),
    )
    reason = ReasonField()

    def clean_text(self) -> str:
        """Return the words with the line ends that were written, not those of HTML."""
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise forms.ValidationError(self.fields["text"].error_messages["required"])
        return text.replace("\r\n", "\n")


def correct_tools(request: HttpRequest, record: Record) -> list[Tool]:
    """Return the button, for who may and where it can be done."""
    may = request.user.has_perm("prism_memory.change_record")
    if not may or record.revoked_at is not None:
        return []
    return [Tool(_("Correct"), links.row_page(record, "correct"))]


@sensitive_variables()
def correct_view(
    page: RecordsAdmin, request: HttpRequest, record: Record
) -> HttpResponse:
    """Show the effect and a form, or do it."""
    effect, refused = _effect(record)
    posted = request.method == "POST"
    form = CorrectForm(request.POST) if posted else CorrectForm(initial=_now(record))
    if posted and form.is_valid() and _correct(request, record, form):
        return HttpResponseRedirect(links.row_page(record))
    context = page.row_context(request, record) | {
        "form": form,
        "effect": effect,
        "refused": refused,
        "withheld": not posted and "text" not in form.initial,
    }
    return page.answer(request, "admin/prism_memory/correct.html", context)


def _now(record: Record) -> dict[str, Any]:
    """Return the words to begin with: those that everybody may see, or none."""
    content = visible_content(record)
    return {} if content is None else {"text": content.text}


def _effect(record: Record) -> tuple[str, bool]:
    """Return what else changes, or why it cannot be done."""
    if record.revoked_at is not None:
        return str(_("Its consent is revoked, so it cannot be corrected.")), True
    if is_held(using=using(), record=record):
        return str(_("It is under a hold, so it cannot be corrected.")), True
    root = record_ref(record.id)
    try:
        refs = closure(using=using(), tenant=record.tenant, roots=[root])
    except LimitExceeded as error:
        return f"{error} {_('So it cannot be corrected here.')}", True
    return blocks(len(refs) - 1), False


@sensitive_variables()
def _correct(request: HttpRequest, record: Record, form: CorrectForm) -> bool:
    """Tell whether it is done with, and not to be asked again."""
    try:
        done = lifecycle.correct(
            using=using(),
            scope=record.scope.value,
            actor=actor(request),
            record_id=record.id,
            text=form.cleaned_data["text"],
            at=timezone.now(),
            limits=Limits(),
            redaction=Redaction.configured(),
            embedder=settings.EMBEDDER,
            reason=form.cleaned_data["reason"],
        )
    except NotVisible:
        raise Http404 from None
    except (Invalid, LimitExceeded) as error:
        form.add_error("text", str(error))
        return False
    except (Conflict, Unsupported) as error:
        messages.error(request, str(error))
        return True
    if done.changed:
        messages.success(request, _("The record was corrected."))
    else:
        messages.info(request, _("It says that already; nothing was changed."))
    return True
