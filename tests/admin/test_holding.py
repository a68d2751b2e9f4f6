"""A hold on a source, or on a scope with all below it: placed, seen and released."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent, LegalHold, Record, Source
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import SourceRef
from tests.admin.rows import make_staff, scope_row
from tests.factories import make_memory, make_record, make_scope

pytestmark = pytest.mark.django_db

OWNER = {"agent": "", "thread": ""}


@pytest.fixture(params=["source", "scope"])
def row(request: pytest.FixtureRequest) -> Source | ScopeRow:
    make_record("a turn", fields={"source": SourceRef("chat")})
    make_record("a note", scope=make_scope(thread="chat-2"))
    make_record("of the owner", scope=make_scope(**OWNER))
    make_record("of another", scope=make_scope(owner="bob"))
    if request.param == "source":
        return Source.objects.select_related("scope").get()
    return scope_row(make_scope(**OWNER))


def give(client: Client, row: Any, page: str, **given: str) -> Any:
    values = {"reason": "asked", **given}
    return client.post(links.row_page(row, page), values, follow=True)


def test_placed_with_its_effect_and_released_there(
    client: Client, row: Source | ScopeRow
) -> None:
    """B154."""
    name = str(row._meta.model_name)
    rights = (f"view_{name}", "view_legalhold", "add_legalhold", "change_legalhold")
    client.force_login(make_staff(*rights))
    assert "Place hold" in client.get(links.row_page(row)).text
    kept = {"source": "keeps 1 record", "scope": "keeps 3 records"}[name]
    ask = client.get(links.row_page(row, "hold")).text
    assert kept in ask
    assert "What is written there later is kept too." in ask
    give(client, row, "hold", reason=" ")
    assert not LegalHold.objects.exists()
    done = give(client, row, "hold", matter="case 7").text
    assert "The hold was placed." in done
    hold = LegalHold.objects.get()
    assert (hold.target_ref, hold.matter) == (f"{name}:{row.pk}", "case 7")
    assert links.row_page(hold, "release") in done
    one = Record.objects.filter(scope__owner="ada", source__key="chat").get()
    assert make_memory().forget(one.id).deleted == 0
    give(client, hold, "release")
    assert "case 7" not in client.get(links.row_page(row)).text
    assert make_memory().forget(one.id).deleted == 1
    assert AuditEvent.objects.filter(action="hold.place", reason="asked").exists()


def test_a_secret_in_the_matter_is_not_stored(
    root: Client, row: Source | ScopeRow, settings: Any
) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"SECRETS": ["hunter2"]}
    give(root, row, "hold", matter="case hunter2")
    assert LegalHold.objects.get().matter == "case [redacted]"


def test_it_needs_the_permission(client: Client, row: Source | ScopeRow) -> None:
    client.force_login(make_staff(f"view_{row._meta.model_name}", "view_legalhold"))
    assert "Place hold" not in client.get(links.row_page(row)).text
    assert client.get(links.row_page(row, "hold")).status_code == 403
    assert give(client, row, "hold").status_code == 403
    assert not LegalHold.objects.exists()


def test_who_may_not_look_at_holds_sees_none(
    client: Client, row: Source | ScopeRow
) -> None:
    client.force_login(make_staff(f"view_{row._meta.model_name}", "add_legalhold"))
    give(client, row, "hold", matter="case 7")
    assert LegalHold.objects.count() == 1
    assert "case 7" not in client.get(links.row_page(row)).text


def test_another_tenants_row_is_not_found(root: Client, row: Any) -> None:
    address = links.row_page(row, "hold").replace("acme", "globex")
    assert root.post(address, {"reason": "x"}).status_code == 404
    assert not LegalHold.objects.exists()
