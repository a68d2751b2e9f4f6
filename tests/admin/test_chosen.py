"""Records chosen in a list: forgotten, or their consent revoked, all or none."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.errors import LimitExceeded
from prism_memory.models import AuditEvent, Record
from prism_memory.types import Lineage
from tests.admin.rows import make_staff, scope_row
from tests.factories import make_edge, make_memory, make_record, make_scope

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


@pytest.fixture
def ids() -> list[uuid.UUID]:
    """Two, from the first of which a third derives."""
    one = make_record(SECRET, fields={"key": "move"})
    make_record("derived", fields={"lineage": Lineage(("move",))})
    return [one.id, make_record("another").id]


def listed(page: str = "changelist") -> str:
    wish = {"tenant": "acme", "scope": str(scope_row().id)}
    return links.with_wish(links.page(Record, page), wish)


def choose(client: Client, verb: str, ids: list[Any], **given: str) -> Any:
    values = {"verb": verb, "ids": [str(one) for one in ids], **given}
    return client.post(listed("chosen"), values, follow=True)


def act(client: Client, verb: str, ids: list[Any], reason: str = "asked") -> Any:
    return choose(client, verb, ids, do="1", reason=reason)


def test_forgotten_once_their_effect_was_shown(
    client: Client, ids: list[uuid.UUID]
) -> None:
    user = make_staff("view_record", "delete_record")
    client.force_login(user)
    page = client.get(listed()).text
    assert f'value="{ids[0]}"' in page
    assert "Revoke consent</button>" not in page
    ask = choose(client, "forget", ids).text
    assert "2 chosen records go, and 1 derived from them." in ask
    assert SECRET not in ask
    act(client, "forget", ids, reason=" ")
    assert Record.objects.count() == 3
    assert "3 records were deleted" in act(client, "forget", ids).text
    assert not Record.objects.exists()
    event = AuditEvent.objects.get(action="memory.forget")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "asked")


def test_what_holds_keep_is_told(root: Client, ids: list[uuid.UUID]) -> None:
    make_memory().hold(record=ids[1])
    ask = choose(root, "forget", ids).text
    assert "1 chosen record goes, and 1 derived from them." in ask
    assert "Holds keep 1." in ask
    act(root, "forget", ids)
    assert [row.id for row in Record.objects.all()] == [ids[1]]


def test_revoked_once_their_effect_was_shown(
    client: Client, ids: list[uuid.UUID]
) -> None:
    client.force_login(make_staff("view_record", "change_record"))
    ask = choose(client, "revoke", ids).text
    assert "2 chosen records are hidden, and 1 derived from them." in ask
    assert len(make_memory().list().items) == 3
    assert "Consent was revoked." in act(client, "revoke", ids).text
    assert not make_memory().list().items
    events = AuditEvent.objects.filter(action="memory.set_consent", reason="asked")
    assert events.count() == 2


def test_all_are_revoked_or_none(
    root: Client, ids: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    revoke = lifecycle.set_consent

    def fails_at_the_last(**given: Any) -> None:
        if given["record_id"] == max(ids):
            raise LimitExceeded
        revoke(**given)

    monkeypatch.setattr(lifecycle, "set_consent", fails_at_the_last)
    assert "Consent was revoked." not in act(root, "revoke", ids).text
    assert len(make_memory().list().items) == 3
    assert not AuditEvent.objects.exists()


def test_very_much_lineage_is_told_and_nothing_goes(
    root: Client, ids: list[uuid.UUID]
) -> None:
    """B160."""
    last = Record.objects.get(id=ids[1])
    for n in range(9):
        row = make_record(f"Step {n}.")
        make_edge(row, last)
        last = row
    assert "cannot be forgotten here together" in choose(root, "forget", ids).text
    act(root, "forget", ids)
    assert Record.objects.count() == 12


def test_those_of_other_scopes_are_no_part(root: Client, ids: list[uuid.UUID]) -> None:
    theirs = [
        make_record("b", scope=make_scope(owner="bob")).id,
        make_record("c", scope=make_scope(tenant="globex")).id,
    ]
    assert "No record was chosen." in act(root, "forget", theirs).text
    ask = choose(root, "forget", [*theirs, ids[1]]).text
    assert "1 chosen record goes, and 0 derived from them." in ask
    assert str(theirs[0]) not in ask
    act(root, "forget", [*theirs, ids[1]])
    assert Record.objects.filter(id__in=theirs).count() == 2


def test_256_at_most(root: Client, ids: list[uuid.UUID]) -> None:
    many = [*ids, *(uuid.uuid4() for _ in range(255))]
    assert "256 records at most" in act(root, "forget", many).text
    assert Record.objects.count() == 3


@pytest.mark.parametrize(
    ("verb", "right"), [("forget", "change_record"), ("revoke", "delete_record")]
)
def test_each_needs_its_permission(
    client: Client, ids: list[uuid.UUID], verb: str, right: str
) -> None:
    client.force_login(make_staff("view_record", right))
    assert choose(client, verb, ids).status_code == 403
    assert act(client, verb, ids).status_code == 403
    assert len(make_memory().list().items) == 3


def test_who_may_only_look_has_nothing_to_choose(
    client: Client, ids: list[uuid.UUID]
) -> None:
    client.force_login(make_staff("view_record"))
    page = client.get(listed()).text
    assert "checkbox" not in page
    assert "pm-chosen" not in page


@pytest.mark.parametrize("given", [{"verb": "erase"}, {"ids": ["x"]}])
def test_what_makes_no_sense_is_not_found(
    root: Client, ids: list[uuid.UUID], given: dict[str, Any]
) -> None:
    values = {"verb": "forget", "ids": [str(ids[0])], **given}
    assert root.post(listed("chosen"), values).status_code == 404


def test_asking_by_a_link_leads_to_the_list(root: Client, ids: list[uuid.UUID]) -> None:
    assert root.get(listed("chosen")).headers["Location"] == listed()
