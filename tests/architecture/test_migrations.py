from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections, models
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ModelState, ProjectState

from prism_memory.db.constraints import TenantKey, TenantReference
from prism_memory.db.fields import NameField, TenantField, TenantForeignKey
from tests.capture import tenant_models
from tests.db.asking import ask

APP = "prism_memory"


@pytest.mark.django_db
def test_no_model_change_lacks_a_migration() -> None:
    call_command("makemigrations", APP, check=True, dry_run=True, verbosity=0)


@cache
def printed(*, backwards: bool = False) -> str:
    """Return what ``sqlmigrate`` prints of all migrations.

    In one go: by itself it applies all that come before for each.
    """
    state = ProjectState(real_apps=MigrationExecutor(connection).loader.unmigrated_apps)
    sql: list[str] = []
    for migration in plan():
        before = state
        state = migration.mutate_state(before, preserve=True)
        if migration.app_label == APP:
            with connection.schema_editor(collect_sql=True, atomic=False) as editor:
                run = migration.unapply if backwards else migration.apply
                run(before.clone(), editor, collect_sql=True)
            sql += editor.collected_sql
    return "\n".join(sql)


def plan() -> list[Migration]:
    """Return all migrations that lead to the last one."""
    loader = MigrationExecutor(connection).loader
    (last,) = loader.graph.leaf_nodes(APP)
    return [loader.graph.nodes[node] for node in loader.graph.forwards_plan(last)]


@pytest.mark.django_db
def test_the_command_prints_the_first_migration() -> None:
    """B491."""
    text = io.StringIO()
    call_command("sqlmigrate", APP, "0001", stdout=text, no_color=True)
    said = [line for line in text.getvalue().splitlines() if line.startswith("CREATE")]
    assert said
    assert set(said) <= {*printed().splitlines()}


@pytest.mark.django_db
@pytest.mark.parametrize("backwards", [False, True])
def test_the_migrations_can_be_printed(backwards: bool) -> None:
    """B491: to be read, or run by hand."""
    sql = printed(backwards=backwards)
    for model in tenant_models():
        assert f'"{model._meta.db_table}"' in sql
    assert ("DROP TABLE" in sql) is backwards


@pytest.mark.django_db
def test_the_printed_keys_begin_with_the_tenant() -> None:
    sql = printed()
    for model in tenant_models():
        for constraint in model._meta.constraints:
            if isinstance(constraint, TenantKey):
                assert f'"{constraint.name}" PRIMARY KEY ("tenant", "id")' in sql
            if isinstance(constraint, TenantReference):
                assert f'"{constraint.name}" FOREIGN KEY ("tenant", ' in sql


@pytest.fixture
def scratch(django_db_blocker: Any) -> Iterator[None]:
    """An empty database of its own in place of the tests', and then that one again."""
    name = connection.settings_dict["NAME"]
    other = f"{name}_scratch"
    with django_db_blocker.unblock():
        ask(f'CREATE DATABASE "{other}"')
        switch(other)
        try:
            yield
        finally:
            switch(name)
            ask(f'DROP DATABASE "{other}" WITH (FORCE)')


def switch(name: str) -> None:
    connections["default"].close()
    connections["default"].settings_dict["NAME"] = name


def migrate(target: str | None) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([(APP, target)])


def tables() -> set[str]:
    return {t for t in connection.introspection.table_names() if t.startswith(APP)}


@pytest.mark.django_db(transaction=True)
def test_the_migration_goes_back_to_nothing_and_forth_again(scratch: None) -> None:
    """B492."""
    last = max(name for app, name in leaves() if app == APP)
    migrate(last)
    made = tables()
    assert made == {m._meta.db_table for m in apps.get_app_config(APP).get_models()}
    migrate(None)
    assert tables() == set()
    migrate(last)
    assert tables() == made


def leaves() -> list[tuple[str, str]]:
    return [*MigrationExecutor(connection).loader.graph.leaf_nodes()]


def throwaway() -> tuple[type[models.Model], type[models.Model]]:
    """A parent and a child as a later migration would bring them."""
    state = ProjectState()
    own: dict[str, dict[str, Any]] = {
        "Parent": {"name": NameField()},
        "Child": {"parent": TenantForeignKey("scratch.Parent")},
    }
    for name, more in own.items():
        fields: dict[str, Any] = {"tenant": TenantField()}
        fields["id"] = models.UUIDField(primary_key=True)
        state.add_model(ModelState("scratch", name, [*(fields | more).items()]))
    return state.apps.get_model("scratch.Parent"), state.apps.get_model("scratch.Child")


def keys(table: str) -> list[str]:
    rows = ask(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = %s::regclass AND contype IN ('p', 'f') ORDER BY contype",
        table,
    )
    return [definition for (definition,) in rows]


@pytest.mark.django_db
def test_a_later_table_gets_and_loses_its_keys_by_one_line_each() -> None:
    """Data model, rule 1: added once all primary keys are in place."""
    parent, child = throwaway()
    reference = TenantReference(field="parent", name="child_parent")
    with connection.schema_editor() as editor:
        editor.create_model(parent)
        editor.create_model(child)
        for model in (parent, child):
            key = TenantKey(name=f"{model._meta.model_name}_key")
            editor.add_constraint(model, key)
        editor.add_constraint(child, reference)
    assert keys("scratch_parent") == ["PRIMARY KEY (tenant, id)"]
    assert keys("scratch_child") == [
        "FOREIGN KEY (tenant, parent_id) REFERENCES scratch_parent(tenant, id)",
        "PRIMARY KEY (tenant, id)",
    ]
    with connection.schema_editor() as editor:
        editor.remove_constraint(child, reference)
        editor.remove_constraint(parent, TenantKey(name="parent_key"))
    assert keys("scratch_parent") == ["PRIMARY KEY (id)"]
    assert keys("scratch_child") == ["PRIMARY KEY (tenant, id)"]


def test_a_constraint_is_known_by_what_it_says() -> None:
    """``makemigrations`` compares them."""
    one = TenantReference(field="a", name="n")
    assert one == TenantReference(field="a", name="n")
    assert one != TenantReference(field="b", name="n")
    assert one != TenantReference(field="a", name="n", cascade=True)
    assert one != TenantKey(name="n")
    assert TenantKey(name="n") != models.UniqueConstraint(fields=["a"], name="n")
    assert len({one, TenantReference(field="a", name="n")}) == 1
    assert one.clone() == one


def test_validation_leaves_keys_to_the_database() -> None:
    """A look-up here would only race."""
    TenantKey(name="n").validate(None, None)
