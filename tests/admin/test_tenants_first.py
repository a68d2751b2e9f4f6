"""Data-model rule 2, in the admin: every statement names the tenant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    AuditSeal,
    ConflictDecision,
    Embedding,
    EmbeddingSpace,
    Entity,
    ErasureReceipt,
    Fact,
    RecallTrace,
    Record,
    Review,
    Run,
    Scope,
    ShareGrant,
    Source,
    Tenant,
    Tombstone,
)
from prism_memory.types import SourceRef
from tests.admin.rows import (
    make_event,
    make_key,
    make_receipt,
    make_run,
    make_trace_row,
    scope_row,
)
from tests.capture import captured, tenant_in_every_statement
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
)
from tests.governed import make_seal

pytestmark = pytest.mark.django_db

OF_TENANTS = (
    *(Scope, Source, Record, Tombstone, ShareGrant),
    RecallTrace,
    Run,
    AuditEvent,
    AuditSeal,
    ErasureReceipt,
    *(Fact, Review, ConflictDecision, Entity),
)
ALL = (*OF_TENANTS, Tenant, EmbeddingSpace, AccessKey)


@pytest.fixture
def record() -> Record:
    """One row of everything, of tenant acme."""
    record = make_record("Ada drinks tea.", fields={"source": SourceRef("session-1")})
    make_tombstone(record, cleared_at=NOON)
    make_run()
    make_event()
    make_seal("acme")
    make_receipt()
    make_key()
    make_trace_row(record.id)
    make_memory().share_with("chat-2", [make_record("Tea.").id])
    return record


def pages(record: Record) -> Iterator[str]:
    """Every page that can be fetched."""
    space = EmbeddingSpace.objects.get()
    for model in ALL:
        yield links.list_page(model)
        yield links.list_page(model, tenant="acme")
    scope = make_scope()
    yield links.list_page(Record, tenant="acme", scope=scope.id)
    for wish in ({"q": "tea"}, {"state": "withheld"}, {"end": 1}):
        yield links.list_page(Record, tenant="acme", scope=scope.id, **wish)
    yield links.list_page(
        Record, tenant="acme", scope=scope.id, source=record.source_id
    )
    for row in (scope_row(), Source.objects.get(), record, space):
        yield links.row_page(row)
    yield links.row_page(space) + "?tenant=acme"
    for model in (Tombstone, RecallTrace, Run, AuditEvent, AccessKey, Tenant):
        yield links.row_page(model.objects.all()[0])
    yield links.row_page(record, "consent") + "?visible=0"
    yield links.row_page(record, "consent") + "?visible=1"
    yield links.row_page(AccessKey.objects.all()[0], "revoke")
    share = ShareGrant.objects.get()
    yield links.row_page(share)
    yield links.row_page(share, "revoke")
    yield links.page(AccessKey, "add")


def test_every_statement_of_every_page_names_the_tenant(
    root: Client, record: Record
) -> None:
    for address in list(pages(record)):
        with tenant_in_every_statement("acme"):
            answer = root.get(address)
        assert answer.status_code == 200, address


def test_every_statement_of_every_deed_names_the_tenant(
    root: Client, record: Record
) -> None:
    Record.objects.filter(tenant="acme", id=record.id).update(gate="quarantined")
    space = EmbeddingSpace.objects.get()
    deeds = [
        (links.row_page(record, "reveal"), {"reason": "asked"}),
        (links.row_page(record, "consent"), {"visible": "0", "reason": "asked"}),
        (links.row_page(record, "consent"), {"visible": "1", "reason": "asked"}),
        (links.row_page(space, "retry"), {"tenant": "acme"}),
        (links.row_page(AccessKey.objects.get(), "revoke"), {}),
        (links.row_page(ShareGrant.objects.get(), "revoke"), {"reason": "asked"}),
    ]
    for address, given in deeds:
        with tenant_in_every_statement("acme") as seen:
            answer = root.post(address, given)
        assert answer.status_code in {200, 302}, address
        assert seen.on_tenants(), address


@pytest.mark.parametrize("model", OF_TENANTS)
def test_without_a_tenant_nothing_is_listed(
    root: Client, record: Record, model: type
) -> None:
    """case_C04."""
    with captured() as seen:
        answer = root.get(links.list_page(model))
    assert "Choose a tenant" in answer.content.decode()
    assert answer.context["window"].rows == []
    assert not seen.on_tenants()


@pytest.mark.parametrize("name", ["", "nobody", "%", "ACME", "acme ", "a\0b"])
def test_a_tenant_that_is_none_lists_nothing(
    root: Client, record: Record, name: str
) -> None:
    """case_C04."""
    for model in OF_TENANTS:
        with captured() as seen:
            answer = root.get(links.list_page(model, tenant=name))
        assert answer.status_code == 200, model
        assert answer.context["window"].rows == [], model
        assert ("Nothing was ever remembered" in answer.text) == bool(name), model
        seen.check(name)


def test_another_tenants_address_of_a_row_is_not_found(
    root: Client, record: Record
) -> None:
    make_record(scope=make_scope(tenant="globex"))
    for row in (record, Source.objects.get(), scope_row(), Run.objects.get()):
        foreign = links.page(type(row), "change", f"{row.pk}~globex")
        assert root.get(foreign).status_code == 404
        bare = links.page(type(row), "change", str(row.pk))
        assert root.get(bare).status_code == 404


@pytest.mark.parametrize(
    "identity", ["x", "~acme", "x~acme", "\0~acme", "~", "1~\0", "x" * 5_000]
)
def test_an_address_of_nothing_is_not_found(
    root: Client, record: Record, identity: str
) -> None:
    for model in ALL:
        answer = root.get(links.page(model, "change", identity))
        assert answer.status_code == 404, model


@pytest.mark.parametrize(
    "tenant", ["a/b", "..", "%2F", "a~b", "ä ö\n", "_2F", "<b>", "\\", "a/change", " "]
)
def test_a_row_has_its_address_whatever_its_tenant_is_called(
    root: Client, tenant: str
) -> None:
    run = make_run(tenant=tenant)
    answer = root.get(links.row_page(run))
    assert answer.status_code == 200
    assert answer.context["row_name"] == "import"


def test_the_installations_own_rows_have_their_list(root: Client) -> None:
    run = make_run(tenant="", kind="sweep")
    make_run()
    answer = root.get(links.list_page(Run, installation="1"))
    assert answer.context["window"].rows == [run]
    assert root.get(links.row_page(run)).status_code == 200
    assert "Choose a tenant" in root.get(links.list_page(Scope, installation="1")).text


def test_the_history_of_a_row_is_its_audit(root: Client, record: Record) -> None:
    event = make_event(target=f"record:{record.id}")
    answer = root.get(links.row_page(record, "history"), follow=True)
    assert answer.context["window"].rows == [event]


def test_nothing_is_read_through_the_admins_own_queryset(rf: Any) -> None:
    make_record()
    for model in ALL:
        assert list(admin.site.get_model_admin(model).get_queryset(rf.get("/"))) == []


def test_vectors_are_never_loaded(root: Client, record: Record) -> None:
    assert Embedding.objects.filter(tenant="acme").exists()
    with captured() as seen:
        root.get(links.row_page(record))
        root.get(links.row_page(EmbeddingSpace.objects.get()) + "?tenant=acme")
    loads = [s for s, _ in seen.statements if '"vector"' in s.split("FROM", 1)[0]]
    assert all("IS NULL" in sql.split("FROM", 1)[0] for sql in loads)
