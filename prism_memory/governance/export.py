"""Export a scope page by page: only what was consented to, redacted once more."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from django.db.models import Q, QuerySet

from prism_memory import audit, integrity
from prism_memory.access import unwithheld, visible
from prism_memory.db import queries
from prism_memory.db.local import limited
from prism_memory.db.queries import composed
from prism_memory.errors import DeadlineExceeded, LimitExceeded, ScopeDenied
from prism_memory.governance.lines import Sight, writing
from prism_memory.models import Record
from prism_memory.recall import cursors
from prism_memory.redaction import Redaction
from prism_memory.types import SAID_KINDS, Actor, ExportPage, Kind, Scope

Place = tuple[int, uuid.UUID]
Clock = Callable[[], float]
ORDER = "export"


@dataclass(frozen=True)
class Bounds:
    """How much one page may be.

    Args:
        seconds: From the call on.
        clock: Tells seconds.
    """

    rows: int
    bytes: int
    seconds: float
    clock: Clock = time.monotonic


def export_page(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    identity: Scope,
    cursor: str | None,
    bounds: Bounds,
    redaction: Redaction,
    at: dt.datetime,
) -> ExportPage:
    """Return a page of exactly ``scope``, in the order of (sequence, id).

    Following ``next_cursor`` gives every record that was there before the first page
    exactly once, also while records are added or change: one that is given another
    sequence meanwhile stays where it stood. Three to six queries. Audited.

    Args:
        identity: The scope again, as whoever asks knows it.

    Raises:
        ScopeDenied: ``identity`` is not this scope.
        Invalid: The cursor is none of this scope's exports.
        LimitExceeded: The page is over its bytes or its time; ask for fewer rows.
    """
    if identity != scope:
        message = "An export needs the scope of its memory, in all its parts."
        raise ScopeDenied(message, field="identity")
    after = None if cursor is None else read_cursor(cursor, scope)
    end = bounds.clock() + bounds.seconds
    sight = Sight(scope, exactly=True)
    try:
        with limited(using, bounds.seconds):
            found = read(
                using=using,
                sight=sight,
                scope=scope,
                after=after,
                rows=bounds.rows + 1,
                at=at,
            )
            shown = trusted(using=using, scope=scope, records=found[: bounds.rows])
            write = writing(
                using=using,
                sight=sight,
                scope=scope,
                records=shown,
                redaction=redaction,
                at=at,
            )
    except DeadlineExceeded:
        raise _too_late(bounds) from None
    if bounds.clock() > end:
        raise _too_late(bounds)
    made = (write.line(record) for record in shown)
    lines = tuple(_bounded(made, bounds, end))
    more = len(found) > bounds.rows
    last = found[bounds.rows - 1] if more else None
    page = ExportPage(lines, write_cursor(scope, last) if last else None)
    _note(using, scope, actor, at, lines)
    return page


def read(
    *,
    using: str,
    sight: Sight,
    scope: Scope,
    after: Place | None,
    rows: int,
    at: dt.datetime,
) -> list[Record]:
    """Return the next records of one scope that an export may hold.

    Two queries, four with facts.

    Each stands where it stood at first, for ever. Those that were never moved are read
    first: one that moves between the two is then met twice, and shown once.
    """
    found: dict[uuid.UUID, Record] = {}
    kinds = (False, True) if sight.facts else (False,)
    for facts, moved in product(kinds, (False, True)):
        rule = visible(using=using, reader=sight.reader(scope, at, facts=facts))
        # The rule has the scope too, but only so does the index give the order.
        rule = rule.filter(tenant=scope.tenant, scope_id=scope.id)
        seen = rule.select_related("scope", "source").defer("search")
        part = seen.filter(first_sequence__isnull=not moved)
        for record in _after(part, "first_sequence" if moved else "sequence", after)[
            :rows
        ]:
            found.setdefault(record.id, record)
    return sorted(found.values(), key=place)[:rows]


def trusted(*, using: str, scope: Scope, records: list[Record]) -> list[Record]:
    """Return those whose signature is theirs. One query; none where nothing is signed.

    What is left out is told by the signal ``integrity_broken`` and in the log.
    """
    shown = {record.id: (record.version, record.text) for record in records}
    found = integrity.intact(using=using, tenant=scope.tenant, shown=shown)
    return [record for record in records if record.id in found]


def left_out(
    *, using: str, sight: Sight, scope: Scope, at: dt.datetime
) -> dict[str, int]:
    """Return how many records of one scope are left out, by reason. Two queries."""
    found: Counter[str] = Counter()
    for facts in (False, True):
        reader = sight.reader(scope, at, facts=facts)
        withheld = unwithheld(reader=reader)
        statement = composed("export", "left_out", unwithheld=withheld)
        given = {
            **reader.parameters(),
            "strict": False,
            "include_retired": False,
            "consented": sight.strict,
            "scope_id": scope.id,
            "facts": facts,
            "kinds": [kind.value for kind in (*SAID_KINDS, Kind.FACT)],
        }
        rows = queries.fetch(using, statement, given)
        found.update({row["reason"]: row["records"] for row in rows if row["reason"]})
    return dict(found)


def _after(
    rows: QuerySet[Record], column: str, after: Place | None
) -> QuerySet[Record]:
    if after is not None:
        sequence, record_id = after
        same = Q(**{column: sequence}, id__gt=record_id)
        further = Q(**{f"{column}__gt": sequence}) | same
        rows = rows.filter(further, **{f"{column}__gte": sequence})
    return rows.order_by(column, "id")


def place(record: Record) -> Place:
    """Return where a record stands in every export."""
    first = record.first_sequence
    return (record.sequence if first is None else first, record.id)


def _bounded(lines: Iterator[str], bounds: Bounds, end: float) -> Iterator[str]:
    size = 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > bounds.bytes:
            message = f"The page is over {bounds.bytes} bytes; ask for fewer rows."
            raise LimitExceeded(message, field="max_bytes")
        if bounds.clock() > end:
            raise _too_late(bounds)
        yield line


def _too_late(bounds: Bounds) -> LimitExceeded:
    most = round(bounds.seconds * 1_000)
    message = f"The page took over {most} ms; ask for fewer rows."
    return LimitExceeded(message, field="max_ms")


def _note(
    using: str, scope: Scope, actor: Actor, at: dt.datetime, lines: tuple[str, ...]
) -> None:
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=actor,
        action="memory.export",
        target=f"scope:{scope.id}",
        at=at,
        detail={"records": len(lines)},
    )


def write_cursor(scope: Scope, last: Record) -> str:
    """Return the cursor of the page after ``last``."""
    sequence, record_id = place(last)
    return cursors.write(ORDER, scope.id.hex, sequence, record_id.hex)


def read_cursor(cursor: str, scope: Scope) -> Place:
    """Return where a page begins.

    Raises:
        Invalid: It is of no export, or of another scope's.
    """
    scope_id, sequence, record_id = cursors.read(cursor, ORDER, 3)
    if scope_id != scope.id.hex:
        raise cursors.unknown()
    return cursors.place(sequence, record_id)
