"""A link whose page somebody may not see is plain text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import (
    AuditEvent,
    EmbeddingSpace,
    LegalHold,
    Record,
    RetentionPolicy,
    Scope,
    Source,
    Tenant,
)
from prism_memory.types import Lineage, SourceRef
from tests.admin.rows import make_event, make_receipt, make_run, make_staff
from tests.factories import make_memory, make_record, make_tombstone
from tests.governance.retention.written import make_policy

pytestmark = pytest.mark.django_db


def rich_record() -> Record:
    first = make_record("a turn", fields={"source": SourceRef("chat")}, wait=True)
    fields = {"lineage": Lineage((f"record:{first.id}",))}
    record = make_record("of it", fields=fields, wait=True)
    make_tombstone(first)
    return record


def held() -> LegalHold:
    make_memory().hold(record=rich_record().id)
    return LegalHold.objects.get()


ROWS: dict[str, Any] = {
    "record": rich_record,
    "source": lambda: rich_record().source or Source.objects.get(),
    "scope": lambda: rich_record().scope,
    "legalhold": held,
    "retentionpolicy": lambda: make_policy(max_age_days=7),
    "run": lambda: make_run(target=f"record:{rich_record().id}"),
    "erasurereceipt": lambda: make_receipt(run_id=make_run().id),
    "auditevent": lambda: make_event(target=f"record:{rich_record().id}"),
    "tenant": lambda: Tenant.objects.get(name=rich_record().tenant),
}


def dead(client: Client, address: str) -> set[str]:
    """Return the links of a page that are refused."""
    text = client.get(address).text
    found = re.findall(r'href="(/admin/prism_memory/[^"#]+)"', text)
    pages = {one.replace("&amp;", "&") for one in found}
    assert pages
    return {one for one in pages if client.get(one).status_code == 403}


@pytest.mark.parametrize("name", ROWS)
def test_no_link_is_refused_to_who_sees_it(client: Client, name: str) -> None:
    row = ROWS[name]()
    client.force_login(make_staff(f"view_{name}"))
    assert dead(client, links.row_page(row)) == set()
    wish = {} if name == "tenant" else {"tenant": "acme"}
    if name == "record":
        wish["scope"] = str(row.scope_id)
    assert dead(client, links.list_page(type(row), **wish)) == set()


def test_what_is_not_linked_is_still_said(client: Client) -> None:
    hold = held()
    client.force_login(make_staff("view_legalhold"))
    page = client.get(links.row_page(hold)).text
    assert hold.target_ref in page
    assert links.page(Record, "change", "x").removesuffix("x/change/") not in page


def test_who_may_look_has_the_links(root: Client) -> None:
    record = rich_record()
    page = root.get(links.row_page(record)).text
    for model in (Scope, Source, EmbeddingSpace, AuditEvent):
        assert links.page(model, "changelist") in page, model
    policy = make_policy(max_age_days=7)
    assert "kind=retention" in root.get(links.row_page(policy)).text
    assert RetentionPolicy.objects.count() == 1


def test_links_outlive_no_request(client: Client) -> None:
    record = rich_record()
    client.force_login(make_staff("view_record"))
    client.get(links.row_page(record))
    assert "href" in links.anchor(links.row_page(record.scope), "x")
