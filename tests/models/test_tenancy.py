"""Django's own ways to a row name the tenant, though they know the id alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Model

from prism_memory import lifecycle
from prism_memory.models import (
    AuditEvent,
    Embedding,
    LineageEdge,
    Record,
    Run,
    Source,
    Tenant,
    Tombstone,
)
from prism_memory.models import Scope as ScopeRow
from prism_memory.models.base import TenantModel
from prism_memory.types import SourceRef
from tests.capture import tenant_in_every_statement, tenant_models, unnamed_tables
from tests.db.asking import ask
from tests.factories import (
    NOON,
    make_edge,
    make_record,
    make_scope,
    make_tombstone,
    make_trace,
)
from tests.governed import make_governed

pytestmark = pytest.mark.django_db


def rows_under_one_id() -> tuple[Run, Run]:
    """Two rows that Django cannot tell apart: one id, two tenants."""
    mine = Run.objects.create(tenant="acme", kind="import", actor="system")
    Run.objects.create(tenant="globex", kind="import", actor="system", id=mine.id)
    return mine, Run.objects.get(tenant="globex")


def test_save_changes_the_rows_own_tenant_only() -> None:
    """B8, B22."""
    mine, _ = rows_under_one_id()
    mine.error = "changed"
    with tenant_in_every_statement("acme") as seen:
        mine.save()
        mine.save(update_fields=["error"])
    assert len(seen.on_tenants()) == 2
    assert Run.objects.get(tenant="globex").error == ""
    assert Run.objects.get(tenant="acme").error == "changed"


def test_refresh_reads_the_rows_own_tenant_only() -> None:
    mine, foreign = rows_under_one_id()
    Run.objects.filter(tenant="globex").update(error="foreign")
    with tenant_in_every_statement("acme"):
        mine.refresh_from_db()
        mine.refresh_from_db(from_queryset=Run.objects.order_by("-tenant"))
    with tenant_in_every_statement("globex"):
        foreign.refresh_from_db(fields=["error"])
    assert (mine.tenant, mine.error, foreign.error) == ("acme", "", "foreign")


def test_a_deferred_field_is_read_from_the_rows_own_tenant() -> None:
    rows_under_one_id()
    Run.objects.filter(tenant="globex").update(error="foreign")
    row = Run.objects.defer("error").get(tenant="acme")
    with tenant_in_every_statement("acme"):
        assert row.error == ""


def test_delete_removes_the_rows_own_tenant_only() -> None:
    mine, _ = rows_under_one_id()
    with tenant_in_every_statement("acme"):
        assert mine.delete() == (1, {"prism_memory.Run": 1})
    assert [run.tenant for run in Run.objects.all()] == ["globex"]


def test_save_never_moves_a_row_to_another_tenant() -> None:
    """B8: the changed tenant names no row, so nothing is overwritten."""
    mine, _ = rows_under_one_id()
    mine.tenant, mine.error = "initech", "moved"
    mine.save()
    assert Run.objects.get(tenant="acme").error == ""
    assert Run.objects.get(tenant="globex").error == ""


def test_a_foreign_key_leads_to_a_row_of_the_same_tenant() -> None:
    """B8: also when another tenant has a row of that id."""
    record = make_record(fields={"source": SourceRef("mine")})
    assert record.source is not None
    elsewhere = make_record(scope=make_scope(tenant="globex")).scope
    theirs = {"tenant": "globex", "scope": elsewhere, "key": "theirs", "trust": "user"}
    Source.objects.create(id=record.source_id, **theirs)
    ScopeRow.objects.create(tenant="globex", id=record.scope_id, owner="mallory")
    plain = Record.objects.get(tenant="acme", id=record.id)
    with tenant_in_every_statement("acme") as seen:
        assert plain.source is not None
        assert (plain.source.key, plain.scope.owner) == ("mine", "ada")
    assert len(seen.on_tenants()) == 2


def test_joins_are_within_a_tenant() -> None:
    """B22: for rows, conditions and orders across foreign keys."""
    record = make_record(fields={"source": SourceRef("mine")})
    make_edge(record, "ext:00000000-0000-0000-0000-000000000000:a")
    with tenant_in_every_statement("acme") as seen:
        mine = Record.objects.filter(tenant="acme", scope__owner="ada")
        assert mine.select_related("scope", "source").get().scope.owner == "ada"
        assert mine.order_by("source__key").values_list("source__key").get() == (
            "mine",
        )
        edges = LineageEdge.objects.filter(tenant="acme", record__scope__owner="ada")
        assert edges.select_related("record__scope").get().record == record
        vectors = Embedding.objects.filter(tenant="acme")
        assert vectors.select_related("record", "scope").get().scope == record.scope
    assert len(seen.on_tenants()) == 4


def test_a_join_never_finds_another_tenants_row() -> None:
    record = make_record()
    ScopeRow.objects.create(tenant="globex", id=record.scope_id, owner="mallory")
    assert not Record.objects.filter(tenant="acme", scope__owner="mallory").exists()
    assert Record.objects.select_related("scope").filter(tenant="acme").count() == 1


def test_a_scopes_row_is_found_by_its_names() -> None:
    """B14."""
    scope = make_scope()
    make_record(scope=scope)
    with tenant_in_every_statement("acme"):
        assert ScopeRow.objects.at(scope).get().value == scope
    ScopeRow.objects.filter(tenant="acme", id=scope.id).update(thread="forged")
    assert not ScopeRow.objects.at(scope).exists()


@pytest.mark.parametrize(
    "model", [m for m in tenant_models() if issubclass(m, TenantModel)], ids=str
)
def test_every_row_of_a_tenant_saves_and_refreshes_by_its_tenant(
    model: type[Model],
) -> None:
    """B22: whatever its fields; a table to come is held to it too."""
    record = make_record(fields={"source": SourceRef("mine")})
    make_tombstone(record)
    Run.objects.create(tenant="acme", kind="import", actor="system")
    AuditEvent.objects.create(
        tenant="acme", actor="system", action="a.b", target="record:1", at=NOON
    )
    lifecycle.write_trace(using="default", trace=make_trace(record.id))
    make_governed(record)
    row: Any = model._default_manager.filter(tenant="acme")[0]
    with tenant_in_every_statement("acme") as seen:
        row.save()
        row.refresh_from_db()
    assert len(seen.on_tenants()) == 2


def test_the_tenants_that_were_ever_used_are_listed() -> None:
    make_record()
    make_record("b", scope=make_scope(owner="bob"))
    make_record(scope=make_scope(tenant="globex"))
    assert sorted(map(str, Tenant.objects.all())) == ["acme", "globex"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM prism_memory_record",
        "SELECT * FROM prism_memory_record AS record WHERE record.id = %s",
        "UPDATE prism_memory_run SET state = 'done' WHERE id = %s",
        'SELECT "prism_memory_run"."id" FROM "prism_memory_run" LIMIT 1',
        "DELETE FROM prism_memory_embedding WHERE record_id = %s",
        "SELECT a.tenant FROM prism_memory_scope AS a JOIN prism_memory_source AS b"
        " ON a.id = b.scope_id WHERE a.tenant = %s",
        "INSERT INTO prism_memory_run (id) VALUES (%s)",
    ],
)
def test_the_watch_sees_a_statement_without_the_tenant(statement: str) -> None:
    """Else the tests that rely on it could not fail."""
    assert unnamed_tables(statement)


def test_the_watch_wants_the_right_tenant() -> None:
    make_record(scope=make_scope(tenant="globex"))
    with pytest.raises(AssertionError), tenant_in_every_statement("acme"):
        assert not Tombstone.objects.filter(tenant="globex").exists()
    with pytest.raises(AssertionError), tenant_in_every_statement("acme"):
        ask("SELECT 1 FROM prism_memory_record LIMIT 1")
