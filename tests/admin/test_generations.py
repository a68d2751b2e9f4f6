"""Generations on a scope's page: shown, and chosen with a reason."""

from __future__ import annotations

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent
from tests.admin.rows import make_staff, scope_row
from tests.factories import make_memory, make_record, make_scope

pytestmark = pytest.mark.django_db


def address() -> str:
    return links.row_page(scope_row(), "generation")


def test_a_person_chooses_with_a_reason(client: Client) -> None:
    """B210."""
    make_record("tea", generation=1)
    user = make_staff("view_scope", "change_scope")
    client.force_login(user)
    page = client.get(links.row_page(scope_row())).text
    assert address() in page
    assert "Generations of its documents" in page
    asked = client.get(address()).text
    assert "Which generation shall be seen?" in asked
    refused = client.post(address(), {"generation": "-1", "reason": "x"}).text
    assert "greater than or equal to 0" in refused
    client.post(address(), {"generation": "2", "reason": "new texts"})
    assert make_memory().generations().current == 2
    event = AuditEvent.objects.get(action="scope.set_generation")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "new texts")
    assert "seen" in client.get(links.row_page(scope_row())).text
    client.post(address(), {"generation": "", "reason": "back"})
    assert make_memory().generations().current is None


def test_who_only_looks_may_not_choose(client: Client) -> None:
    make_record("tea", generation=1)
    client.force_login(make_staff("view_scope"))
    assert address() not in client.get(links.row_page(scope_row())).text
    for answer in (client.get(address()), client.post(address(), {"reason": "x"})):
        assert answer.status_code == 403
    assert make_memory().generations().current is None


def test_a_scope_without_generations_shows_none(root: Client) -> None:
    make_record("tea", scope=make_scope())
    page = root.get(links.row_page(scope_row())).text
    assert "Generations of its documents" not in page
    assert address() not in page
