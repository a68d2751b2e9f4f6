"""Which rows go, against a naive model of the rules."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_memory.models import LegalHold, Record, RetentionPolicy, Run, Tombstone
from prism_memory.types import Retained
from tests.factories import make_memory, make_record
from tests.governance.retention.written import make_policy, place_hold, run
from tests.tries import examples

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Row:
    number: int
    age_days: int
    sequence: int
    expired: bool
    held: bool
    tier: str

    @property
    def id(self) -> uuid.UUID:
        return uuid.UUID(int=self.number + 1)


Order = tuple[Any, ...]

rows_of_a_scope = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.integers(-3, 3),
        st.booleans(),
        st.booleans(),
        st.sampled_from(["", "episodic"]),
    ),
    max_size=9,
).map(lambda found: [Row(n, *row) for n, row in enumerate(found)])


def write(rows: list[Row], at: dt.datetime) -> None:
    """Leave exactly these rows, all of one scope."""
    for model in (Tombstone, LegalHold, RetentionPolicy, Run):
        model.objects.all().delete()
    template = Record.objects.get(key="template")
    columns = {
        field.attname: getattr(template, field.attname)
        for field in Record._meta.concrete_fields
        if not field.generated
    }
    made = [
        Record(
            **columns
            | {
                "id": row.id,
                "key": str(row.number),
                "kind": "entry",
                "sequence": row.sequence,
                "tier": row.tier,
                # Half a day before: so nothing depends on the moment of the test.
                "created_at": at - dt.timedelta(days=row.age_days, hours=12),
                "expires_at": at if row.expired else None,
            }
        )
        for row in rows
    ]
    Record.objects.exclude(key="template").delete()
    Record.objects.bulk_create(made)
    for row in rows:
        if row.held:
            place_hold(f"record:{row.id}")


def left() -> set[uuid.UUID]:
    found = Record.objects.exclude(key="template")
    return set(found.values_list("id", flat=True))


@pytest.fixture(autouse=True)
def _template() -> None:
    """A row to copy, of another kind: no rule is about it."""
    record = make_record("template", fields={"key": "template"})
    Record.objects.filter(id=record.id).update(kind="fact")


def by_sequence(row: Row) -> Order:
    return (row.sequence, row.id)


def overflow(rows: list[Row], most: int) -> list[Row]:
    ordered = sorted(rows, key=by_sequence)
    return ordered[: max(0, len(ordered) - most)]


def naive_application(
    rows: list[Row], days: int | None, most: int | None, batch: int
) -> tuple[set[uuid.UUID], Retained]:
    aged = [row for row in rows if days is not None and row.age_days >= days]
    free = [row for row in aged if not row.held]
    gone = sorted(free, key=lambda r: (-r.age_days, r.sequence, r.id))[:batch]
    kept = {row for row in aged if row.held}
    if most is not None and len(gone) < batch:
        over = overflow([row for row in rows if row not in gone], most)
        kept |= {row for row in over if row.held}
        gone += [row for row in over if not row.held][: batch - len(gone)]
    told = Retained(len(gone), len(gone) + len(kept), len(kept))
    return {row.id for row in rows if row not in gone}, told


@settings(max_examples=examples(20))
@given(
    rows_of_a_scope,
    st.none() | st.integers(0, 6),
    st.none() | st.integers(0, 6),
    st.integers(1, 4),
)
def test_what_an_application_deletes(
    rows: list[Row], days: int | None, most: int | None, batch: int
) -> None:
    """B186, B187, B189."""
    if days is None and most is None:
        return
    write(rows, timezone.now())
    expected, told = naive_application(rows, days, most, batch)
    limits: dict[str, Any] = {
        "max_age_days": days,
        "max_entries": most,
        "batch_size": batch,
    }
    memory = make_memory()
    assert memory.apply_retention(**limits, dry_run=True) == told
    assert left() == {row.id for row in rows}
    assert memory.apply_retention(**limits) == told
    assert left() == expected


def says_go(rows: list[Row], rules: dict[str, Any]) -> set[Row]:
    about = [row for row in rows if rules["tier"] in (None, row.tier)]
    days, most = rules["max_age_days"], rules["max_entries"]
    aged = {row for row in about if days is not None and row.age_days >= days}
    over = set() if most is None else set(overflow(about, most))
    expired = {row for row in about if rules["expired"] and row.expired}
    return aged | over | expired


rules_of_a_policy = st.fixed_dictionaries(
    {
        "tier": st.sampled_from([None, "", "episodic"]),
        "max_age_days": st.none() | st.integers(0, 6),
        "max_entries": st.none() | st.integers(0, 6),
        "expired": st.booleans(),
    }
).filter(lambda r: r["expired"] or r["max_age_days"] or r["max_entries"])


@settings(max_examples=examples(20))
@given(rows_of_a_scope, st.lists(rules_of_a_policy, max_size=3), st.integers(1, 4))
def test_what_sweeps_by_several_policies_delete(
    rows: list[Row], policies: list[dict[str, Any]], batch: int
) -> None:
    """Each policy judges what those before it left; what one lets go is gone."""
    write(rows, timezone.now())
    stands = list(rows)
    for number, rules in enumerate(policies):
        due = says_go(stands, rules)
        done = run(make_policy(str(number), **rules), batch=batch)
        assert done.counts["kept"] == sum(row.held for row in due)
        stands = [row for row in stands if row.held or row not in due]
        assert left() == {row.id for row in stands}
