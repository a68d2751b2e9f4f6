"""Pages of recalls: why an agent said it, in ids and numbers."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import RecallTrace
from prism_memory.types import Scope, uuid7
from tests.admin.rows import make_staff, make_trace_row
from tests.factories import NOON, make_record, make_scope

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


def listed(root: Client, **wish: Any) -> list[Any]:
    answer = root.get(links.list_page(RecallTrace, tenant="acme", **wish))
    return [row.id for row in answer.context["window"].rows]


def test_recalls_are_listed_by_time_and_scope(root: Client) -> None:
    make_record()
    old = make_trace_row(at=NOON - DAY)
    new = make_trace_row()
    other = make_trace_row(scope=make_scope(owner="bob"), at=NOON + DAY)
    assert listed(root) == [other.id, new.id, old.id]
    assert listed(root, scope=make_scope().id) == [new.id, old.id]
    assert listed(root, owner="bob") == [other.id]
    assert listed(root, since="2026-01-01T00:00:00", owner="ada") == [new.id]


def test_a_page_shows_each_hit_with_its_record_and_why(root: Client) -> None:
    record = make_record("Ada drinks tea.")
    gone = uuid7()
    row = make_trace_row(
        record.id,
        gone,
        degraded="some records have no vector yet",
        options={"weights": {"text": 0.25}, "narrowed_by": ["kinds", "filter"]},
    )
    page = root.get(links.row_page(row)).text
    assert links.row_page(record) in page
    assert "no longer there" in page
    for words in ("0.9000", "bm25 1.5", "text 1", "candidates", "1.25"):
        assert words in page
    for words in ("some records have no vector yet", "text 0.25", "kinds, filter"):
        assert words in page
    assert "drinks" not in page


def test_a_recall_without_hits_says_so(root: Client) -> None:
    make_record()
    row = make_trace_row(options={}, timings_ms={})
    page = root.get(links.row_page(row)).text
    assert "Nothing was found." in page
    assert page.count("None.") == 2


def test_another_tenants_recall_is_not_shown(root: Client) -> None:
    """B22."""
    theirs = make_scope(tenant="globex")
    record = make_record(scope=theirs)
    row = make_trace_row(record.id, scope=theirs)
    make_record()
    assert listed(root) == []
    foreign = links.page(RecallTrace, "change", f"{row.id}~acme")
    assert root.get(foreign).status_code == 404
    mine = make_trace_row(record.id)
    page = root.get(links.row_page(mine)).text
    assert "no longer there" in page, "an id of another tenant names nothing here"


def test_names_of_a_scope_are_shown_escaped(root: Client) -> None:
    make_record()
    make_trace_row(scope=Scope("acme", "<b>ada</b>"))
    page = root.get(links.list_page(RecallTrace, tenant="acme")).text
    assert "&lt;b&gt;ada&lt;/b&gt;" in page


def test_recalls_have_their_tab(client: Client) -> None:
    make_record()
    client.force_login(make_staff("view_recalltrace"))
    page = client.get(links.list_page(RecallTrace, tenant="acme")).text
    assert "Recalls" in page
