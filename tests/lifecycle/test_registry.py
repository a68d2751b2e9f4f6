"""B504: every table says how its rows are erased; each that goes is emptied."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.apps import apps
from django.db import models

from prism_memory import lifecycle
from prism_memory.lifecycle.registry import (
    ERASURE,
    Kept,
    WithRecord,
    WithScope,
    WithSource,
    tables_of_record,
)
from prism_memory.models import Fact, LegalHold, Record, VectorCopy
from tests.factories import NOON, make_edge, make_memory, make_record
from tests.governed import make_governed
from tests.tables import counts

pytestmark = pytest.mark.django_db


def all_models() -> set[type[models.Model]]:
    return {*apps.get_app_config("prism_memory").get_models()}


def test_every_model_has_a_line() -> None:
    """B504."""
    assert {*ERASURE} == all_models()


def test_a_model_without_a_line_is_found() -> None:
    assert all_models() - ({*ERASURE} - {Record}) == {Record}


def references(model: type[models.Model], target: type[models.Model]) -> set[str]:
    """Return the columns by which rows of a model hang on another's."""
    return {
        field.attname
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model is target
    }


@pytest.mark.parametrize("model", all_models(), ids=lambda m: m.__name__)
def test_what_hangs_on_a_record_goes_with_it(model: type[models.Model]) -> None:
    """B504: a column that holds a record's id, by its type or by its name.

    But for what stays until an external index was told that the record is gone.
    """
    if model is VectorCopy:
        return
    named = {f.attname for f in model._meta.concrete_fields} & {"record_id"}
    how = ERASURE[model]
    columns = references(model, Record) | references(model, Fact) | named
    assert (isinstance(how, WithRecord) and how.columns == ("id",)) or columns <= (
        {*how.columns} if isinstance(how, WithRecord) else set()
    )


@pytest.mark.parametrize("model", all_models(), ids=lambda m: m.__name__)
def test_a_line_names_columns_that_are_there(model: type[models.Model]) -> None:
    how = ERASURE[model]
    names = {field.attname for field in model._meta.concrete_fields}
    if isinstance(how, WithRecord):
        assert {*how.columns} <= names
    elif isinstance(how, WithSource):
        assert how.column in names
    elif isinstance(how, WithScope):
        assert {*how.columns} <= names
    else:
        assert isinstance(how, Kept)
        assert how.why.endswith(".")


def test_what_points_goes_before_what_is_pointed_at() -> None:
    order = [model for model, _ in tables_of_record()]
    assert order[-1] is Record
    for place, model in enumerate(order):
        for other in order[:place]:
            assert not references(model, other), (model, other)


def test_a_forgotten_record_leaves_no_row_in_any_table_that_goes() -> None:
    """B147, B504, case_C10: one row in each table first, so that none is empty."""
    record = full_record()
    before = rows_of(record.id)
    assert all(before.values()), before
    LegalHold.objects.all().delete()
    done = make_memory().forget(record.id)
    assert dict(done.rows) == before
    assert not any(rows_of(record.id).values())


def test_it_leaves_the_rows_of_others() -> None:
    """case_C11."""
    record, other = full_record(), make_record("other", wait=True)
    make_edge(other, f"ext:{other.scope_id}:x")
    LegalHold.objects.all().delete()
    before = counts()
    done = make_memory().forget(record.id)
    after = counts()
    gone = {name: before[name] - after[name] for name in before}
    assert {n: c for n, c in gone.items() if c > 0} == dict(done.rows)
    assert make_memory().get(other.id).id == other.id


def full_record() -> Record:
    """A record with a row in every table that knows of records."""
    record = make_record("tea", wait=True)
    make_edge(record, f"ext:{record.scope_id}:message")
    make_governed(record)
    reinforced: dict[str, Any] = {"ids": [record.id], "query_sha256": bytes(32)}
    lifecycle.reinforce(using="default", tenant="acme", at=NOON, **reinforced)
    return record


def rows_of(record_id: uuid.UUID) -> dict[str, int]:
    """Return how many rows go with a record, by table."""
    return {
        model._meta.db_table: model._default_manager.filter(
            how.rows("acme", [record_id])
        ).count()
        for model, how in tables_of_record()
    }
