"""B217, B218: who may read a source is replaced as a whole, and audited."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    NotVisible,
    PermissionDenied,
    ScopeDenied,
)
from prism_memory.models import AuditEvent, Source, SourceAccess
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Grant,
    Permission,
    Scope,
)
from tests.documents import (
    GRANTS,
    READERS,
    STRANGERS,
    document,
    memory_of,
    source_id,
)
from tests.factories import ADA, make_memory, make_scope
from tests.together import together

pytestmark = pytest.mark.django_db


def set_access(grants: Any, scope: Scope | None = None, **given: Any) -> None:
    make_memory(scope).sources.set_access(grants, **given)


def access(key: str = "salaries", scope: Scope | None = None) -> Any:
    """Ask as who governs the scope, and reads none of it."""
    by = Grant(scope or make_scope(), frozenset({Permission.GOVERN}), ADA, Actor())
    return make_memory(scope).sources.access(key, by=by)


def events() -> list[Any]:
    rows = AuditEvent.objects.filter(action="source.access").order_by("id")
    return [*rows.values_list("target", "detail", "reason")]


def test_a_source_is_read_by_all_until_grants_are_set() -> None:
    document("salaries", "a")
    assert access() is None
    set_access({"salaries": GRANTS})
    assert access() == (AccessGrant("ada"), AccessGrant(group="hr"))
    assert Source.objects.get().restricted


def test_grants_replace_those_before_and_an_empty_list_revokes_all() -> None:
    """B217, B218."""
    document("salaries", "a", grants=GRANTS)
    later = [AccessGrant("ada", access_version=2), AccessGrant("bob")]
    set_access({"salaries": later})
    assert {*access()} == {*later}
    set_access({"salaries": []})
    assert access() == ()
    assert Source.objects.get().restricted
    assert not SourceAccess.objects.exists()


def test_each_source_is_set_for_itself() -> None:
    for key in ("salaries", "menu", "plan"):
        document(key, key, grants=[AccessGrant("eve")])
    set_access([("salaries", GRANTS), ("menu", [])])
    assert [len(access(key)) for key in ("salaries", "menu", "plan")] == [2, 0, 1]
    set_access({})


def test_the_audit_counts_and_names_nobody() -> None:
    document("salaries", "a", grants=GRANTS)
    later = [AccessGrant("ada"), AccessGrant("bob", access_version=3)]
    set_access({"salaries": later}, reason="ticket 7")
    target = f"source:{source_id('salaries')}"
    first, second = events()
    told = {"principals": 1, "groups": 1, "versions": [1], "granted": 2, "revoked": 0}
    assert first == (target, told, "")
    told = {"principals": 2, "groups": 0, "versions": [1, 3], "granted": 1}
    assert second == (target, told | {"revoked": 1}, "ticket 7")


@pytest.mark.parametrize(
    ("grants", "error"),
    [
        ([("salaries", GRANTS), ("salaries", [])], Invalid),
        ({"salaries": [*GRANTS, AccessGrant("ada", access_version=2)]}, Invalid),
        ({"salaries": ["ada"]}, Invalid),
        ({"salaries": [None]}, Invalid),
        ({"salaries": "ada"}, Invalid),
        ({"salaries": None}, Invalid),
        ({"": GRANTS}, Invalid),
        ({"salaries": [AccessGrant(str(n)) for n in range(1_025)]}, LimitExceeded),
        ({str(n): [] for n in range(1_025)}, LimitExceeded),
        ({"salaries": GRANTS, "unknown": []}, NotVisible),
    ],
)
def test_what_cannot_be_set_changes_nothing(grants: Any, error: Any) -> None:
    """B218."""
    document("salaries", "a", grants=[AccessGrant("eve")])
    with pytest.raises(error):
        set_access(grants)
    assert access() == (AccessGrant("eve"),)
    assert len(events()) == 1


def test_1024_grants_are_not_too_many() -> None:
    """B218."""
    document("salaries", "a")
    set_access({"salaries": [AccessGrant(str(n)) for n in range(1_024)]})
    assert len(access()) == 1_024


@pytest.mark.parametrize(
    "scope",
    [
        make_scope(tenant="globex"),
        make_scope(owner="bob"),
        make_scope(agent="sales"),
        make_scope(thread="chat-2"),
        Scope("acme", "ada"),
    ],
    ids=str,
)
def test_a_source_is_of_exactly_its_scope(scope: Scope) -> None:
    """B8, case_C01: a stranger neither sets, reads nor learns of it."""
    document("salaries", "a", grants=GRANTS)
    for call in (
        lambda: set_access({"salaries": []}, scope),
        lambda: access(scope=scope),
    ):
        with pytest.raises(NotVisible):
            call()
    assert len(access()) == 2


def test_who_reads_a_document_is_told_to_who_reads_it_or_governs() -> None:
    document("salaries", "a", grants=GRANTS)
    for who in STRANGERS.values():
        with pytest.raises(NotVisible):
            memory_of(who).sources.access("salaries")
    for who in READERS.values():
        assert memory_of(who).sources.access("salaries") == access()
    elsewhere = Grant(make_scope(owner="bob"), frozenset(Permission), ADA, Actor())
    with pytest.raises(ScopeDenied):
        make_memory().sources.access("salaries", by=elsewhere)
    reads = Grant(make_scope(), frozenset({Permission.READ}), ADA, Actor())
    with pytest.raises(PermissionDenied):
        make_memory().sources.access("salaries", by=reads)


def test_the_asynchronous_twins_do_the_same() -> None:
    document("salaries", "a")
    sources = make_memory().sources
    async_to_sync(sources.aset_access)({"salaries": GRANTS})
    reads = Authorization("ada")
    by = Grant(make_scope(), frozenset(Permission), ADA, Actor(), reads)
    told = async_to_sync(sources.aaccess)("salaries", by=by)
    assert told == sources.access("salaries", by=by)
    assert async_to_sync(sources.arepoint)("salaries", "pay", by=by).moved == 1


@pytest.mark.django_db(transaction=True)
def test_two_who_set_grants_at_once_leave_those_of_one() -> None:
    """case_C16: in whatever order they name the sources; never a mixture."""
    for key in ("a", "b"):
        document(key, key)
    one = [("a", [AccessGrant("x")]), ("b", [AccessGrant("x")])]
    other = [("b", [AccessGrant("y")]), ("a", [AccessGrant("y")])]
    for _ in range(4):
        together([lambda: set_access(one), lambda: set_access(other)])
        assert access("a") == access("b")
        assert len(access("a")) == 1
