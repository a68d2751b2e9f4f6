"""PostgreSQL itself keeps tenants apart: everything here runs as a role it binds."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from prism_memory import audit, indexing, lifecycle, tasks
from prism_memory.db import tenancy
from prism_memory.db.tenancy import acting_for
from prism_memory.errors import Invalid, Misconfigured
from prism_memory.governance import row_security
from prism_memory.governance.retention.policies import create_policy
from prism_memory.models import AuditEvent, AuditSeal, EmbeddingSpace, Record, Run
from prism_memory.tasks.sweeping import SWEEPS
from prism_memory.types import Actor, Rules, Scope
from tests.architecture.test_every_statement_names_the_tenant import (
    lifecycle_calls,
    memory_calls,
)
from tests.capture import tenant_models
from tests.factories import NOON, make_memory, make_scope, make_trace, remember_one
from tests.kept import undone
from tests.swept import sweep

ROLE = "prism_memory_site"


def ask(sql: str, *given: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def guarded() -> Iterator[None]:
    """Guard the tables, and be the site's role, until the transaction is undone."""
    ask(f"CREATE ROLE {ROLE}")
    ask(f"GRANT USAGE ON SCHEMA public TO {ROLE}")
    guard = row_security.enable(using="default", role=ROLE)
    assert guard.on
    connection.execute_wrappers.append(tenancy.guard)
    ask(f"SET LOCAL ROLE {ROLE}")
    try:
        yield
    finally:
        connection.execute_wrappers.remove(tenancy.guard)
        if not connection.needs_rollback:
            ask("RESET ROLE")


@pytest.fixture
def site(db: None) -> Iterator[None]:
    with guarded():
        yield


def stored() -> list[str]:
    return [text for (text,) in ask("SELECT text FROM prism_memory_record")]


@pytest.mark.usefixtures("site")
def test_a_raw_cursor_sees_the_tenant_at_work_and_no_other() -> None:
    remember_one("tea")
    remember_one("rum", scope=make_scope(tenant="globex"))
    with acting_for("acme"):
        assert stored() == ["tea"]
        with acting_for("globex"):
            assert stored() == ["rum"]
        assert stored() == ["tea"]


@pytest.mark.usefixtures("site")
def test_who_acts_for_no_tenant_sees_nothing() -> None:
    """Nor the rows of the installation, on a connection that was used before."""
    record_id = remember_one("tea")
    make_memory().set_consent(record_id, visible=True)
    audit.record(
        using="default", tenant="", actor=Actor(), action="x", target="y", at=NOON
    )
    assert now() == ""  # as it is after the first use
    assert stored() == []
    for model in (Record, AuditEvent, Run):
        assert not model._default_manager.exists()
    with acting_for(""):
        assert [event.tenant for event in AuditEvent.objects.all()] == [""]
        assert stored() == []


@pytest.mark.usefixtures("site")
def test_no_row_of_the_installation_is_written_for_no_tenant() -> None:
    refused = pytest.raises(ProgrammingError, match="row-level security")
    with refused, transaction.atomic():
        ask(
            "INSERT INTO prism_memory_run (id, tenant, kind, target, state, cursor,"
            " counts, actor, error) VALUES (gen_random_uuid(), '', 'x', '', 'running',"
            " '{}', '{}', 'a', '')"
        )


@pytest.mark.usefixtures("site")
def test_a_forgotten_filter_changes_no_other_tenants_rows() -> None:
    remember_one("tea")
    remember_one("rum", scope=make_scope(tenant="globex"))
    with acting_for("acme"):
        ask("UPDATE prism_memory_record SET text = 'changed'")
    with acting_for("globex"):
        assert stored() == ["rum"]


@pytest.mark.usefixtures("site")
def test_a_row_cannot_be_written_for_another_tenant() -> None:
    with (
        acting_for("acme"),
        pytest.raises(ProgrammingError, match="row-level security"),
        transaction.atomic(),
    ):
        Run.objects.create(tenant="globex", kind="import", actor="a")


@pytest.mark.usefixtures("site")
def test_every_method_of_a_memory_works() -> None:
    memory, record_id = make_memory(), remember_one("tea", wait=True)
    remember_one("tea", scope=make_scope(tenant="globex"), wait=True)
    for call in memory_calls(memory, record_id):
        with undone(), seen_tenants() as seen:
            memory_calls(memory, record_id)[call]()
        assert seen == {"acme"}, call


