"""The keys as PostgreSQL holds them: each begins with the tenant.

What stands here is read from the catalogue, so that a table or key to come is held to
the same rule.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.db.models import Model

from prism_memory import lifecycle
from prism_memory.db.constraints import TenantReference
from prism_memory.db.fields import TenantForeignKey
from prism_memory.models import (
    Embedding,
    Entity,
    EntityMerge,
    Evidence,
    Fact,
    Mention,
    Record,
    ReinforcedQuery,
    Reinforcement,
    Review,
    ShareGrantItem,
    Source,
    SourceAccess,
)
from prism_memory.types import SourceRef
from tests.capture import tenant_models
from tests.db.asking import ask, refused_by
from tests.factories import NOON, make_edge, make_record, make_scope
from tests.governed import make_entity, make_governed, make_grant, make_scope_row

pytestmark = pytest.mark.django_db

GLOBAL: Final = {
    "prism_memory_tenant",
    "prism_memory_embeddingspace",
    "prism_memory_accesskey",
}
TABLES: Final = [model._meta.db_table for model in tenant_models()]

POINTERS: Final = [
    (model, field)
    for model in tenant_models()
    for field in model._meta.local_fields
    if isinstance(field, TenantForeignKey)
]
UNCHECKED: Final = {"Embedding.scope": "It is its record's, and the record is checked."}
REFERENCES: Final = [
    (model, field)
    for model, field in POINTERS
    if f"{model.__name__}.{field.name}" not in UNCHECKED
]

KEYS: Final = """
WITH named AS (
  SELECT attribute.attrelid, attribute.attnum, attribute.attname::text AS name
    FROM pg_attribute AS attribute)
SELECT class.relname, key.conname, key.contype, target.relname,
       ARRAY(SELECT name FROM unnest(key.conkey) WITH ORDINALITY AS part(attnum, place)
               JOIN named USING (attnum) WHERE attrelid = key.conrelid ORDER BY place),
       ARRAY(SELECT name FROM unnest(key.confkey) WITH ORDINALITY AS part(attnum, place)
               JOIN named USING (attnum) WHERE attrelid = key.confrelid ORDER BY place)
  FROM pg_constraint AS key
  JOIN pg_class AS class ON class.oid = key.conrelid
  LEFT JOIN pg_class AS target ON target.oid = key.confrelid
 WHERE class.relname = ANY(%s) AND key.contype IN ('p', 'u', 'f', 'x')
"""

UNIQUE: Final = """
SELECT class.relname, pg_get_indexdef(index.indexrelid, 1, true)
  FROM pg_index AS index
  JOIN pg_class AS class ON class.oid = index.indrelid
 WHERE class.relname = ANY(%s) AND index.indisunique
