"""A record that is born hidden hides what derives from it, as a revoked one does."""

from __future__ import annotations

import uuid

import pytest

from prism_memory.errors import Conflict
from prism_memory.models import Record, Tombstone
from prism_memory.types import Consent, ConsentScope, Entry, Lineage
from tests.capture import captured
from tests.factories import make_memory, make_scope, remember_one

pytestmark = pytest.mark.django_db

HIDDEN = Consent(visible=False)
OWNER = make_scope(agent="", thread="")


def keys() -> list[str]:
    return [item.key for item in make_memory().list()]


def derive(source: str, key: str = "d") -> uuid.UUID:
    return remember_one(f"of {source}", key=key, lineage=Lineage((source,)))


def test_what_derives_from_it_is_hidden_at_any_hand_and_comes_back_with_it():
    source = remember_one("secret", key="s", consent=HIDDEN)
    derive("s", "first")
    derive("first", "second")
    assert keys() == []
    make_memory().set_consent(source, visible=True)
    assert keys() == ["s", "first", "second"]


def test_in_one_batch_whatever_the_order():
    make_memory().remember(
        [
            Entry("of it", key="d", lineage=Lineage(("s",))),
            Entry("secret", key="s", consent=HIDDEN),
        ]
    )
    assert keys() == []


def test_in_a_narrower_scope_too():
    source = remember_one("secret", scope=OWNER, key="s", consent=HIDDEN)
    derive(f"record:{source}")
    assert keys() == []


def test_the_tombstone_is_a_revocation_by_itself_and_its_lifting_is_no_other():
    source = remember_one("secret", key="s", consent=HIDDEN)
    (stone,) = Tombstone.objects.filter(tenant="acme")
    ref = f"record:{source}"
    assert (stone.target_ref, stone.root_ref) == (ref, ref)
    assert (stone.reason, stone.hold) == ("revoked", False)
    assert Record.objects.get(tenant="acme").revoked_at is None
    make_memory().set_consent(source, visible=False)
    assert Tombstone.objects.filter(tenant="acme").count() == 1
    with pytest.raises(Conflict):
        remember_one("secret", key="s", consent=HIDDEN)


def test_it_may_be_remembered_again_and_stays_hidden():
    source = remember_one("secret", key="s", consent=HIDDEN)
    assert remember_one("secret", key="s", consent=HIDDEN) == source
    assert remember_one("other words", key="s") == source
    assert Record.objects.get(tenant="acme").text == "other words"
    derive("s")
    assert keys() == []


def test_who_hides_nothing_asks_nothing_more(django_assert_num_queries):
    make_memory().remember("the scope and the space exist")
    shown = Entry("shown", consent=Consent(scope=ConsentScope.PROFILE))
    with django_assert_num_queries(7):  # and the decision
        make_memory().remember(shown)
    with django_assert_num_queries(8):
        make_memory().remember(Entry("hidden", consent=HIDDEN))
    with captured() as seen:
        make_memory().remember("bare")
    assert not [s for s, _ in seen.on_tenants() if "prism_memory_tombstone (" in s]
