"""Lists: few queries, no counting of tables, and every row within reach."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import keyset, links
from prism_memory.admin.readonly import PER_PAGE
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    EmbeddingSpace,
    Fact,
    Record,
    Review,
    Run,
    Scope,
    Source,
    Tenant,
    Tombstone,
)
from prism_memory.types import Lineage, Origin, SourceRef, Trust
from tests.admin.rows import make_event, make_key, make_run
from tests.capture import captured
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
)

pytestmark = pytest.mark.django_db


def ours(root: Client, address: str) -> list[str]:
    """The statements of a page on this app's tables and catalogue."""
    with captured() as seen:
        assert root.get(address).status_code == 200
    return [
        sql for sql, _ in seen.statements if "prism_memory_" in sql or "pg_index" in sql
    ]


def fill(rows: int) -> None:
    for i in range(rows):
        scope = make_scope(owner=f"owner-{i}")
        remember("A secret.", scope=scope, source=SourceRef(f"s-{i}"))
        make_run(kind=f"{rows}-{i}")
        make_event()
        make_key(scope)
    remember(*(f"A fact numbered {i}." for i in range(rows)))
    for record in Record.objects.filter(tenant="acme"):
        make_tombstone(record, cleared_at=record.created_at)


LISTS = [
    # the tenant; the rows; the counts of the scopes' records
    (Scope, {}, 3),
    # the tenant; the rows with their scopes; the counts of their records
    (Source, {}, 3),
    (Tombstone, {}, 2),
    (Run, {}, 2),
    (AuditEvent, {}, 2),
    (AccessKey, {}, 2),
    # the tenant; the rows; the indexes; the queues
    (EmbeddingSpace, {}, 4),
    # the tenant; the scope; the rows; the words of those that are visible
    (Record, {"scope": make_scope().id}, 4),
    (Record, {"scope": make_scope().id, "q": "fact"}, 4),
    (Record, {"scope": make_scope().id, "state": "withheld"}, 3),
]


@pytest.mark.parametrize(("model", "wish", "queries"), LISTS)
def test_a_list_takes_as_many_queries_for_many_rows_as_for_one(
    root: Client, model: Any, wish: dict[str, Any], queries: int
) -> None:
    address = links.list_page(model, tenant="acme", **wish)
    fill(1)
    assert len(ours(root, address)) == queries
    fill(8)
    assert len(ours(root, address)) == queries


def test_a_record_takes_as_many_queries_however_much_derives_from_it(
    root: Client,
) -> None:
    record = make_record()
    fields = {"lineage": Lineage((f"record:{record.id}",))}
    make_record("Derived.", fields=fields)
    address = links.row_page(record)
    # its words; decisions; lineage up and down, their keys; tombstones; spaces,
    # vectors; what hides and keeps it, its holds; what it waits for
    assert len(ours(root, address)) == 12
    for i in range(9):
        make_record(f"Derived {i}.", fields=fields)
    assert len(ours(root, address)) == 12


def test_lists_of_claims_take_as_many_queries_for_many_scopes_as_for_one(
    root: Client,
) -> None:
    def claim(number: int) -> None:
        scope = make_scope(owner=f"owner-{number}")
        cited = make_record("She said it.", scope=scope).id
        memory = make_memory(scope)
        memory.facts.assert_fact("Ada", "is", str(number), evidence=[cited])
        tool = make_memory(scope, origin=Origin(Trust.TOOL, "crm"))
        (told,) = tool.remember(f"Told {number}.").accepted
        memory.facts.assert_fact("Ada", "has", str(number), evidence=[told])

    # the tenant; the rows; what of them are facts, their versions, the first words of
    # what is visible; of reviews, the counts by reason
    wanted = {Fact: 5, Review: 6}
    claim(0)
    for model, queries in wanted.items():
        assert len(ours(root, links.list_page(model, tenant="acme"))) == queries
    for number in range(1, 5):
        claim(number)
    for model, queries in wanted.items():
        found = ours(root, links.list_page(model, tenant="acme"))
        assert len(found) == queries, model
        counting = [sql for sql in found if "count(" in sql.lower()]
        assert all("LIMIT" in sql for sql in counting)


@pytest.mark.parametrize(("model", "wish", "queries"), LISTS)
def test_no_list_counts_a_table(
    root: Client, model: Any, wish: dict[str, Any], queries: int
) -> None:
    fill(2)
    for sql in ours(root, links.list_page(model, tenant="acme", **wish)):
        counting = "count(" in sql.lower()
        bounded = "LIMIT" in sql or "vector IS NULL" in sql
        assert not counting or bounded, sql


