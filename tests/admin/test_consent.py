"""C36: grant and revoke the consent for one record."""

from __future__ import annotations

import pytest
from django.test import Client

from prism_memory import access
from prism_memory.admin import links
from prism_memory.models import AuditEvent, Record, Tombstone
from prism_memory.types import Lineage
from tests.admin.rows import make_staff
from tests.factories import make_edge, make_record, make_scope

pytestmark = pytest.mark.django_db


def visible() -> set[str]:
    rows = access.visible(using="default", reader=access.Reader(make_scope()))
    return {row.key for row in rows}


def give(client: Client, record: Record, visible: str, reason: str = "asked"):
    given = {"visible": visible, "reason": reason}
    return client.post(links.row_page(record, "consent"), given, follow=True)


@pytest.fixture
def record() -> Record:
    record = make_record("Ada moved.", fields={"key": "move"})
    lineage = Lineage(("move",))
    make_record("Ada is in Porto.", fields={"key": "home", "lineage": lineage})
    return record


def test_revoking_shows_its_effect_then_takes_it(
    client: Client, record: Record
) -> None:
    """case_C36."""
    user = make_staff("view_record", "change_record")
    client.force_login(user)
    ask = client.get(links.row_page(record, "consent") + "?visible=0").text
    assert "This also blocks 1 record derived from it." in ask
    assert visible() == {"move", "home"}
    done = give(client, record, "0")
    assert "Consent was revoked." in done.text
    assert visible() == set()
    event = AuditEvent.objects.get(tenant="acme")
    assert (event.action, event.actor) == ("memory.set_consent", f"user:{user.pk}")
    assert event.reason == "asked"


def test_granting_again_lifts_what_the_revocation_blocked(
    root: Client, record: Record
) -> None:
    """case_C36."""
    give(root, record, "0")
    ask = root.get(links.row_page(record, "consent") + "?visible=1").text
    assert "This also lifts the block on 1 record derived from it." in ask
    assert "Consent was granted." in give(root, record, "1").text
    assert visible() == {"move", "home"}
    assert not Tombstone.objects.filter(tenant="acme", cleared_at=None).exists()


def test_only_what_fits_the_state_is_offered(root: Client, record: Record) -> None:
    page = root.get(links.row_page(record)).text
    assert "Revoke consent" in page
    assert "Grant consent" not in page
    give(root, record, "0")
    page = root.get(links.row_page(record)).text
    assert "Grant consent" in page
    assert "Revoke consent" not in page
    Record.objects.filter(tenant="acme", id=record.id).update(
        visible=None, revoked_at=None
    )
    page = root.get(links.row_page(record)).text
    assert "Grant consent" in page
    assert "Revoke consent" in page


def test_a_consent_needs_a_reason_and_a_wish(root: Client, record: Record) -> None:
    assert give(root, record, "0", reason=" ").status_code == 200
    assert visible() == {"move", "home"}
    assert root.get(links.row_page(record, "consent")).status_code == 404
    assert give(root, record, "2").status_code == 404


def test_looking_at_the_question_changes_nothing(root: Client, record: Record) -> None:
    root.get(links.row_page(record, "consent") + "?visible=0&reason=x")
    assert visible() == {"move", "home"}
    assert not AuditEvent.objects.filter(tenant="acme").exists()


def test_consent_needs_the_permission_to_change(client: Client, record: Record) -> None:
    client.force_login(make_staff("view_record", "reveal_record"))
    assert give(client, record, "0").status_code == 403
    assert "Revoke consent" not in client.get(links.row_page(record)).text
    assert visible() == {"move", "home"}


def test_granting_needs_the_right_to_see_what_it_shows(
    client: Client, record: Record
) -> None:
    """B502: else whoever may change shows themselves what they may not reveal."""
    client.force_login(make_staff("view_record", "change_record"))
    assert "Consent was revoked." in give(client, record, "0").text
    page = links.row_page(record)
    assert "Grant consent" not in client.get(page).text
    assert (
        client.get(links.row_page(record, "consent") + "?visible=1").status_code == 403
    )
    assert give(client, record, "1").status_code == 403
    assert visible() == set()
    both = make_staff("view_record", "change_record", "reveal_record", name="kim")
    client.force_login(both)
    assert "Grant consent" in client.get(page).text
    assert "Consent was granted." in give(client, record, "1").text


def test_very_much_lineage_is_told_and_revoked(root: Client, record: Record) -> None:
    last: Record = record
    for i in range(10):
        row = make_record(f"Step {i}.")
        make_edge(row, last)
        last = row
    ask = root.get(links.row_page(record, "consent") + "?visible=0").text
    assert "Very many records derive from it" in ask
    give(root, record, "0")
    assert "move" not in visible()
