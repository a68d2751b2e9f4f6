"""C36: forget one record, hold it, and release the hold: the effect first."""

from __future__ import annotations

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent, LegalHold, Record, Tombstone
from prism_memory.types import Lineage, SourceRef
from tests.admin.rows import make_staff
from tests.factories import make_edge, make_memory, make_record, make_scope

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


@pytest.fixture
def record() -> Record:
    record = make_record(SECRET, fields={"key": "move"})
    made = {"key": "home", "lineage": Lineage(("move",))}
    make_record(f"of {SECRET}", fields=made)
    return record


def give(client: Client, record: Record, page: str, **given: str):
    values = {"reason": "asked", **given}
    return client.post(links.row_page(record, page), values, follow=True)


class TestForgetting:
    def test_it_shows_its_effect_then_takes_it(
        self, client: Client, record: Record
    ) -> None:
        """case_C36, B147."""
        user = make_staff("view_record", "delete_record")
        client.force_login(user)
        ask = client.get(links.row_page(record, "forget")).text
        assert "This also deletes 1 record derived from it" in ask
        assert Record.objects.count() == 2
        done = give(client, record, "forget")
        assert "2 records were deleted" in done.text
        assert not Record.objects.exists()
        event = AuditEvent.objects.get(tenant="acme")
        assert (event.action, event.actor) == ("memory.forget", f"user:{user.pk}")
        assert event.reason == "asked"

    def test_it_may_be_kept_for_a_hold(self, root: Client, record: Record) -> None:
        """B152."""
        done = give(root, record, "forget", hold="on")
        assert "It is hidden" in done.text
        assert Record.objects.count() == 2
        assert not make_memory().list().items

    def test_a_hold_keeps_it_and_the_page_says_so(
        self, root: Client, record: Record
    ) -> None:
        """B154."""
        make_memory().hold(record=record.id)
        assert "A hold keeps it" in root.get(links.row_page(record, "forget")).text
        assert "A hold keeps it" in give(root, record, "forget").text
        assert Record.objects.count() == 2

    def test_what_a_hold_keeps_of_the_derived_is_told(
        self, root: Client, record: Record
    ) -> None:
        make_memory().hold(record=Record.objects.get(key="home").id)
        ask = root.get(links.row_page(record, "forget")).text
        assert "This also deletes 0 records derived from it." in ask
        assert "A hold keeps 1 more, which is hidden." in ask
        assert (
            "1 record was deleted; holds keep 1." in give(root, record, "forget").text
        )

    def test_very_much_lineage_is_told_and_nothing_goes(
        self, root: Client, record: Record
    ) -> None:
        """B160."""
        last = record
        for n in range(9):
            row = make_record(f"Step {n}.")
            make_edge(row, last)
            last = row
        assert "erase it" in root.get(links.row_page(record, "forget")).text
        give(root, record, "forget")
        assert Record.objects.filter(id=record.id).exists()

    def test_it_needs_a_reason(self, root: Client, record: Record) -> None:
        assert give(root, record, "forget", reason=" ").status_code == 200
        assert Record.objects.count() == 2

    def test_it_needs_the_permission(self, client: Client, record: Record) -> None:
        client.force_login(make_staff("view_record", "change_record"))
        assert "Forget" not in client.get(links.row_page(record)).text
        assert client.get(links.row_page(record, "forget")).status_code == 403
        assert give(client, record, "forget").status_code == 403
        assert Record.objects.count() == 2

    def test_asking_changes_nothing(self, root: Client, record: Record) -> None:
        root.get(links.row_page(record, "forget") + "?reason=x")
        assert Record.objects.count() == 2
        assert not AuditEvent.objects.exists()

    def test_no_page_shows_the_words(self, root: Client, record: Record) -> None:
        make_memory().set_consent(record.id, visible=False)
        for name in ("forget", "hold"):
            assert SECRET not in root.get(links.row_page(record, name)).text


class TestHolds:
    def test_placed_seen_and_released(self, client: Client, record: Record) -> None:
        """case_C36, B154."""
        permissions = ("view_record", "view_legalhold", "add_legalhold")
        client.force_login(make_staff(*permissions, "change_legalhold"))
        assert "Place hold" in client.get(links.row_page(record)).text
        ask = client.get(links.row_page(record, "hold")).text
        assert "no erasure" in ask
        done = give(client, record, "hold", matter="case 7")
        assert "The hold was placed." in done.text
        hold = LegalHold.objects.get()
        assert (hold.matter, hold.target_ref) == ("case 7", f"record:{record.id}")
        assert "Its holds" in client.get(links.row_page(record)).text
        again = give(client, record, "hold", matter="case 7")
        assert "That hold stood already." in again.text
        page = client.get(links.list_page(LegalHold, tenant="acme")).text
        assert "case 7" in page
        assert str(record.id) in page
        assert "Release" in client.get(links.row_page(hold)).text
        ended = give(client, hold, "release")  # type: ignore[arg-type]
        assert "The hold was released." in ended.text
        assert make_memory().forget(record.id).deleted == 2
        events = AuditEvent.objects.order_by("id").values_list("action", "reason")
        assert [*events][:2] == [("hold.place", "asked"), ("hold.release", "asked")]

    def test_others_on_the_same_are_told(self, root: Client, record: Record) -> None:
        first = make_memory().hold(record=record.id, matter="a")
        row = LegalHold.objects.get(id=first.id)
        assert "Other holds" not in root.get(links.row_page(row, "release")).text
        make_memory().hold(record=record.id, matter="b")
        assert "Other holds" in root.get(links.row_page(row, "release")).text

    def test_a_released_one_is_not_offered_again(
        self, root: Client, record: Record
    ) -> None:
        held = make_memory().hold(record=record.id)
        make_memory().release(held.id)
        row = LegalHold.objects.get()
        assert "release/" not in root.get(links.row_page(row)).text
        assert "released before" in give(root, row, "release").text  # type: ignore[arg-type]

    @pytest.mark.parametrize("level", ["scope", "source", "nowhere"])
    def test_every_level_has_a_page(self, root: Client, level: str) -> None:
        memory = make_memory(make_scope(owner="new") if level == "nowhere" else None)
        make_record("a turn", fields={"source": SourceRef("chat")})
        source = Record.objects.exclude(source=None).get().source_id
        memory.hold(source=source if level == "source" else None)
        row = LegalHold.objects.get()
        assert root.get(links.row_page(row)).status_code == 200
        assert root.get(links.row_page(row, "release")).status_code == 200

    def test_each_deed_needs_its_permission(
        self, client: Client, record: Record
    ) -> None:
        client.force_login(make_staff("view_record", "view_legalhold"))
        held = make_memory().hold(record=record.id)
        row = LegalHold.objects.get(id=held.id)
        assert "Place hold" not in client.get(links.row_page(record)).text
        assert give(client, record, "hold").status_code == 403
        assert give(client, row, "release").status_code == 403  # type: ignore[arg-type]
        assert LegalHold.objects.filter(released_at=None).count() == 1

    def test_another_tenants_hold_is_not_found(
        self, root: Client, record: Record
    ) -> None:
        held = make_memory().hold(record=record.id)
        row = LegalHold.objects.get(id=held.id)
        address = links.row_page(row).replace("acme", "globex")
        assert root.get(address).status_code == 404
        assert "acme" not in root.get(links.list_page(LegalHold, tenant="globex")).text


def test_what_was_forgotten_has_its_tombstone_page(
    root: Client, record: Record
) -> None:
    give(root, record, "forget")
    page = root.get(links.list_page(Tombstone, tenant="acme")).text
    assert str(record.id) in page