@contextmanager
def seen_tenants() -> Iterator[set[str]]:
    """Note for whom each statement runs."""
    seen: set[str] = set()

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        row = connection.connection.execute(
            "SELECT current_setting('prism_memory.tenant', true)"
        ).fetchone()
        if "prism_memory_" in sql:
            seen.add(row[0])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield seen


@pytest.mark.usefixtures("site")
def test_recall_finds_the_same_by_every_leg() -> None:
    memory, wanted = make_memory(), remember_one("Ada drinks tea.", wait=True)
    for legs in ("vector", "text", "recency"):
        assert [hit.id for hit in memory.recall("tea", legs=legs)] == [wanted]


@pytest.mark.usefixtures("site")
def test_every_verb_works() -> None:
    for name in lifecycle_calls(uuid.uuid4()):
        lifecycle_calls(remember_one(f"tea for {name}"))[name]()


@pytest.mark.usefixtures("site")
def test_a_sweep_finds_who_waits_tenant_by_tenant() -> None:
    remember_one("tea")
    remember_one("rum", scope=make_scope(tenant="globex"))
    space = indexing.find_active(using="default", alias="default")
    assert space is not None
    waiting = indexing.waiting(using="default", spaces=[space])
    assert sorted(waiting) == ["acme", "globex"]


@pytest.mark.usefixtures("site")
def test_a_hosts_own_setting_is_put_back() -> None:
    ask("SELECT set_config('prism_memory.tenant', 'hosts', true)")
    remember_one("tea")
    make_memory().recall("tea")
    assert now() == "hosts"


def now() -> str:
    return str(ask("SELECT current_setting('prism_memory.tenant', true)")[0][0] or "")


@pytest.mark.usefixtures("site")
def test_a_hosts_failed_transaction_is_left_to_the_host() -> None:
    with pytest.raises(ProgrammingError), transaction.atomic(), acting_for("acme"):
        ask("SELECT nonsense")
    assert now() == ""


@pytest.mark.django_db(transaction=True)
def test_a_connection_carries_no_tenant_to_its_next_user() -> None:
    """As it goes back to a pool, or serves the next transaction behind a pooler."""
    connection.execute_wrappers.append(tenancy.guard)
    try:
        remember_one("tea", wait=True)
        make_memory().recall("tea")
        with acting_for("acme"):
            assert stored() == ["tea"]
    finally:
        connection.execute_wrappers.remove(tenancy.guard)
    assert now() == ""
    assert connection.get_autocommit()


@pytest.mark.django_db
def test_every_tenants_table_is_guarded_and_may_be_let_go() -> None:
    names = {model._meta.db_table for model in tenant_models()}
    assert set(row_security.tables()) == names
    assert not row_security.status(using="default").on
    assert row_security.enable(using="default").on
    assert row_security.enable(using="default").on  # again, after a migration
    assert not row_security.disable(using="default").on
    assert not any(t.policy for t in row_security.status(using="default").tables)


@pytest.mark.django_db
def test_one_table_without_its_policy_is_told() -> None:
    row_security.enable(using="default")
    ask("ALTER TABLE prism_memory_record NO FORCE ROW LEVEL SECURITY")
    guard = row_security.status(using="default")
    assert [t.name for t in guard.tables if not t.guarded] == ["prism_memory_record"]
    assert not guard.on


@pytest.mark.django_db
def test_a_role_that_no_policy_binds_is_refused() -> None:
    ask(f"CREATE ROLE {ROLE} BYPASSRLS")
    with pytest.raises(Misconfigured, match="BYPASSRLS"):
        row_security.enable(using="default", role=ROLE)
    ask(f"ALTER ROLE {ROLE} NOBYPASSRLS")
    ask("CREATE ROLE prism_memory_owner")
    ask("GRANT CREATE ON SCHEMA public TO prism_memory_owner")
    ask("ALTER TABLE prism_memory_record OWNER TO prism_memory_owner")
    ask(f"GRANT prism_memory_owner TO {ROLE}")
    with pytest.raises(Misconfigured, match="owns the tables"):
        row_security.enable(using="default", role=ROLE)
    with pytest.raises(Invalid, match="no such role"):
        row_security.enable(using="default", role="nobody_of_this_name")
    assert not row_security.status(using="default").on


