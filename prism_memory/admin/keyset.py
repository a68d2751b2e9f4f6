"""Page through rows by where the last page ended.

No page is counted and none is skipped over, so the last row of a million is as near
as the first, and rows that are added meanwhile neither repeat nor hide others.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import BadRequest, ValidationError
from django.db.models import Model, Q, QuerySet

CURSOR_CHARACTERS: Final = 4_096


@dataclass(frozen=True)
class Order:
    """Fields that together are unique among the rows, so that none is lost."""

    fields: tuple[str, ...]
    descending: bool = False

    def by(self, *, backwards: bool) -> list[str]:
        """Return what ``order_by`` takes."""
        sign = "-" if self.descending != backwards else ""
        return [f"{sign}{field}" for field in self.fields]

    def beyond(self, values: list[Any], *, backwards: bool) -> Q:
        """Return the rows after (or before) the one with these values."""
        lookup = "lt" if self.descending != backwards else "gt"
        condition = Q()
        for place, field in enumerate(self.fields):
            same = dict(zip(self.fields[:place], values, strict=False))
            condition |= Q(**same, **{f"{field}__{lookup}": values[place]})
        # Implied by the rest; an index scan starts there.
        return condition & Q(**{f"{self.fields[0]}__{lookup}e": values[0]})


@dataclass(frozen=True)
class Window:
    """One page.

    Args:
        previous: Cursor of the page before, or empty on the first.
        next: Cursor of the page after, or empty on the last.
    """

    rows: list[Any]
    previous: str = ""
    next: str = ""


def read(
    rows: QuerySet[Any], *, order: Order, wish: Mapping[str, str], per_page: int
) -> Window:
    """Return the page that ``wish`` asks for. One query.

    Args:
        wish: ``after`` or ``before`` with a cursor, or ``end``; else the first page.

    Raises:
        BadRequest: The cursor is none of this list.
    """
    backwards = "before" in wish or "end" in wish
    cursor = wish.get("after") or wish.get("before")
    found = rows.order_by(*order.by(backwards=backwards))
    if cursor:
        values = _values(rows.model, order, cursor)
        found = found.filter(order.beyond(values, backwards=backwards))
    page = list(found[: per_page + 1])
    more, page = len(page) > per_page, page[:per_page]
    if backwards:
        page.reverse()
        return _window(order, page, before=more, after="before" in wish)
    return _window(order, page, before=bool(cursor), after=more)


def _window(order: Order, page: list[Any], *, before: bool, after: bool) -> Window:
    return Window(
        page,
        previous=_cursor(order, page[0]) if page and before else "",
        next=_cursor(order, page[-1]) if page and after else "",
    )


def _cursor(order: Order, row: Model) -> str:
    values = [row.serializable_value(field) for field in order.fields]
    text = json.dumps([v if isinstance(v, int) else str(v) for v in values])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _values(model: type[Model], order: Order, cursor: str) -> list[Any]:
    try:
        if len(cursor) > CURSOR_CHARACTERS:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        texts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        given = dict(zip(order.fields, texts, strict=True))
        return [_value(model, field, given[field]) for field in order.fields]
    except (ValueError, TypeError, ValidationError, binascii.Error, RecursionError):
        message = "The cursor is not one of this list."
        raise BadRequest(message) from None


def _value(model: type[Model], name: str, given: object) -> Any:  # noqa: ANN401
    field: Any = model._meta.get_field(name)  # noqa: SLF001 - Django's own way
    value = field.to_python(given)
    if value is None or (isinstance(value, str) and "\0" in value):
        raise ValueError
    str(value).encode()  # a lone surrogate is a ValueError too
    field.run_validators(value)
    return value