"""


def test_every_table_is_a_tenants_or_known_to_be_global() -> None:
    config = apps.get_app_config("prism_memory")
    assert {m._meta.db_table for m in config.get_models()} == GLOBAL | {*TABLES}


def test_every_primary_and_unique_key_begins_with_the_tenant() -> None:
    """B28."""
    for table, name, kind, _, columns, _ in ask(KEYS, TABLES):
        if kind != "f":
            assert columns[0] == "tenant", f"{table}: {name}"
    for table, first in ask(UNIQUE, TABLES):
        assert first == "tenant", table


def test_every_table_has_its_primary_key() -> None:
    assert {row[0] for row in ask(KEYS, TABLES) if row[2] == "p"} == {*TABLES}


def test_every_foreign_key_to_a_tenants_table_names_the_tenant_on_both_sides() -> None:
    """B8."""
    found = set()
    for table, name, kind, target, columns, targets in ask(KEYS, TABLES):
        if kind == "f" and target not in GLOBAL:
            assert (columns[0], targets[0]) == ("tenant", "tenant"), name
            assert columns[:-1] == targets[:-1], name
            found.add((table, *columns[1:]))
    declared = {
        (m._meta.db_table, *shared_of(m, field.name), field.column)
        for m, field in REFERENCES
    }
    assert found == declared


def test_what_points_without_a_key_is_known() -> None:
    """B8: each has a reason above."""
    kept = {
        f"{model.__name__}.{c.field}"
        for model, _ in POINTERS
        for c in model._meta.constraints
        if isinstance(c, TenantReference)
    }
    pointing = {f"{model.__name__}.{field.name}" for model, field in POINTERS}
    assert pointing - kept == set(UNCHECKED)


def shared_of(model: type[Model], name: str) -> tuple[str, ...]:
    """Return which columns a reference holds equal beside the tenant."""
    (also,) = (
        c.also
        for c in model._meta.constraints
        if isinstance(c, TenantReference) and c.field == name
    )
    return also


def test_the_tenant_is_never_null_and_compared_byte_by_byte() -> None:
    """B28, case_C01."""
    rows = ask(
        "SELECT class.relname, attribute.attnotnull, sorting.collname"
        "  FROM pg_attribute AS attribute"
        "  JOIN pg_class AS class ON class.oid = attribute.attrelid"
        "  JOIN pg_collation AS sorting ON sorting.oid = attribute.attcollation"
        " WHERE attribute.attname = 'tenant' AND class.relname = ANY(%s)"
        "   AND class.relkind = 'r'",
        TABLES,
    )
    assert {table for table, _, _ in rows} == {*TABLES}
    assert {(not_null, collation) for _, not_null, collation in rows} == {(True, "C")}


@pytest.mark.parametrize("level", ["owner", "agent", "thread"])
def test_an_unset_level_is_empty_and_not_null(level: str) -> None:
    """B28: NULL would make every partial scope unlike itself."""
    make_record()
    with pytest.raises(IntegrityError, match=f'null value in column "{level}"'):
        ask(f"UPDATE prism_memory_scope SET {level} = NULL")  # noqa: S608


def test_no_table_has_a_trigger_of_ours() -> None:
    """Citus has none."""
    assert not ask(
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = ANY("
        "       SELECT oid FROM pg_class WHERE relname = ANY(%s))",
        TABLES,
    )


def two_tenants() -> dict[str, dict[str, uuid.UUID]]:
    """Write a row of each table for two tenants; return their ids by table.

    The record is one that has neither vector nor lineage yet, the scope one that
    nothing is written to.
    """
    ids = {}
    for tenant in ("acme", "globex"):
        scope = make_scope(tenant=tenant)
        record = make_record(scope=scope, fields={"source": SourceRef("s")})
        make_edge(record, "ext:00000000-0000-0000-0000-000000000000:outside")
        lifecycle.reinforce(
            using="default",
            tenant=tenant,
            ids=[record.id],
            query_sha256=bytes(32),
            at=NOON,
        )
        spare = make_record("spare", scope=scope)
        make_governed(record)
        claim = make_record("spare claim", scope=scope)
        home = {"tenant": tenant, "scope": claim.scope, "key": "spare"}
        Fact.objects.create(id=claim.id, record=claim, **home)
        others = Embedding.objects.filter(tenant=tenant).exclude(record_id=record.id)
        others.delete()
        assert record.source is not None
        ids[tenant] = {
            "prism_memory_scope": make_scope_row(replace(scope, thread="spare")).id,
            "prism_memory_record": spare.id,
            "prism_memory_source": record.source.id,
            "prism_memory_fact": claim.id,
            "prism_memory_entity": make_entity(record, "spare").id,
            "prism_memory_sharegrant": make_grant(
                replace(scope, thread="chat-3"), "chat-4"
            ).id,
        }
    return ids


def copy_row(model: type[Model], **changes: Any) -> list[tuple[Any, ...]]:
    """Insert a copy of Acme's row with some columns changed, by plain SQL."""
    fields = [f for f in model._meta.local_concrete_fields if not f.generated]
    values = {f'"{field.column}"': f'"{field.column}"' for field in fields}
    values |= {f'"{column}"': "%s" for column in changes}
    table = model._meta.db_table
    return ask(
        f"INSERT INTO {table} ({', '.join(values)})"  # noqa: S608 - names of columns
        f" SELECT {', '.join(values.values())} FROM {table} WHERE tenant = 'acme'"
        " LIMIT 1 RETURNING tenant",
        *(changes[name.strip('"')] for name in values if values[name] == "%s"),
    )