def walk(root: Client, address: str, rel: str) -> list[list[Any]]:
    pages = []
    while True:
        answer = root.get(address)
        pages.append([row.pk for row in answer.context["window"].rows])
        link = re.search(rf'rel="{rel}" href="([^"]+)"', answer.text)
        if link is None:
            return pages
        address = address.partition("?")[0] + html.unescape(link.group(1))


def test_a_list_of_records_ends_with_its_last_row(root: Client) -> None:
    """case_C34."""
    ids = remember(*(f"Fact {i}." for i in range(2 * PER_PAGE + 7)))
    address = links.list_page(Record, tenant="acme", scope=make_scope().id)
    pages = walk(root, address, "next")
    assert [len(page) for page in pages] == [PER_PAGE, PER_PAGE, 7]
    assert [pk for page in pages for pk in page] == ids[::-1]
    back = walk(root, address + "&end=1", "prev")
    assert [pk for page in back[::-1] for pk in page] == ids[::-1]
    assert back[0][-1] == ids[0]


def test_scopes_and_tenants_list_to_their_end(root: Client) -> None:
    """case_C34."""
    owners = [f"owner-{i:03}" for i in range(PER_PAGE + 3)]
    for owner in owners:
        make_record(scope=make_scope(tenant=owner, owner=owner))
        make_record(scope=make_scope(owner=owner))
    scopes = walk(root, links.list_page(Scope, tenant="acme"), "next")
    names = Scope.objects.filter(tenant="acme").order_by("owner", "agent", "thread")
    assert [pk for page in scopes for pk in page] == [row.pk for row in names]
    tenants = walk(root, links.list_page(Tenant), "next")
    assert [pk for page in tenants for pk in page] == ["acme", *owners]


def test_the_filter_stays_from_page_to_page(root: Client) -> None:
    """case_C34."""
    for i in range(PER_PAGE + 1):
        make_event(action="a&b=c", target=f"key:{i}")
        make_event(action="other")
    address = links.list_page(AuditEvent, tenant="acme", action="a&b=c")
    assert [len(page) for page in walk(root, address, "next")] == [PER_PAGE, 1]


def test_rows_added_while_paging_hide_none_and_repeat_none(root: Client) -> None:
    ids = remember(*(f"Fact {i}." for i in range(PER_PAGE + 5)))
    address = links.list_page(Record, tenant="acme", scope=make_scope().id)
    first = root.get(address).context["window"]
    remember(*(f"Later {i}." for i in range(10)))
    second = root.get(f"{address}&after={first.next}").context["window"]
    seen = [row.pk for row in (*first.rows, *second.rows)]
    assert seen == ids[::-1]


@pytest.mark.parametrize(
    "cursor",
    ["x", "!!", "bnVsbA", "WzEsMl0", "W10", "WzEsIngiXQ", "é", "A" * 9_000, "Ww"],
)
@pytest.mark.parametrize("model", [Scope, Run, AuditEvent, Tombstone])
def test_a_cursor_that_is_none_is_refused(
    root: Client, model: Any, cursor: str
) -> None:
    make_record()
    answer = root.get(links.list_page(model, tenant="acme", after=cursor))
    assert answer.status_code == 400


def test_a_cursor_may_hold_any_name() -> None:
    order = keyset.Order(("owner", "agent", "thread"))
    row = Scope(tenant="acme", owner="ä\n%", agent="", thread="'\\")
    cursor = keyset._cursor(order, row)
    assert keyset._values(Scope, order, cursor) == ["ä\n%", "", "'\\"]


def test_lookups_from_the_address_are_ignored(root: Client) -> None:
    make_record("The code is 1234.", gate="quarantined")
    address = links.list_page(
        Record, tenant="acme", scope=make_scope().id, text__startswith="nothing"
    )
    assert len(root.get(address).context["window"].rows) == 1


def test_a_filter_that_is_wrong_lists_nothing(root: Client) -> None:
    make_event()
    answer = root.get(links.list_page(AuditEvent, tenant="acme", since="yesterday"))
    assert answer.context["window"].rows == []
    assert "nothing is listed" in answer.text


def test_events_are_narrowed_by_time_action_actor_and_target(root: Client) -> None:
    event = make_event(action="x.y", actor="user:1", target="key:z", at=NOON)
    make_event(action="other", actor="user:2", target="key:q", at=NOON.replace(day=2))
    wishes = [
        {"action": "x.y"},
        {"actor": "user:1"},
        {"target": "key:z"},
        {"until": "2026-01-02T12:00:00", "since": "2026-01-01T12:00:00"},
    ]
    for wish in wishes:
        answer = root.get(links.list_page(AuditEvent, tenant="acme", **wish))
        assert answer.context["window"].rows == [event], wish