@pytest.mark.django_db
def test_the_command_says_whom_it_binds() -> None:
    text = io.StringIO()
    call_command("prism_memory_rls", "enable", json=True, stdout=text)
    told = json.loads(text.getvalue())
    assert told["on"]
    assert told["role"]["unbound"]
    text = io.StringIO()
    call_command("prism_memory_rls", "status", stdout=text)
    assert "the site would see no row" in text.getvalue()
    call_command("prism_memory_rls", "disable", stdout=io.StringIO())
    assert not row_security.status(using="default").on


@pytest.mark.django_db
def test_it_is_installed_where_the_settings_ask_for_it(settings: Any) -> None:
    tenancy.install(connection)
    assert tenancy.guard not in connection.execute_wrappers
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ROW_SECURITY": True}
    try:
        tenancy.install(connection)
        tenancy.install(connection)  # it connected again
        assert connection.execute_wrappers.count(tenancy.guard) == 1
    finally:
        connection.execute_wrappers.remove(tenancy.guard)


@pytest.mark.usefixtures("site")
def test_the_spaces_of_the_installation_stay_in_sight() -> None:
    remember_one("tea", scope=Scope("acme"))
    assert EmbeddingSpace.objects.exists()


@pytest.mark.usefixtures("site")
def test_the_admins_pages_show_their_tenant(client: Any, settings: Any) -> None:
    """Each list, and the page of a record, as the site's own role."""
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"ROW_SECURITY": True}
    ask("RESET ROLE")  # users and sessions are the host's, and not ours to grant
    client.force_login(get_user_model().objects.create_superuser("root"))
    for (name,) in ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        if not name.startswith("prism_memory_"):
            ask(f'GRANT ALL ON "{name}" TO {ROLE}')
    ask(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {ROLE}")
    ask(f"SET LOCAL ROLE {ROLE}")
    record_id = remember_one("Ada drinks tea.")
    page = client.get(
        "/admin/prism_memory/record/",
        {"tenant": "acme", "scope": str(make_scope().id)},
    )
    assert str(record_id) in page.content.decode()
    page = client.get(f"/admin/prism_memory/record/{record_id}~acme/change/")
    assert page.status_code == 200
    page = client.get(f"/admin/prism_memory/record/{record_id}~globex/change/")
    assert page.status_code == 404


def both() -> None:
    """Two tenants, with something to embed, to seal and to retain each."""
    for tenant in ("acme", "globex"):
        scope = make_scope(tenant=tenant)
        record_id = remember_one("tea", scope=scope)
        make_memory(scope).set_consent(record_id, visible=True)
        create_policy(
            using="default",
            scope=Scope(tenant),
            actor=Actor(),
            name="all",
            rules=Rules(max_entries=0),
            at=timezone.now(),
        )


@pytest.mark.usefixtures("site")
def test_the_tasks_of_beat_work_for_every_tenant(settings: Any) -> None:
    both()
    for work in SWEEPS:
        sweep(work)
    tasks.clean_exports.apply().get()
    for tenant in ("acme", "globex"):
        with acting_for(tenant):
            assert AuditSeal.objects.filter(tenant=tenant).exists()
            assert not Record.objects.filter(tenant=tenant).exists()


@pytest.mark.usefixtures("site")
def test_the_commands_of_traces_find_them() -> None:
    remember_one("tea")
    trace = make_trace()
    lifecycle.write_trace(using="default", trace=trace)
    for action, given in (("list", []), ("show", [str(trace.id)])):
        text = io.StringIO()
        call_command("prism_memory_trace", action, *given, tenant="acme", stdout=text)
        assert str(trace.id) in text.getvalue()


@pytest.mark.usefixtures("site")
def test_the_sites_role_is_told_what_it_may_not() -> None:
    with pytest.raises(CommandError, match="owner"), transaction.atomic():
        call_command("prism_memory_rls", "disable")


@pytest.mark.usefixtures("site")
def test_a_nested_tenant_leaves_the_hosts_setting_as_it_was() -> None:
    ask("SELECT set_config('prism_memory.tenant', 'hosts', true)")
    with acting_for("acme"):
        with acting_for("globex"):
            stored()
        stored()
    assert now() == "hosts"
