"""B173: a source goes by another key, and all that is of it comes along."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection

from prism_memory.errors import (
    Conflict,
    Invalid,
    NotVisible,
    PermissionDenied,
    ScopeDenied,
)
from prism_memory.models import AuditEvent, Embedding, LineageEdge, Record, Source
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Grant,
    Permission,
    Repointed,
    Scope,
)
from tests.capture import captured
from tests.documents import ADA as ADA_READS
from tests.documents import GRANTS, derived, document, source_id
from tests.factories import ADA, make_memory, make_scope
from tests.together import together

pytestmark = pytest.mark.django_db


def governor(
    who: Authorization | None = None, scope: Scope | None = None, *allowed: Permission
) -> Grant:
    permissions = frozenset(allowed or Permission)
    return Grant(scope or make_scope(), permissions, ADA, Actor("user:7"), who)


def repoint(
    from_key: str = "old", to_key: str = "new", by: Grant | None = None, **given: Any
) -> Repointed:
    return make_memory().sources.repoint(from_key, to_key, by=by or governor(), **given)


def test_ids_vectors_lineage_and_grants_stay_and_the_key_is_another() -> None:
    """B173: nothing is embedded anew."""
    ids = document("old", "a", "b", grants=GRANTS)
    note = derived("c", ids[0])
    before = (source_id("old"), rows(Record), rows(Embedding), rows(LineageEdge))
    assert repoint(by=governor(ADA_READS), reason="renamed") == Repointed(2)
    assert before == (
        source_id("new"),
        rows(Record),
        rows(Embedding),
        rows(LineageEdge),
    )
    memory = make_memory(authorization=ADA_READS)
    cited = {item.id: item.source for item in memory.list().items}
    assert cited == {ids[0]: "new", ids[1]: "new", note: None}
    assert {hit.source for hit in memory.recall("a b").hits} >= {"new"}
    assert len(memory.sources.access("new", by=governor(ADA_READS)) or ()) == 2
    event = AuditEvent.objects.get(action="source.repoint")
    assert (event.target, event.actor) == (f"source:{source_id('new')}", "user:7")
    assert (event.detail, event.reason) == ({"records": 2}, "renamed")


def rows(model: Any) -> list[Any]:
    return sorted(map(str, model.objects.values_list()))


def test_a_document_of_the_old_key_is_another_one_then() -> None:
    document("old", "a")
    repoint()
    document("old", "b")
    assert source_id("old") != source_id("new")
    with pytest.raises(Conflict):
        repoint()


DENIED: dict[str, Any] = {
    "no grant": "me",
    "another scope": governor(scope=make_scope(thread="chat-2")),
    "another tenant": governor(scope=make_scope(tenant="globex")),
    "may not govern": governor(None, None, Permission.READ, Permission.WRITE),
}


@pytest.mark.parametrize("who", DENIED)
def test_who_may_not_govern_here_runs_no_statement(who: str) -> None:
    """B171, B173."""
    document("old", "a")
    with captured() as seen, pytest.raises((ScopeDenied, PermissionDenied)):
        repoint(by=DENIED[who])
    assert not seen.statements


@pytest.mark.parametrize(
    "who",
    [None, Authorization("eve"), Authorization("ada", access_version=2)],
    ids=["nobody", "eve", "another version"],
)
def test_a_restricted_source_moves_by_who_was_granted_it(who: Any) -> None:
    """B173: refused before anything is written, and before a transaction."""
    document("old", "a", grants=GRANTS)
    with captured() as seen, pytest.raises(ScopeDenied) as raised:
        repoint(by=governor(who))
    assert raised.value.field == "from_key"
    assert len(seen.statements) == 1
    assert Source.objects.get().key == "old"


@pytest.mark.parametrize(
    ("keys", "error", "field"),
    [
        (("old", "taken"), Conflict, "to_key"),
        (("old", "old"), Invalid, "to_key"),
        (("old", ""), Invalid, "to_key"),
        (("", "new"), Invalid, "from_key"),
        (("unknown", "new"), NotVisible, "from_key"),
        (("old", "xyzzy-key"), Invalid, "to_key"),
    ],
)
def test_what_cannot_be_moved_stays(keys: Any, error: Any, field: str) -> None:
    """B173: also where another source has the key."""
    document("old", "a")
    document("taken", "b")
    memory = make_memory(secrets=["xyzzy-key"])
    with pytest.raises(error) as raised:
        memory.sources.repoint(*keys, by=governor())
    assert raised.value.field == field
    assert {row.key for row in Source.objects.all()} == {"old", "taken"}
    assert not AuditEvent.objects.filter(action="source.repoint").exists()


def test_a_source_above_or_beside_is_not_here() -> None:
    """B8."""
    document("old", "a", scope=Scope("acme", "ada"))
    document("old", "b", scope=make_scope(tenant="globex"))
    with pytest.raises(NotVisible):
        repoint()


@pytest.mark.django_db(transaction=True)
def test_two_who_move_to_one_key_leave_one_of_them() -> None:
    """case_C16."""
    for key in ("a", "b"):
        document(key, key)

    def move(key: str) -> Any:
        try:
            return repoint(key, "new")
        except Conflict as error:
            return error

    found = together([lambda: move("a"), lambda: move("b")])
    assert sum(isinstance(one, Repointed) for one in found) == 1
    assert Source.objects.filter(key="new").count() == 1
    assert Source.objects.count() == 2


def test_a_grant_that_is_lost_while_the_lock_is_waited_for_undoes_it() -> None:
    """It is asked again once the source is locked."""
    document("old", "a", grants=GRANTS)
    done: list[uuid.UUID] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if "FOR UPDATE" in str(sql) and not done:
            done.append(source_id("old"))
            make_memory().sources.set_access({"old": [AccessGrant("eve")]})
        return answer

    with connection.execute_wrapper(note), pytest.raises(ScopeDenied):
        repoint(by=governor(ADA_READS))
    assert done
    assert Source.objects.get().key == "old"
