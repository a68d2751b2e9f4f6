"""From one review to the next, in the queue as somebody narrowed it."""

from __future__ import annotations

from django.http import HttpRequest

from prism_memory.admin import links
from prism_memory.admin.keyset import Order
from prism_memory.admin.review_filters import ReviewFilter
from prism_memory.admin.review_parts import query_of
from prism_memory.admin.using import using
from prism_memory.models import Review


def neighbours(request: HttpRequest, row: Review, order: Order) -> tuple[str, str]:
    """Return the pages before and after one; empty where there is none. Two queries."""
    form = ReviewFilter(request.GET)
    if not form.is_valid():
        return "", ""
    rows = form.narrow(Review.objects.using(using()).filter(tenant=row.tenant))
    values = [row.why, row.opened_at, row.id]
    found = [
        rows.filter(order.beyond(values, backwards=backwards))
        .order_by(*order.by(backwards=backwards))
        .first()
        for backwards in (True, False)
    ]
    before, after = (links.row_page(one) if one else "" for one in found)
    return before, after


def following(request: HttpRequest, row: Review, order: Order, back: str) -> str:
    """Return where it goes on once something was done: to what waits next.

    Args:
        back: The page of the review itself, where it waits still.
    """
    rows = Review.objects.using(using()).filter(tenant=row.tenant, id=row.id)
    if rows.filter(decided_at=None).exists():
        return back
    before, after = neighbours(request, row, order)
    if after or before:
        return f"{after or before}{query_of(request)}"
    return links.list_page(Review, **links.tenant_wish(row.tenant))
