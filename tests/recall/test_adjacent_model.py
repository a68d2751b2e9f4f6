"""Adjacency against a naive model."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.models import Record
from prism_memory.recall.adjacent import adjacent
from prism_memory.types import Hit, SourceRef
from tests.factories import make_scope, remember_one
from tests.recall.asked import hit_of, make_reader
from tests.tries import examples

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Row:
    source: str | None
    ordinal: int
    thread: str
    namespace: str
    sequence: int
    hidden: bool


rows = st.lists(
    st.builds(
        Row,
        source=st.sampled_from([None, None, "s", "t"]),
        ordinal=st.integers(0, 4),
        thread=st.sampled_from(["chat-1", "chat-1", "", "chat-2"]),
        namespace=st.sampled_from(["", "", "n"]),
        sequence=st.integers(0, 6),
        hidden=st.booleans(),
    ),
    min_size=1,
    max_size=16,
)


def naive(
    written: dict[uuid.UUID, Row], hits: Sequence[uuid.UUID], reach: int
) -> list[uuid.UUID]:
    """Rule 7 as it is written, over everything in sight."""
    sight = {
        i: row
        for i, row in written.items()
        if not row.hidden and row.thread != "chat-2"
    }
    found: set[uuid.UUID] = set()
    for hit in hits:
        mine = sight[hit]
        if mine.source:
            stream = [
                (row.ordinal, i)
                for i, row in sight.items()
                # One key names another source in each scope.
                if (row.source, row.thread) == (mine.source, mine.thread)
            ]
        else:
            stream = [
                (row.sequence, i)
                for i, row in sight.items()
                if (row.thread, row.namespace) == (mine.thread, mine.namespace)
            ]
        order = [i for _, i in sorted(stream)]
        place = order.index(hit)
        found |= {*order[max(0, place - reach) : place + reach + 1]}
    left = found - {*hits}
    return sorted(left, key=lambda i: (sight[i].sequence, i))


@given(rows=rows, reach=st.integers(0, 4), picks=st.lists(st.integers(0, 15)))
@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_beside_is_what_the_rule_says(
    rows: list[Row], reach: int, picks: list[int]
) -> None:
    """B117."""
    tenant = f"t-{uuid.uuid4()}"
    written = {store(tenant, row): row for row in rows}
    reader = make_reader(make_scope(tenant=tenant))
    sight = [
        i for i, row in written.items() if not row.hidden and row.thread != "chat-2"
    ]
    chosen = [*dict.fromkeys(sight[n] for n in picks if n < len(sight))]
    hits: list[Hit] = [hit_of(i, reader) for i in chosen]

    found = adjacent(using="default", reader=reader, hits=hits, message_range=reach)

    assert [item.id for item in found] == naive(written, chosen, reach)


def store(tenant: str, row: Row) -> uuid.UUID:
    scope = make_scope(tenant=tenant, thread=row.thread)
    record_id = remember_one(
        f"words {uuid.uuid4()}",  # the same words would be the same entry
        scope=scope,
        namespace=row.namespace,
        sequence=row.sequence,
        source=SourceRef(row.source, row.ordinal) if row.source else None,
    )
    if row.hidden:
        own = Record.objects.filter(tenant=tenant, id=record_id)
        own.update(gate="quarantined")
    return record_id
