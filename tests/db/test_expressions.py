"""What full text searches, and the condition that filters by it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db import connection, models
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_memory.db.expressions import (
    SCOPE_MARK,
    NamedCondition,
    RecordSearchVector,
    UnitVector,
)
from prism_memory.db.fields import IdentityField, NameField, TenantField
from prism_memory.db.languages import LANGUAGES
from prism_memory.models import Record, Run
from prism_memory.models import Scope as ScopeRow
from tests.db.asking import ask
from tests.factories import make_record, make_scope, remember_one
from tests.tries import examples

pytestmark = pytest.mark.django_db


def lexemes(record: Record) -> set[str]:
    ((found,),) = ask(
        "SELECT tsvector_to_array(search) FROM prism_memory_record WHERE id = %s",
        record.id,
    )
    return {*found}


def words(record: Record) -> set[str]:
    return {word for word in lexemes(record) if not word.startswith(SCOPE_MARK)}


def test_the_languages_are_those_that_the_server_has() -> None:
    """Every PostgreSQL since 15 has them; a newer one may have more."""
    rows = ask(
        "SELECT cfgname FROM pg_ts_config"
        " WHERE cfgnamespace = 'pg_catalog'::regnamespace"
    )
    assert {*LANGUAGES} <= {name for (name,) in rows}
    assert [*LANGUAGES] == sorted(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_record_is_indexed_in_its_own_language(language: str) -> None:
    text = "The houses were running; les maisons étaient grandes; die Häuser"
    record = make_record(text, fields={"language": language})
    ((expected,),) = ask(
        "SELECT tsvector_to_array(to_tsvector(%s::regconfig, %s))", language, text
    )
    assert words(record) == {*expected}


def test_what_full_text_shall_see_may_differ_from_the_text() -> None:
    record = make_record("the words shown", fields={"lexical_text": "other terms"})
    assert words(record) == {"term"}


def test_the_vector_follows_the_text() -> None:
    """case_C15: no trigger, no second write."""
    record = make_record("tea")
    Record.objects.filter(tenant="acme", id=record.id).update(text="coffee")
    assert words(record) == {"coffe"}


def test_the_scope_is_a_lexeme_of_every_record() -> None:
    mine = make_record("tea")
    other = make_record("tea", scope=make_scope(owner="bob"))
    assert f"{SCOPE_MARK}{mine.scope_id}" in lexemes(mine)
    assert f"{SCOPE_MARK}{mine.scope_id}" not in lexemes(other)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40))
@settings(max_examples=examples(40))
def test_no_text_can_forge_a_scope(text: str) -> None:
    """B14: no parser of PostgreSQL lets the mark into a word."""
    scope_id = str(make_scope().id)
    forged = f"{text}{SCOPE_MARK}{scope_id} {SCOPE_MARK}{text} '{SCOPE_MARK}{scope_id}'"
    for language in ("simple", "english", "tamil"):
        ((found,),) = ask(
            "SELECT tsvector_to_array(to_tsvector(%s::regconfig, %s))", language, forged
        )
        assert not [word for word in found if SCOPE_MARK in word]


def test_the_vector_is_generated_and_so_immutable() -> None:
    """Data model, full text: no trigger (Citus), no regconfig column (pg_upgrade)."""
    ((kind,),) = ask(
        "SELECT attgenerated::text FROM pg_attribute WHERE attname = 'search'"
        " AND attrelid = 'prism_memory_record'::regclass"
    )
    assert kind == "s"
    ((configurations,),) = ask(
        "SELECT count(*) FROM pg_attribute"
        " WHERE attrelid = 'prism_memory_record'::regclass"
        "   AND atttypid = 'regconfig'::regtype"
    )
    assert configurations == 0


def test_the_expression_is_known_to_migrations_by_its_path() -> None:
    path, args, kwargs = RecordSearchVector().deconstruct()
    assert path == "prism_memory.db.expressions.RecordSearchVector"
    assert (args, kwargs) == ((), {})


def test_a_condition_binds_its_values_in_order() -> None:
    """B490: the text is ours, the values are parameters."""
    first, second = remember_one("a", key="a"), remember_one("b", key="it's %s")
    condition = NamedCondition(
        "record.tenant = %(tenant)s AND (record.key = %(key)s OR record.key = %(key)s)",
        {"key": "it's %s", "tenant": "acme", "unused": 1},
    )
    assert [r.id for r in Record.objects.filter(condition)] == [second]
    assert [r.id for r in Record.objects.exclude(condition)] == [first]


def test_a_condition_follows_the_alias_of_its_table() -> None:
    """In a sub-select the same table has another name."""
    record_id = remember_one("a")
    inner = Record.objects.filter(NamedCondition("record.text = %(t)s", {"t": "a"}))
    outer = Record.objects.filter(id__in=inner.values("id"))
    assert [record.id for record in outer] == [record_id]
    joined = inner.select_related("scope").filter(scope__owner="ada")
    assert [record.id for record in joined] == [record_id]


def test_a_unit_vector_may_be_missing() -> None:
    assert "IS NULL OR" in as_sql(UnitVector("sha256"))


def as_sql(expression: Any) -> str:
    query = Record.objects.filter(expression).query
    compiler = query.get_compiler(connection=connection)
    return str(compiler.compile(expression.resolve_expression(query))[0])


# Fields


def test_names_and_tenants_are_compared_byte_by_byte() -> None:
    """case_C01: whatever the server's locale."""
    for field in (NameField(), TenantField()):
        assert field.db_collation == "C"
    names = ["a", "B", "é", "Z", "_", "%"]
    for name in names:
        remember_one("x", scope=make_scope(owner=name))
    stored = ScopeRow.objects.filter(tenant="acme").order_by("owner")
    assert [row.owner for row in stored] == sorted(names, key=str.encode)


def test_an_identity_is_counted_by_the_database() -> None:
    field = IdentityField()
    assert "IDENTITY" in field.db_type_suffix(connection)
    record = make_record()
    ((identity,),) = ask(
        "SELECT attidentity::text FROM pg_attribute WHERE attname = 'sequence'"
        " AND attrelid = 'prism_memory_record'::regclass"
    )
    assert identity == "d"
    assert record.sequence > 0


@pytest.mark.parametrize(
    "edge",
    [
        dt.datetime(1, 1, 2, tzinfo=dt.UTC),
        dt.datetime.max.replace(day=30, tzinfo=dt.UTC),
        dt.datetime(2026, 10, 25, 1, 30, 0, 1, tzinfo=dt.UTC),
    ],
    ids=str,
)
def test_times_come_back_to_the_microsecond(edge: dt.datetime) -> None:
    """case_C22: the first and the last year too."""
    record_id = remember_one("x", happened_at=edge)
    record = Record.objects.get(tenant="acme", id=record_id)
    assert record.happened_at == edge


def test_defaults_of_the_database_are_its_own_clock() -> None:
    run = Run.objects.create(tenant="acme", kind="import", actor="system")
    run.refresh_from_db()
    assert isinstance(run._meta.get_field("started_at").db_default, models.Func)
    assert run.started_at == run.heartbeat_at


def test_a_condition_calls_no_other_row_record() -> None:
    """What an inner row says would be read of the outer one."""
    with pytest.raises(ValueError, match="no other row"):
        NamedCondition("EXISTS (SELECT FROM t AS record WHERE record.id = 1)", {})
