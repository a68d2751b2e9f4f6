"""What waits for a person in one scope, and what they decide about it.

The verbs do what is decided; here it is made sure that one review is decided once.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from psycopg import sql

from prism_memory import access
from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid, NotVisible
from prism_memory.facts.reading import latest, read_time
from prism_memory.facts.review_actions import act
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import Fact, Review
from prism_memory.recall import cursors
from prism_memory.recall.intact import intact_items
from prism_memory.recall.items import item
from prism_memory.types import (
    Actor,
    ReadMode,
    ReviewAction,
    ReviewDecision,
    Reviewed,
    ReviewItem,
    ReviewPage,
    ReviewWhy,
    Scope,
    check_bool,
)


@for_tenant
def list_reviews(
    *,
    using: str,
    scope: Scope,
    at: dt.datetime,
    why: ReviewWhy | None = None,
    rows: int,
    cursor: str | None,
) -> ReviewPage:
    """Return what waits for a person in exactly ``scope``, the oldest first.

    Also what the gate holds back, with its words: it is for whoever governs. What is
    revoked, blocked, expired or put aside is not in sight here either. Four queries.

    Args:
        why: For this reason alone; for any when None.

    Raises:
        Invalid: The cursor is none of this list.
    """
    reader = Reader(
        scope,
        mode=ReadMode.EXACT,
        at=at,
        include_superseded=True,
        include_quarantined=True,
        include_restricted=True,
    )
    order = f"reviews:{scope.id.hex}:{why or ''}"
    after_time, after = _after(cursor, order)
    given = {
        "why": None if why is None else str(why),
        "after_time": after_time,
        "after": after,
        "rows": rows + 1,
    }
    found = _waiting(using, reader, given)
    more, found = len(found) > rows, found[:rows]
    following = None
    if more:
        last = found[-1]
        following = cursors.write(order, last["opened_at"].isoformat(), last["id"].hex)
    return ReviewPage(_described(using, reader, found), following)


@for_tenant
def decide(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    review_id: uuid.UUID,
    action: ReviewAction,
    at: dt.datetime,
    force: bool = False,
    reason: str = "",
) -> Reviewed:
    """Decide about something that waits in exactly ``scope``: once, by one person.

    A proposal is accepted, or rejected: retracted. What is quarantined is validated, or
    rejected: a fact is forgotten, any other record stays as it is, held back for good.
    A conflict is settled, about the nearest neighbour: see ``settle``.

    Args:
        force: Validate although rules of the gate still match.
        reason: For the audit and the history; no text content.

    Raises:
        NotVisible: No such review in this scope.
        Conflict: Somebody was quicker, or the verb refuses; see there.
        StillFlagged: Rules match still; nothing is changed.
        Invalid: What waits for that reason is not decided so.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if check_bool(force, "force") and action is not ReviewAction.VALIDATE:
        message = "Only a validation is forced."
        raise Invalid(message, field="force")
    with transaction.atomic(using=using):
        # Whoever decides about anything of the tenant waits for this one to end.
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        review = _open_review(using, scope, review_id)
        record_id, why = review.record_id, ReviewWhy(review.why)
        facts = Fact.objects.using(using).filter(tenant=scope.tenant, id=record_id)
        done = act(
            using=using,
            scope=scope,
            actor=actor,
            record_id=record_id,
            why=why,
            action=action,
            is_fact=facts.exists(),
            at=at,
            force=force,
            reason=reason,
        )
        review = _rows(using, scope, review_id).get()
    decision = ReviewDecision(review.decision)
    return Reviewed(review_id, record_id, why, decision, done.replaced, done.waiting)


def _open_review(using: str, scope: Scope, review_id: uuid.UUID) -> Review:
    review = _rows(using, scope, review_id).first()
    if review is None:
        raise NotVisible
    if review.decided_at is not None:
        message = f"It was {review.decision} already."
        raise Conflict(message, field="id")
    return review


def _rows(using: str, scope: Scope, review_id: uuid.UUID) -> QuerySet[Review]:
    # The names decide, not the hash.
    return Review.objects.using(using).filter(
        tenant=scope.tenant,
        scope_id=scope.id,
        scope__owner=scope.owner,
        scope__agent=scope.agent,
        scope__thread=scope.thread,
        id=review_id,
    )


def _waiting(using: str, reader: Reader, given: dict[str, Any]) -> list[dict[str, Any]]:
    statement = sql.SQL(named("reviews")["waiting"]).format(visible=reader.condition())
    given = {**reader.parameters(), **given}
    return queries.fetch(using, statement.as_string(None), given)


def _described(
    using: str, reader: Reader, rows: Sequence[dict[str, Any]]
) -> tuple[ReviewItem, ...]:
    """Return what waits with its words. Three queries; none without rows."""
    ids = {row["record_id"] for row in rows}
    if not ids:
        return ()
    seen = access.visible(using=using, reader=reader).filter(id__in=ids)
    shown = seen.select_related("scope", "source").defer("search")
    whole = intact_items(using, reader.scope.tenant, [*map(item, shown)])
    items = {one.id: one for one in whole}
    facts = {one.id: one for one in latest(using=using, reader=reader, fact_ids=ids)}
    return tuple(
        ReviewItem(
            id=row["id"],
            why=ReviewWhy(row["why"]),
            opened_at=row["opened_at"],
            item=items[row["record_id"]],
            fact=facts.get(row["record_id"]),
            markers=tuple(_listed(row["gate_markers"])),
        )
        for row in rows
        if row["record_id"] in items
    )


def _listed(markers: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as the driver reads
    found = json.loads(markers) if isinstance(markers, str) else markers
    return found if isinstance(found, list) else []


def _after(
    cursor: str | None, order: str
) -> tuple[dt.datetime | None, uuid.UUID | None]:
    if cursor is None:
        return None, None
    opened, review_id = cursors.read(cursor, order)
    return read_time(opened), cursors.place(0, review_id)[1]
