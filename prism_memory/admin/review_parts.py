"""What the pages of reviews are made of: counts, badges, addresses."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import Tone, badge, number
from prism_memory.admin.characters import marked
from prism_memory.admin.content import short_label
from prism_memory.admin.parts import Place
from prism_memory.admin.review_filters import (
    MOST_COUNTED,
    ReviewFilter,
    count_reviews,
)
from prism_memory.models import Review
from prism_memory.models.choices import ReviewWhyChoice
from prism_memory.types import ReviewDecision, ReviewWhy

TONES: Final[dict[str, Tone]] = {
    ReviewWhy.PROPOSAL: "quiet",
    ReviewWhy.QUARANTINED: "warn",
    ReviewWhy.CONFLICT: "warn",
}
DECIDED: Final[dict[str, Tone]] = {
    ReviewDecision.REJECTED: "bad",
    ReviewDecision.FORCED: "warn",
    ReviewDecision.LAPSED: "quiet",
}


def why_badge(row: Review) -> object:
    """Return why it waits."""
    return badge(row.get_why_display(), TONES[row.why])


def query_of(request: HttpRequest) -> str:
    """Return the narrowing of the queue, as pages of its rows carry it."""
    names = ReviewFilter.base_fields
    given = {n: v for n, v in request.GET.items() if n in names and v}
    return f"?{urlencode(given)}" if given else ""


def counts_of(place: Place) -> list[tuple[Any, str, str]]:
    """Return what waits: label, count, address."""
    counts = count_reviews(place.tenant or "")
    found = [
        (
            label,
            number(counts[why], most=MOST_COUNTED),
            links.list_page(Review, **place.wish, why=why),
        )
        for why, label in ReviewWhyChoice.choices
    ]
    total = number(sum(counts.values()), most=_most(counts))
    return [(_("All"), total, links.list_page(Review, **place.wish)), *found]


def _most(counts: dict[str, int]) -> int | None:
    """Return where counting stopped, if it did."""
    stopped = any(count > MOST_COUNTED for count in counts.values())
    return sum(counts.values()) - 1 if stopped else None


def decision_badge(row: Review) -> object:
    """Return what was decided, or nothing while it waits."""
    if row.decided_at is None:
        return ""
    return badge(row.get_decision_display(), DECIDED.get(row.decision, "good"))


def box(row: Review) -> object:
    """Return what chooses a review; its form is below the list."""
    return format_html(
        '<input type="checkbox" form="pm-chosen" name="ids" value="{}"'
        ' aria-label="{} {}"> ',
        row.id,
        _("Choose"),
        marked(short_label(row.record)),
    )
