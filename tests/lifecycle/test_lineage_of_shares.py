"""What a thread derives from a record that is shared with it names that record."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.errors import NotVisible
from prism_memory.models import LineageEdge, ShareGrant
from prism_memory.types import Lineage, Scope
from tests.factories import make_memory, make_scope, remember_one
from tests.tables import counts

pytestmark = pytest.mark.django_db

CHILD = make_scope(thread="chat-2")
STRANGERS = [
    make_scope(thread="chat-3"),
    make_scope(agent="sales", thread="chat-2"),
    make_scope(owner="bob", thread="chat-2"),
    make_scope(tenant="globex", thread="chat-2"),
    make_scope(thread=""),
    make_scope(agent="", thread=""),
    Scope("acme"),
]


@pytest.fixture
def seat() -> uuid.UUID:
    """A record of the first chat, shared with the second."""
    record_id = remember_one("Ada sits by the window.", key="seat")
    make_memory().share_with("chat-2", [record_id])
    return record_id


def derive(source: uuid.UUID, scope: Scope = CHILD) -> uuid.UUID:
    lineage = Lineage((f"record:{source}",))
    return remember_one("of it", scope=scope, key="d", lineage=lineage)


def keys() -> list[str]:
    return [item.key for item in make_memory(CHILD).list()]


def test_the_child_names_it_and_its_revocation_hides_what_was_derived(seat):
    derived = derive(seat)
    edge = LineageEdge.objects.get(tenant="acme", record_id=derived)
    assert edge.source_ref == f"record:{seat}"
    assert keys() == ["d"]
    make_memory().set_consent(seat, visible=False)
    assert keys() == []
    make_memory().set_consent(seat, visible=True)
    assert keys() == ["d"]
    make_memory().forget(seat)
    assert keys() == []


def test_what_is_derived_after_a_revocation_is_hidden_too(seat):
    make_memory().set_consent(seat, visible=False)
    derive(seat)
    assert keys() == []


def test_what_was_derived_outlives_the_share(seat):
    derive(seat)
    make_memory().revoke_share("chat-2")
    assert keys() == ["d"]
    make_memory().correct(seat, "Ada sits by the aisle.")
    assert keys() == []


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_nobody_else_may(seat: uuid.UUID, stranger: Scope) -> None:
    """B8: the same answer for what is not theirs and for what is not there."""
    before = counts()
    with pytest.raises(NotVisible) as refused:
        derive(seat, stranger)
    with pytest.raises(NotVisible) as unknown:
        derive(uuid.uuid4(), stranger)
    assert str(refused.value) == str(unknown.value)
    assert refused.value.field == unknown.value.field == "lineage.source_ids"
    assert counts() == before


def test_nor_what_the_share_does_not_list(seat):
    other = remember_one("Ada is allergic to nuts.", key="other")
    with pytest.raises(NotVisible):
        derive(other)


def test_nor_all_of_several_where_one_is_not_shared(seat):
    other = remember_one("Ada is allergic to nuts.", key="other")
    refs = tuple(f"record:{i}" for i in (seat, other))
    with pytest.raises(NotVisible):
        remember_one("of both", scope=CHILD, lineage=Lineage(refs))


@pytest.mark.parametrize("how", ["expired", "revoked"])
def test_nor_once_the_share_is_over(seat: uuid.UUID, how: str) -> None:
    if how == "revoked":
        make_memory().revoke_share("chat-2")
    else:
        past: Any = timezone.now() - dt.timedelta(seconds=1)
        ShareGrant.objects.filter(tenant="acme").update(expires_at=past)
    with pytest.raises(NotVisible):
        derive(seat)


def test_a_key_of_the_parent_still_names_something_outside(seat):
    derived = remember_one("x", scope=CHILD, key="d", lineage=Lineage(("seat",)))
    edge = LineageEdge.objects.get(tenant="acme", record_id=derived)
    assert edge.source_ref == f"ext:{CHILD.id}:seat"


def test_what_is_in_sight_asks_no_more_than_before(seat, django_assert_num_queries):
    remember_one("own", scope=CHILD, key="own")
    own = remember_one("above", scope=make_scope(thread=""), key="above")
    with django_assert_num_queries(11):
        derive(own)
    with django_assert_num_queries(12):
        remember_one(
            "of it", scope=CHILD, key="d2", lineage=Lineage((f"record:{seat}",))
        )
