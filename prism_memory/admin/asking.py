"""The page before a deed: what it does, and why it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from prism_memory.admin.readonly import ReadOnlyAdmin
from prism_memory.errors import NotVisible, PrismMemoryError

TEMPLATE: Final = "admin/prism_memory/ask.html"
REASON_CHARACTERS: Final = 500


class ReasonField(forms.CharField):
    """Why somebody governs a record. It goes to the audit, so it holds no content."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Reason"),
            max_length=REASON_CHARACTERS,
            help_text=_("For the audit. Do not put any of the words into it."),
            widget=forms.TextInput(attrs={"size": 60}),
        )


class ReasonForm(forms.Form):
    """What a deed needs that asks for nothing else."""

    reason = ReasonField()


@dataclass(frozen=True)
class Ask:
    """What a page asks before it does something.

    Args:
        label: Of the button.
        about: What the deed is, whatever it is done to.
        effect: What it does to this row, or why it cannot be done.
        refused: Whether it cannot be done.
        back: Where it leads who says no; the row's page if empty.
        kept: Names and values that are sent along.
    """

    question: object
    label: object
    effect: Sequence[object] = ()
    about: object = ""
    danger: bool = False
    refused: bool = False
    back: str = ""
    kept: Sequence[tuple[str, str]] = ()


def ask(
    page: ReadOnlyAdmin,
    request: HttpRequest,
    row: Any,  # noqa: ANN401 - any row
    form: forms.Form,
    words: Ask,
) -> HttpResponse:
    """Return the page that asks about one row."""
    context = page.row_context(request, row) | {"form": form, "ask": words}
    return page.answer(request, TEMPLATE, context)


class Told:
    """Let a deed be refused: the page that comes next says why.

    What is not visible is not found.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.refused = False

    def __enter__(self) -> Told:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> bool:
        if isinstance(error, NotVisible):
            raise Http404 from None
        if not isinstance(error, PrismMemoryError):
            return False
        self.refused = True
        messages.error(self.request, str(error))
        return True
