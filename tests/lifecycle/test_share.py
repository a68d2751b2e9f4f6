"""A thread lets another recall some of its records, and takes that back."""

from __future__ import annotations

import datetime as dt
import uuid
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    NotVisible,
    ScopeDenied,
    Unsupported,
)
from prism_memory.models import AuditEvent, Scope, ShareGrant, ShareGrantItem
from prism_memory.types import Actor, Share, uuid7
from tests.factories import (
    NOON,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.together import together

pytestmark = pytest.mark.django_db

CHILD = make_scope(thread="chat-2")
LATER = timezone.now() + dt.timedelta(days=1)


def shared(child: Any = CHILD) -> list[uuid.UUID] | None:
    """Return what the first chat shares with a child, in its order."""
    found = [s for s in make_memory().shares() if s.child == child]
    return [*found[0].ids] if found else None


class TestSharing:
    """B174, B179, B180."""

    def test_the_share_holds_the_ids_in_their_order_and_the_expiry(self) -> None:
        ids = remember("a", "b", "c")

        make_memory().share_with("chat-2", ids[::-1], expires_at=LATER)

        (share,) = make_memory().shares()
        assert isinstance(share, Share)
        assert (share.parent, share.child) == (make_scope(), CHILD)
        assert share.ids == tuple(ids[::-1])
        assert share.expires_at == LATER

    def test_both_threads_are_told_of_it_and_no_other(self) -> None:
        make_memory().share_with("chat-2", remember("a"))

        assert [*make_memory(CHILD).shares()] == [*make_memory().shares()]
        for other in (
            make_scope(thread="chat-3"),
            make_scope(agent="sales"),
            make_scope(agent="sales", thread="chat-2"),
            make_scope(owner="bob", thread="chat-2"),
            make_scope(tenant="other"),
            make_scope(thread=""),
        ):
            assert [*make_memory(other).shares()] == []

    def test_a_replacement_takes_the_place_of_ids_and_expiry(self) -> None:
        first, second, third = remember("a", "b", "c")
        make_memory().share_with("chat-2", [first, second], expires_at=LATER)
        (before,) = make_memory().shares()

        make_memory().share_with("chat-2", [third])

        (share,) = make_memory().shares()
        assert (share.ids, share.expires_at) == ((third,), None)
        assert share.id == before.id
        assert share.created_at == before.created_at < share.changed_at

    def test_each_child_has_a_list_of_its_own(self) -> None:
        first, second = remember("a", "b")
        make_memory().share_with("chat-2", [first])
        make_memory().share_with("chat-3", [second])

        assert shared() == [first]
        assert shared(make_scope(thread="chat-3")) == [second]

    def test_a_child_may_be_another_agents_thread_of_the_same_owner(self) -> None:
        child = make_scope(agent="sales", thread="x")

        make_memory().share_with(child, remember("a"))

        assert shared(child) is not None

    def test_an_id_may_be_a_text_and_comes_once(self) -> None:
        record_id = remember_one("a")

        make_memory().share_with("chat-2", [str(record_id), record_id])

        assert shared() == [record_id]

    def test_32_ids_are_shared_and_33_or_100_are_refused(self) -> None:
        ids = remember(*(f"a{n}" for n in range(100)))

        for count in (33, 100):
            with pytest.raises(LimitExceeded) as refused:
                make_memory().share_with("chat-2", ids[:count])
            assert refused.value.field == "ids"
        make_memory().share_with("chat-2", ids[:32])

        assert shared() == ids[:32]

    def test_the_database_holds_no_33rd_item(self) -> None:
        make_memory().share_with("chat-2", remember("a"))
        grant = ShareGrant.objects.get()
        with pytest.raises(IntegrityError), transaction.atomic():
            ShareGrantItem.objects.create(
                tenant="acme", grant=grant, record_id=remember_one("b"), position=32
            )


class TestRefusing:
    """B8, B178, B180."""

    @pytest.mark.parametrize(
        "child",
        [
            make_scope(tenant="other", thread="chat-2"),
            make_scope(owner="bob", thread="chat-2"),
            make_scope(thread=""),
            make_scope(agent="", thread=""),
        ],
        ids=str,
    )
    def test_only_a_thread_of_the_same_tenant_and_owner_is_a_child(
        self, child: Any
    ) -> None:
        """B8, B178."""
        ids = remember("a")
        with pytest.raises(ScopeDenied):
            make_memory().share_with(child, ids)
        with pytest.raises(ScopeDenied):
            make_memory().revoke_share(child)
        assert not ShareGrant.objects.exists()

    @pytest.mark.parametrize("thread", ["", "chat-1"])
    def test_only_a_thread_shares_and_with_another(self, thread: str) -> None:
        memory = make_memory(make_scope(thread=thread))
        with pytest.raises(Invalid if thread else ScopeDenied):
            memory.share_with("chat-1", [uuid7()])

    def test_an_owners_level_shares_nothing(self) -> None:
        with pytest.raises(ScopeDenied):
            make_memory(make_scope(agent="", thread="")).share_with("chat-2", [])

    @pytest.mark.parametrize(
        "expires_at",
        [dt.datetime(2999, 1, 1), NOON, timezone.now(), "2999-01-01", 5],  # noqa: DTZ001
        ids=["naive", "past", "now", "a text", "a number"],
    )
    def test_an_expiry_is_aware_and_in_the_future(self, expires_at: Any) -> None:
        with pytest.raises(Invalid) as refused:
            make_memory().share_with("chat-2", remember("a"), expires_at=expires_at)
        assert refused.value.field == "expires_at"

    def test_a_share_that_ends_now_would_share_nothing(self) -> None:
        """B176: now is expired, a microsecond later is not."""
        given: dict[str, Any] = {
            "using": "default",
            "scope": make_scope(),
            "actor": Actor(),
            "child": CHILD,
            "ids": remember("a"),
            "at": LATER,
        }
        with pytest.raises(Invalid):
            lifecycle.share_with(**given, expires_at=LATER)
        lifecycle.share_with(**given, expires_at=LATER + dt.timedelta(microseconds=1))

    @pytest.mark.parametrize("ids", ["abc", 5, None, ["no id"]], ids=str)
    def test_ids_are_a_collection_of_ids(self, ids: Any) -> None:
        with pytest.raises(Invalid) as refused:
            make_memory().share_with("chat-2", ids)
        assert refused.value.field == "ids"

    @pytest.mark.parametrize(
        "elsewhere",
        [
            make_scope(tenant="other"),
            make_scope(owner="bob"),
            make_scope(agent="sales"),
            make_scope(thread="chat-2"),
            make_scope(thread="chat-3"),
            make_scope(thread=""),
            make_scope(agent="", thread=""),
            make_scope(owner="", agent="", thread=""),
        ],
        ids=str,
    )
    def test_what_is_not_exactly_this_threads_is_not_there(
        self, elsewhere: Any
    ) -> None:
        """B8: also what the thread sees of the levels above."""
        mine, other = remember_one("a"), remember_one("b", scope=elsewhere)
        with pytest.raises(NotVisible):
            make_memory().share_with("chat-2", [mine, other])
        assert not ShareGrant.objects.exists()

    @pytest.mark.parametrize(
        "columns",
        [
            {"revoked_at": NOON, "visible": False},
            {"visible": False},
            {"gate": "quarantined"},
            {"retired_at": NOON},
            {"expires_at": NOON},
            {"valid_to": NOON},
        ],
        ids=str,
    )
    def test_what_is_out_of_sight_is_not_there(self, columns: Any) -> None:
        record = make_record(**columns)
        with pytest.raises(NotVisible):
            make_memory().share_with("chat-2", [record.id])

    def test_what_is_blocked_is_not_there(self) -> None:
        record = make_record()
        make_tombstone(record, hold=True)
        with pytest.raises(NotVisible):
            make_memory().share_with("chat-2", [record.id])

    def test_a_strict_memory_shares_only_what_was_consented_to(self) -> None:
        record = make_record(visible=None)
        with pytest.raises(NotVisible):
            make_memory(require_consent=True).share_with("chat-2", [record.id])
        make_memory().share_with("chat-2", [record.id])

    def test_a_refusal_leaves_what_was_shared(self) -> None:
        (record_id,) = remember("a")
        make_memory().share_with("chat-2", [record_id], expires_at=LATER)
        with pytest.raises(NotVisible):
            make_memory().share_with("chat-2", [uuid7()])
        (share,) = make_memory().shares()
        assert (share.ids, share.expires_at) == ((record_id,), LATER)

    def test_another_isolation_is_refused(self) -> None:
        """Else it would not see who blocked a record meanwhile."""
        ids = remember("a")
        row = [{"isolation": "repeatable read"}]
        with (
            patch("prism_memory.lifecycle.tombstones.queries.fetch", return_value=row),
            pytest.raises(Unsupported),
        ):
            make_memory().share_with("chat-2", ids)


class TestRevoking:
    """B177."""

    @pytest.mark.parametrize("by_no_ids", [True, False])
    def test_no_ids_and_revoking_delete_the_grant(self, by_no_ids: bool) -> None:
        make_memory().share_with("chat-2", remember("a", "b"))

        if by_no_ids:
            make_memory().share_with("chat-2", [])
        else:
            assert make_memory().revoke_share("chat-2") is True

        assert not ShareGrant.objects.exists()
        assert not ShareGrantItem.objects.exists()
        assert shared() is None

    def test_what_was_not_shared_is_revoked_in_peace_and_noted_nowhere(self) -> None:
        assert make_memory().revoke_share("chat-2") is False
        make_memory().share_with("chat-2", [])
        assert not AuditEvent.objects.exists()
        assert not Scope.objects.exists()

    def test_another_childs_share_stays(self) -> None:
        ids = remember("a")
        make_memory().share_with("chat-2", ids)
        make_memory().share_with("chat-3", ids)
        make_memory().revoke_share("chat-2")
        assert shared(make_scope(thread="chat-3")) == ids

    @pytest.mark.parametrize(
        "stranger",
        [
            CHILD,
            make_scope(thread="chat-3"),
            make_scope(agent="sales"),
            make_scope(owner="bob"),
            make_scope(tenant="other"),
        ],
        ids=str,
    )
    def test_only_the_parent_revokes(self, stranger: Any) -> None:
        ids = remember("a")
        make_memory().share_with("chat-4", ids)
        assert make_memory(stranger).revoke_share("chat-4") is False
        assert shared(make_scope(thread="chat-4")) == ids


class TestAudit:
    def test_each_change_is_noted_with_ids_and_no_text(self) -> None:
        (record_id,) = remember("a secret")
        memory = make_memory(actor=Actor("user:7"))
        memory.share_with("chat-2", [record_id], expires_at=LATER, reason="hand-over")
        memory.revoke_share("chat-2", reason="done")

        given, taken = AuditEvent.objects.order_by("at")
        threads = {"parent": str(make_scope().id), "child": str(CHILD.id)}
        assert (given.action, taken.action) == ("memory.share", "memory.unshare")
        assert given.target == taken.target
        assert (given.actor, given.reason, taken.reason) == (
            "user:7",
            "hand-over",
            "done",
        )
        assert given.detail == {
            **threads,
            "record_ids": [str(record_id)],
            "expires_at": LATER.isoformat(),
        }
        assert taken.detail == threads

    def test_without_its_event_nothing_is_shared(self) -> None:
        with pytest.raises(LimitExceeded):
            make_memory().share_with("chat-2", remember("a"), reason="a" * 1_001)
        assert not ShareGrant.objects.exists()


class TestListing:
    def test_pages_hold_every_share_once(self) -> None:
        ids = remember("a")
        for n in range(5):
            make_memory().share_with(f"child-{n}", ids)
        make_memory(CHILD).share_with("chat-1", remember("b", scope=CHILD))

        found, cursor = list[Share](), None
        while True:
            page = make_memory().shares(limit=2, cursor=cursor)
            assert len(page) <= 2
            found += page
            if (cursor := page.next_cursor) is None:
                break

        children = [share.child.thread for share in found]
        assert children == [*(f"child-{n}" for n in range(5)), "chat-1"]

    def test_a_cursor_of_ours_is_asked_for(self) -> None:
        with pytest.raises(Invalid):
            make_memory().shares(cursor="x")

    def test_a_record_that_is_gone_is_in_no_list(self) -> None:
        first, second = remember("a", "b")
        make_memory().share_with("chat-2", [first, second])
        given: dict[str, Any] = {"using": "default", "scope": make_scope()}
        lifecycle.forget(**given, actor=Actor(), ids=[first], at=timezone.now())
        assert shared() == [second]


@pytest.mark.django_db(transaction=True)
class TestTogether:
    def test_of_two_replacements_one_is_whole(self) -> None:
        ids = remember(*(f"a{n}" for n in range(40)))
        lists = [ids[n : n + 30] for n in range(4)]

        share = make_memory().share_with
        together([partial(share, "chat-2", given) for given in lists * 2])

        assert shared() in lists
        assert AuditEvent.objects.filter(action="memory.share").count() == 8

    def test_threads_that_share_with_each_other_do_not_wait_forever(self) -> None:
        mine = remember("a")
        theirs = remember("b", scope=CHILD)

        together(
            [
                lambda: make_memory().share_with("chat-2", mine),
                lambda: make_memory(CHILD).share_with("chat-1", theirs),
            ]
            * 4
        )

        assert len(make_memory().shares()) == 2

    def test_what_is_revoked_meanwhile_is_not_shared_as_if_it_were_not(self) -> None:
        """Either the revocation is first, and the id refused; or the share is."""
        ids = remember("a", "b", "c")

        def share() -> bool:
            try:
                make_memory().share_with("chat-2", ids)
            except NotVisible:
                return False
            return True

        for _ in range(5):
            done, _ = together(
                [share, lambda: make_memory().set_consent(ids[1], visible=False)]
            )
            assert (shared() is not None) is done
            make_memory().set_consent(ids[1], visible=True)
            make_memory().revoke_share("chat-2")
