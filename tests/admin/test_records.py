"""Records: their words only where visible, searched inside one scope."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from prism_memory.admin import links
from prism_memory.models import Record, Source
from prism_memory.types import Kind, Lineage, SourceRef
from tests.admin.rows import make_event, make_staff, scope_row
from tests.capture import captured
from tests.factories import make_record, make_scope, make_tombstone

pytestmark = pytest.mark.django_db

SECRET = "zanzibar"
WORDS = f"The word is {SECRET}."
PAST = timezone.now() - dt.timedelta(days=1)
FUTURE = timezone.now() + dt.timedelta(days=1)

WITHHELD: dict[str, dict[str, Any]] = {
    "revoked": {"revoked_at": PAST, "visible": False},
    "hidden": {"visible": False},
    "quarantined": {"gate": "quarantined", "gate_markers": [SECRET]},
    "retired": {"retired_at": PAST},
    "expired": {"expires_at": PAST},
    "not yet valid": {"valid_from": FUTURE},
    "no longer valid": {"valid_to": PAST},
    "blocked": {},
}
FIELDS: dict[str, Any] = {
    "lexical_text": WORDS,
    "embed_text": WORDS,
    "metadata": {SECRET: 1},
}


def withheld(why: str) -> Record:
    record = make_record(WORDS, fields=FIELDS, **WITHHELD[why])
    if why == "blocked":
        make_tombstone(record)
    return record


def records(**wish: Any) -> str:
    return links.list_page(Record, tenant="acme", scope=make_scope().id, **wish)


def rows(root: Client, **wish: Any) -> list[Any]:
    return [row.id for row in root.get(records(**wish)).context["window"].rows]


@pytest.mark.parametrize("why", WITHHELD)
def test_withheld_words_are_on_no_page(root: Client, why: str) -> None:
    """B502. Not even for one who may reveal, before the reveal."""
    record = withheld(why)
    make_event(target=f"record:{record.id}")
    with captured() as seen:
        pages = [
            root.get(records()),
            root.get(records(state="withheld")),
            root.get(records(consent="revoked")),
            root.get(links.row_page(record)),
            root.get(links.row_page(record, "consent") + "?visible=1"),
            root.get(links.row_page(record, "history"), follow=True),
        ]
    for page in pages:
        assert page.status_code == 200
        assert SECRET not in page.text
        assert record.key not in page.text
    assert why in pages[1].text
    assert why in pages[3].text
    assert SECRET not in str(record)
    loads = [sql for sql, _ in seen.statements if '"text"' in sql.split("FROM", 1)[0]]
    assert all("revoked_at IS NULL" in sql for sql in loads), "loaded without the rule"


@pytest.mark.parametrize("why", WITHHELD)
def test_a_search_does_not_confirm_withheld_words(root: Client, why: str) -> None:
    """B502."""
    record = withheld(why)
    for wish in ({}, {"state": "withheld"}, {"consent": "revoked"}):
        assert rows(root, q=SECRET, **wish) == []
    assert rows(root, key=record.key) == []
    assert record.key == hashlib.sha256(WORDS.encode()).hexdigest()
    assert rows(root) == [record.id]


def test_withheld_by_what_it_derives_from(root: Client) -> None:
    source = make_record("Ada moved.")
    derived = make_record(WORDS, fields={"lineage": Lineage((f"record:{source.id}",))})
    assert SECRET in root.get(links.row_page(derived)).text
    make_tombstone(source)
    page = root.get(links.row_page(derived)).text
    assert SECRET not in page
    assert "blocked" in page
    assert SECRET not in root.get(links.row_page(source)).text


def test_in_strict_mode_what_nobody_consented_to_is_withheld(
    root: Client, settings: Any
) -> None:
    record = make_record(WORDS, visible=None)
    assert SECRET in root.get(links.row_page(record)).text
    with override_settings(
        PRISM_MEMORY={**settings.PRISM_MEMORY, "REQUIRE_CONSENT": True}
    ):
        page = root.get(links.row_page(record)).text
        assert SECRET not in page
        assert "no consent" in page
        assert SECRET not in root.get(records()).text


def test_a_secret_that_was_set_later_is_masked_in_the_list(
    root: Client, settings: Any
) -> None:
    """B133. Also where the preview ends within it."""
    make_record(f"Say {SECRET}.")
    make_record("x " * 70 + SECRET * 20)
    assert SECRET in root.get(records()).text
    with override_settings(
        PRISM_MEMORY={**settings.PRISM_MEMORY, "SECRETS": (SECRET, SECRET * 20)}
    ):
        page = root.get(records()).text
    assert "Say [redacted]." in page
    assert SECRET[:5] not in page


def test_visible_words_are_shown_and_searched(root: Client) -> None:
    record = make_record("Grace plays the cello.", fields={"metadata": {"a": 1}})
    make_record("Ada likes tea.")
    assert rows(root, q="cello") == [record.id]
    assert rows(root, q="cellos playing grace") == [record.id]
    assert rows(root, q='"plays the cello" -tea') == [record.id]
    assert rows(root, q="grace tea") == []
    assert len(rows(root, q="grace or tea")) == 2
    page = root.get(links.row_page(record)).text
    assert "Grace plays the cello." in page
    assert "&quot;a&quot;: 1" in page


@pytest.mark.parametrize("q", ["'", "\\", "& | !", "(", "\x1f", "%", "<->", ":*", "🙂"])
def test_any_search_is_answered(root: Client, q: str) -> None:
    make_record()
    assert root.get(records(q=q)).status_code == 200


def test_a_search_that_is_too_long_or_holds_nul_is_refused(root: Client) -> None:
    make_record()
    for q in ("x" * 5_000, "\0"):
        answer = root.get(records(q=q))
        assert answer.status_code == 200
        assert answer.context["window"].rows == []
        assert "nothing is listed" in answer.text


def test_each_owner_lists_and_finds_their_own_only(root: Client) -> None:
    """case_C01."""
    owners = ["john_doe", "john-doe", "john", "johnny", "%", "a\\_b", "a.b", "A", "a"]
    mine = {
        name: make_record(f"A secret of {name}.", scope=make_scope(owner=name))
        for name in owners
    }
    for owner in owners:
        check_they_list_their_own_only(root, owner, mine[owner])


def check_they_list_their_own_only(root: Client, owner: str, mine: Record) -> None:
    scope = make_scope(owner=owner)
    for wish in ({}, {"q": "secret"}, {"state": "visible"}):
        page = root.get(links.list_page(Record, tenant="acme", scope=scope.id, **wish))
        assert [row.id for row in page.context["window"].rows] == [mine.id]
    scopes = root.get(
        links.list_page(type(scope_row(scope)), tenant="acme", owner=owner)
    )
    assert [row.id for row in scopes.context["window"].rows] == [scope.id]


def test_without_a_scope_no_record_is_listed(root: Client) -> None:
    """case_C04."""
    make_record()
    other = make_record(scope=make_scope(tenant="globex"))
    for scope in ("", "x", other.scope_id):
        for wish in ({}, {"q": "tea"}, {"state": "visible"}, {"state": "withheld"}):
            address = links.list_page(Record, tenant="acme", scope=scope, **wish)
            answer = root.get(address)
            assert answer.status_code == 200
            assert "Choose a scope" in answer.text
            assert answer.context["window"].rows == []


def test_records_are_narrowed_by_what_they_are(root: Client) -> None:
    turn = make_record(
        "Hello.", fields={"kind": Kind.TURN, "key": "t%", "source": SourceRef("s-1")}
    )
    gated = make_record("Gated.", gate="quarantined")
    none = make_record("No consent.", visible=None)
    source = Source.objects.get(tenant="acme")
    assert rows(root, kind="turn") == [turn.id]
    assert rows(root, key="t%") == [turn.id]
    assert rows(root, key="t_") == []
    assert rows(root, source=source.id) == [turn.id]
    assert rows(root, gate="quarantined") == [gated.id]
    assert rows(root, consent="none") == [none.id]
    assert rows(root, state="withheld") == [gated.id]
    assert rows(root, state="visible") == [none.id, turn.id]
    assert rows(root, trust="tool") == []


def test_a_foreign_source_is_not_found(root: Client) -> None:
    make_record()
    assert root.get(records(source=make_scope().id)).status_code == 404


def test_lineage_leads_both_ways(root: Client) -> None:
    source = make_record("Ada moved.", fields={"key": "move"})
    derived = make_record(
        "Ada lives in Porto.",
        fields={"key": "home", "lineage": Lineage(("move", "msg-1"))},
    )
    down = root.get(links.row_page(source)).text
    assert links.row_page(derived) in down
    assert "Entry home" in down
    up = root.get(links.row_page(derived)).text
    assert links.row_page(source) in up
    assert f"ext:{make_scope().id}:msg-1" in up


def test_nothing_that_is_stored_runs_or_hides(root: Client) -> None:
    live = "<script>alert(1)</script>"
    scope = make_scope(tenant=f"t{live}", owner=f"o{live}\u202e", agent="", thread="")
    record = make_record(
        f"{live} zero\u200bwidth \U000e0041 \u202e",
        scope=scope,
        fields={"key": f"k{live}\u200b", "metadata": {live: f"{live}\u2066"}},
    )
    row = scope_row(scope)
    pages = [
        links.row_page(record),
        links.row_page(row),
        links.list_page(Record, tenant=scope.tenant, scope=scope.id),
        links.list_page(type(row), tenant=scope.tenant),
        links.row_page(record, "consent") + "?visible=0",
        links.list_page(type(row)),
    ]
    for address in pages:
        text = root.get(address).text
        assert "<script>alert" not in text
        assert not set("\u200b\u202e\u2066\U000e0041") & set(text), address
    first = root.get(pages[0]).text
    assert "U+200B" in first
    assert "U+E0041" in first
    assert "&lt;script&gt;" in first


def test_configured_secrets_are_not_shown(root: Client, settings: Any) -> None:
    text = f"{'x ' * 78}hunter2 is it."
    record = make_record(text, fields={"metadata": {"a": "hunter2"}})
    with override_settings(
        PRISM_MEMORY={**settings.PRISM_MEMORY, "SECRETS": ("hunter2",)}
    ):
        assert "hunter2" not in root.get(links.row_page(record)).text
        assert "hunt" not in root.get(records()).text


def test_words_need_the_permission_to_view_records(client: Client) -> None:
    record = make_record(WORDS)
    client.force_login(make_staff("view_scope", "view_source", "view_auditevent"))
    for address in (records(), links.row_page(record)):
        assert client.get(address).status_code == 403
    page = client.get(links.row_page(scope_row())).text
    assert SECRET not in page
    client.force_login(make_staff("view_record", name="vic"))
    assert SECRET in client.get(links.row_page(record)).text
