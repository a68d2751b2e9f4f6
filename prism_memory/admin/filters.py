"""What a list can be narrowed by. A filter is a plain GET form, without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from prism_memory.types import NAME_BYTES

Choices = Any


class ExactNameField(forms.CharField):
    """A name, compared byte by byte: no wildcard, nothing trimmed, no case folded."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - as Django has it
        kwargs.setdefault("required", False)
        super().__init__(strip=False, max_length=NAME_BYTES, **kwargs)


def choice(label: object, choices: Choices) -> forms.ChoiceField:
    """Return an optional choice."""
    return forms.ChoiceField(
        label=label,  # type: ignore[arg-type] # a lazy translation
        required=False,
        choices=[("", _("all")), *choices],
    )


class FilterForm(forms.Form):
    """Narrow the rows of a list."""

    exact: ClassVar[Mapping[str, str]] = {}
    """Look-ups by the field of this form that fills them, where it is given."""

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows that were asked for; the form must be valid."""
        given = {
            lookup: self.cleaned_data[name]
            for name, lookup in self.exact.items()
            if self.cleaned_data[name] not in ("", None)
        }
        return rows.filter(**given)

    @property
    def is_narrowing(self) -> bool:
        """Whether any filter is set."""
        return any(self.data.get(name) for name in self.fields)
