"""Narrow what waits for a person, and count it."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory.admin.filters import FilterForm, choice
from prism_memory.admin.using import using
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.models.choices import ReviewWhyChoice, TrustClass

MOST_COUNTED: Final = 1_000

AGES: Final = {
    "hour": (_("over an hour"), dt.timedelta(hours=1)),
    "day": (_("over a day"), dt.timedelta(days=1)),
    "week": (_("over a week"), dt.timedelta(days=7)),
    "month": (_("over a month"), dt.timedelta(days=30)),
}


class ReviewFilter(FilterForm):
    """What is waiting, unless something else is asked for."""

    why = choice(_("Reason"), ReviewWhyChoice.choices)
    trust = choice(_("Trust"), TrustClass.choices)
    age = choice(_("Waiting for"), [(name, age[0]) for name, age in AGES.items()])
    state = choice(_("State"), [("decided", _("decided")), ("any", _("any"))])
    exact = {"why": "why", "trust": "record__trust"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        super().__init__(*args, **kwargs)
        state: Any = self.fields["state"]
        state.choices = [("", _("waiting")), *state.choices[1:]]

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        given = self.cleaned_data
        if given["age"]:
            rows = rows.filter(opened_at__lte=timezone.now() - AGES[given["age"]][1])
        if given["state"] != "any":
            rows = rows.filter(decided_at__isnull=given["state"] != "decided")
        return super().narrow(rows)


def count_reviews(tenant: str) -> dict[str, int]:
    """Return what waits by reason, ``MOST_COUNTED + 1`` where there is more.

    One query.
    """
    given = {
        "tenant": tenant,
        "whys": [str(why) for why in ReviewWhyChoice.values],
        "most": MOST_COUNTED + 1,
    }
    rows = queries.fetch(using(), named("admin")["count_reviews"], given)
    return {row["why"]: row["waiting"] for row in rows}