ANOTHER: Final[dict[type[Model], dict[str, Any]]] = {
    Record: {"key": "another"},
    Source: {"key": "another"},
    Entity: {"name": "another"},
    EntityMerge: {"undone_at": NOON},
    Mention: {"role": "object"},
    Review: {"why": "conflict"},
    SourceAccess: {"principal": "another"},
}


def fresh(model: type[Model], record_id: uuid.UUID) -> dict[str, Any]:
    """Return what makes a copy of a row no duplicate."""
    if model in {Embedding, Reinforcement, ReinforcedQuery, Evidence}:
        return {"record_id": record_id}
    if model is ShareGrantItem:
        return {"record_id": record_id, "position": 31}
    if model is Fact:
        return {"id": record_id, "record_id": record_id, "key": "another"}
    own = {"id": uuid.uuid4()} if hasattr(model, "id") else {}
    return own | ANOTHER.get(model, {})


@pytest.mark.parametrize(
    ("model", "field"),
    REFERENCES,
    ids=[f"{m.__name__}.{f.name}" for m, f in REFERENCES],
)
def test_a_row_cannot_point_at_another_tenants_row(
    model: type[Model], field: Any
) -> None:
    """B8: refused by the database, whatever the code does."""
    target = field.related_model._meta.db_table
    ids = two_tenants()
    mine, foreign = ids["acme"][target], ids["globex"][target]
    (constraint,) = (
        name
        for table, name, kind, _, columns, _ in ask(KEYS, TABLES)
        if (table, kind) == (model._meta.db_table, "f") and columns[-1] == field.column
    )

    row = fresh(model, ids["acme"]["prism_memory_record"])
    # A fact has its record's id, and a check says so before any key is looked at.
    one = model is Fact and field.name == "record"
    own = ["id", field.column] if one else [field.column]
    with refused_by(constraint):
        copy_row(model, **row | dict.fromkeys(own, foreign))
    with refused_by("prism_memory_fact_is_its_record" if one else constraint):
        ask(
            f'UPDATE {model._meta.db_table} SET "{field.column}" = %s'  # noqa: S608
            " WHERE tenant = 'acme'",
            foreign,
        )
    assert copy_row(model, **row | dict.fromkeys(own, mine))


POINTED_AT: Final = sorted(
    {model._meta.db_table for model, _ in REFERENCES} | {"prism_memory_scope"}
)


@pytest.mark.parametrize("table", POINTED_AT)
def test_a_row_never_changes_its_tenant(table: str) -> None:
    """B8: it would leave its scope, or what points at it, behind."""
    two_tenants()
    with pytest.raises(IntegrityError, match="foreign key"), transaction.atomic():
        ask(
            f"UPDATE {table} SET tenant = 'initech'"  # noqa: S608 - a table of ours
            " WHERE tenant = 'acme'"
        )


def test_two_tenants_may_use_one_id() -> None:
    """The key is the pair: a guessed id takes nothing away from anybody."""
    ids = two_tenants()
    scope_id = ids["globex"]["prism_memory_scope"]
    changes = {"tenant": "globex", "id": ids["acme"]["prism_memory_record"]}
    assert copy_row(Record, **changes, scope_id=scope_id, source_id=None, key="other")


@pytest.mark.parametrize("side", ["parent", "child"])
def test_a_share_between_two_owners_is_refused_by_the_database(side: str) -> None:
    """B178: whichever of them it names; both are of one tenant."""
    bobs = make_scope_row(make_scope(owner="bob"))
    other = {"parent": "child", "child": "parent"}[side]
    for owner, refuses in (("ada", side), ("bob", other)):
        with refused_by(f"prism_memory_share_{refuses}"):
            given: dict[str, Any] = {f"{side}_id": bobs.id, "owner": owner}
            make_grant(make_scope(), **given)
    grant = make_grant(make_scope())
    with refused_by(f"prism_memory_share_{side}"):
        ask(f"UPDATE prism_memory_sharegrant SET {side}_id = %s", bobs.id)  # noqa: S608
    grant.owner = "bob"
    with pytest.raises(IntegrityError, match="foreign key"), transaction.atomic():
        grant.save()
