"""Pages as such: read-only, open to those who may look, empty states in words."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from prism_memory.admin import links
from prism_memory.admin.runs import duration, progress
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    AuditSeal,
    EmbeddingSpace,
    RecallTrace,
    Record,
    Run,
    Scope,
    Source,
    Tenant,
    Tombstone,
)
from prism_memory.types import Kind, Lineage, SourceRef
from tests.admin.rows import (
    make_event,
    make_key,
    make_run,
    make_staff,
    make_trace_row,
    scope_row,
)
from tests.factories import NOON, make_record, make_scope, make_tombstone
from tests.governed import make_seal

pytestmark = pytest.mark.django_db

ALL = (
    Tenant,
    Scope,
    Source,
    Record,
    Tombstone,
    EmbeddingSpace,
    RecallTrace,
    Run,
    AuditEvent,
    AuditSeal,
    AccessKey,
)


@pytest.mark.parametrize("model", ALL)
def test_no_page_adds_changes_or_deletes(root: Client, rf: Any, model: Any) -> None:
    """B502."""
    make_record()
    make_run()
    make_event()
    make_seal("acme")
    make_key()
    make_tombstone(make_record("Another."))
    page = admin.site.get_model_admin(model)
    request = rf.get("/")
    request.user = make_staff()
    assert not page.has_change_permission(request)
    assert not page.has_delete_permission(request)
    assert not page.has_add_permission(request)
    assert page.get_actions(request) == {}
    row = model.objects.first()
    if row is None:
        return
    before = model.objects.count()
    for name in ("delete", "change"):
        answer = root.post(links.row_page(row, name), {"post": "yes", "label": "x"})
        assert answer.status_code in {200, 403}, name
        assert model.objects.count() == before
    posted = {"action": "delete_selected", "_selected_action": [str(row.pk)]}
    root.post(links.list_page(model, tenant="acme"), posted)
    assert model.objects.count() == before
    if model is not AccessKey:
        assert root.get(links.page(model, "add")).status_code == 403
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("model", ALL)
def test_looking_needs_the_models_own_permission(client: Client, model: Any) -> None:
    make_record()
    make_key()
    name = model._meta.model_name
    others = [f"view_{m._meta.model_name}" for m in ALL if m is not model]
    client.force_login(make_staff(*others))
    addresses = [links.list_page(model), links.list_page(model, tenant="acme")]
    if (row := model.objects.first()) is not None:
        addresses += [links.row_page(row), links.row_page(row, "history")]
    for address in addresses:
        assert client.get(address).status_code == 403
    tab = f'{links.list_page(model, tenant="acme")}"'
    other = Scope if model is not Scope else Run
    assert tab not in client.get(links.list_page(other, tenant="acme")).text
    client.force_login(make_staff(f"view_{name}", name="vic"))
    assert client.get(addresses[1]).status_code == 200


def test_strangers_are_sent_to_the_login(client: Client) -> None:
    record = make_record()
    for address in (links.list_page(Scope), links.row_page(record, "reveal")):
        assert client.get(address).status_code == 302


@pytest.mark.parametrize("model", [Source, Tombstone, RecallTrace, Run, AuditEvent])
def test_an_empty_list_says_so(root: Client, model: Any) -> None:
    make_record()
    page = root.get(links.list_page(model, tenant="acme")).text
    assert "pm-empty" in page
    narrowed = {"target": "x", "key": "x", "owner": "x"}
    page = root.get(links.list_page(model, tenant="acme", **narrowed)).text
    assert "Nothing fits the filter" in page


def test_a_fresh_installation_has_words_for_it(root: Client) -> None:
    for model in ALL:
        page = root.get(links.list_page(model)).text
        assert "yet" in page or "No key here" in page


def test_scopes_form_a_tree_with_counts(root: Client) -> None:
    for scope in (
        make_scope(owner="", agent="", thread=""),
        make_scope(agent="", thread=""),
        make_scope(thread=""),
        make_scope(),
    ):
        make_record(scope=scope)
    make_record("Another.")
    answer = root.get(links.list_page(Scope, tenant="acme"))
    counts = [row.records for row in answer.context["window"].rows]
    assert counts == [1, 1, 1, 2]
    for depth in range(4):
        assert f"pm-depth-{depth}" in answer.text
    row = scope_row()
    page = root.get(links.row_page(row)).text
    assert (
        links.list_page(Record, tenant="acme", scope=row.id).replace("&", "&amp;")
        in page
    )
    assert "thread=chat-1" in page


def test_counting_a_scope_is_bounded(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prism_memory.admin.scopes.MOST_COUNTED", 2)
    for i in range(4):
        make_record(f"Fact {i}.")
    assert "2+" in root.get(links.list_page(Scope, tenant="acme")).text


def test_runs_show_progress_state_and_silence(root: Client) -> None:
    make_run(counts={"done": 340, "total": 1_000}, target="a")
    old = timezone.now() - dt.timedelta(hours=1)
    make_run(kind="quiet", heartbeat_at=old, started_at=old)
    make_run(kind="broken", state="failed", error="The <b>embedder</b> is down.")
    page = root.get(links.list_page(Run, tenant="acme")).text
    assert '<progress max="1000" value="340"' in page
    assert "no sign of life" in page
    assert "The &lt;b&gt;embedder&lt;/b&gt; is down." in page
    assert (
        len(
            root.get(links.list_page(Run, tenant="acme", state="failed"))
            .context["window"]
            .rows
        )
        == 1
    )
    assert "Last sign of life" in root.get(links.row_page(Run.objects.all()[0])).text


def test_counts_are_told_in_words() -> None:
    told = str(
        progress(
            Run(
                kind="import",
                counts={"held": 1, "parts": 1, "prism_memory_legalhold": 1_200},
            )
        )
    )
    assert told == "left out, hidden for a hold: 1; files: 1; legal holds: 1,200"


def test_counts_of_any_shape_are_shown() -> None:
    assert "<progress" not in str(
        progress(Run(kind="import", counts={"done": 1, "total": 0}))
    )
    assert str(progress(Run(kind="import", counts={"<b>": [1]}))) == "&lt;b&gt;: [1]"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (-5, "0 s"),
        (83, "1 min 23 s"),
        (3_600, "1 h 0 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_read_well(seconds: int, words: str) -> None:
    assert duration(dt.timedelta(seconds=seconds)) == words


def test_tombstones_are_narrowed(root: Client) -> None:
    record = make_record()
    ref = f"record:{record.id}"
    force = make_tombstone(record, hold=True, reason="legal_hold")
    lifted = make_tombstone(record, cleared_at=timezone.now(), supersedes_ref=ref)

    def found(**wish: str) -> list[Any]:
        answer = root.get(links.list_page(Tombstone, tenant="acme", **wish))
        return [row.id for row in answer.context["window"].rows]

    assert found(state="force") == [force.id]
    assert found(state="lifted") == [lifted.id]
    assert found(reason="legal_hold") == [force.id]
    assert set(found(target=ref)) == {force.id, lifted.id}
    assert "in force" in root.get(links.row_page(force)).text
    assert "Replaces" in root.get(links.row_page(lifted)).text


def test_an_event_links_what_it_speaks_of(root: Client) -> None:
    record, key = make_record(), make_key()
    event = make_event(
        target=f"record:{record.id}", actor=f"key:{key.id}", detail={"n": 1}
    )
    page = root.get(links.row_page(event)).text
    assert links.row_page(record) in page
    assert links.row_page(key) in page
    odd = make_event(target="record:<b>", actor="space:1" + "0" * 40)
    assert "record:&lt;b&gt;" in root.get(links.row_page(odd)).text


def rows_with_all_parts() -> list[Any]:
    """Return one row of each kind, with every optional part of its page filled."""
    turn = {"kind": Kind.TURN, "source": SourceRef("s-1"), "key": "turn"}
    record = make_record(fields=turn, wait=True)
    ranged = make_record("A range.", fields={**turn, "key": "ranged"})
    Record.objects.filter(id=ranged.id).update(line_start=3, line_end=5)
    derived = make_record(
        "Derived.", fields={"key": "derived", "lineage": Lineage(("turn", "msg-1"))}
    )
    ref, target = f"record:{record.id}", {"target": f"record:{record.id}"}
    return [
        *(record, ranged, derived, make_key(), make_event(**target, actor="space:1")),
        *(make_run(**target, counts={"done": 1, "total": 2}), scope_row()),
        *(make_tombstone(derived, supersedes_ref=ref), *Source.objects.all()),
        *(*EmbeddingSpace.objects.all(), Tenant.objects.get(name="acme")),
        make_trace_row(record.id, degraded="some records have no vector yet"),
        make_seal("acme", content=bytes(32), violations=1, pruned_at=NOON),
    ]


def test_html_is_never_shown_as_text(root: Client) -> None:
    """A part that lost its mark as safe is escaped, so a tag's ends are entities."""
    rows = rows_with_all_parts()
    assert {type(row) for row in rows} == set(ALL)
    for row in rows:
        for address in (links.row_page(row), links.list_page(type(row), tenant="acme")):
            text = root.get(address).text
            escaped = re.findall(r"&lt;/?(?:a|b|code|em|span|strong|time)\b.*", text)
            assert not escaped, address


def test_a_records_source_is_a_link_with_and_without_lines(root: Client) -> None:
    whole, ranged, *_ = rows_with_all_parts()
    source = Source.objects.get(tenant="acme")
    link = f'<a href="{links.row_page(source)}">s-1</a>'
    assert link in root.get(links.row_page(whole)).text
    page = root.get(links.row_page(ranged)).text
    assert link in page
    assert "all its records</a> · lines 3 to 5" in page


def test_a_source_counts_its_records_up_to_a_bound(
    root: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        turn = {"kind": Kind.TURN, "source": SourceRef("s-1", n), "key": f"t{n}"}
        make_record(f"Turn {n}.", fields=turn)
    source = Source.objects.get(tenant="acme")
    answer = root.get(links.list_page(Source, tenant="acme"))
    assert [row.records for row in answer.context["window"].rows] == [4]
    assert "First writer" in answer.text
    assert "<dt>Records</dt><dd>4</dd>" in root.get(links.row_page(source)).text
    monkeypatch.setattr("prism_memory.admin.sources.MOST_COUNTED", 2)
    assert ">2+</a>" in root.get(links.list_page(Source, tenant="acme")).text
