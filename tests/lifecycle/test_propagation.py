"""A source's deletion reaches what is derived from it, and every layer beside."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from prism_memory import register_deletion_handler
from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    Misconfigured,
    NotVisible,
    PermissionDenied,
    ScopeDenied,
)
from prism_memory.lifecycle import propagation
from prism_memory.lifecycle.registry import tables_of_record
from prism_memory.models import AuditEvent, Record, Source, Tombstone
from prism_memory.types import (
    AccessGrant,
    Actor,
    Authorization,
    Grant,
    Lineage,
    Permission,
    Scope,
    SourceRef,
    TombstoneReason,
)
from tests.capture import captured
from tests.factories import ADA, make_edge, make_memory, make_record, make_scope
from tests.factories import remember as remember_texts
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


def grant(scope: Scope | None = None, *permissions: Permission) -> Grant:
    allowed = frozenset(permissions or Permission)
    return Grant(scope or make_scope(), allowed, ADA, Actor("user:7"))


def propagate(**given: Any) -> Any:
    return make_memory().propagate_deletion(**{"by": grant(), **given})


def remember(*texts: str, source: str = "book") -> list[uuid.UUID]:
    return remember_texts(*texts, source=SourceRef(source))


@pytest.fixture(autouse=True)
def layers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    handlers: dict[str, Any] = {}
    monkeypatch.setattr(propagation, "_handlers", handlers)
    return handlers  # type: ignore[return-value]


@pytest.fixture
def book(db: None) -> list[uuid.UUID]:
    ids = remember(f"{SECRET} 1", f"{SECRET} 2")
    lineage = Lineage((f"record:{ids[0]}",))
    remember_texts(f"of {SECRET}", lineage=lineage)
    remember("other", source="other")
    return ids


class TestDeleting:
    @pytest.mark.usefixtures("book")
    def test_a_source_goes_with_all_that_derives_from_it(self) -> None:
        """B170."""
        done = propagate(source="book", note="asked")
        assert (done.forgotten.deleted, done.forgotten.blocked) == (3, 3)
        assert (done.reason, done.layers) == (TombstoneReason.FORGOTTEN, {})
        assert not holding(SECRET)
        assert {*Source.objects.values_list("key", flat=True)} == {"other"}
        assert Record.objects.get().text == "other"
        event = AuditEvent.objects.get(action="memory.propagate_deletion")
        assert (event.actor, event.reason) == ("user:7", "asked")

    def test_or_records_by_their_ids(self, book: list[uuid.UUID]) -> None:
        done = propagate(ids=[book[0]], reason=TombstoneReason.EXPIRED)
        assert done.forgotten.deleted == 2
        reasons = Tombstone.objects.values_list("reason", flat=True)
        assert {*reasons} == {"expired"}
        assert Record.objects.filter(id=book[1]).exists()

    def test_what_is_held_stays_with_its_source(self, book: list[uuid.UUID]) -> None:
        make_memory().hold(record=book[1])
        done = propagate(source="book")
        assert done.forgotten.kept == (book[1],)
        assert Source.objects.filter(key="book").exists()

    def test_one_of_the_two_is_given(self, book: list[uuid.UUID]) -> None:
        for given in ({}, {"source": "book", "ids": book}):
            with pytest.raises(Invalid):
                propagate(**given)
        with pytest.raises(Invalid):
            propagate(source="book", reason=TombstoneReason.REVOKED)

    @pytest.mark.parametrize("reason", [["forgotten"], {}, None, 5, "because"])
    @pytest.mark.usefixtures("book")
    def test_a_reason_is_one_of_the_two(self, reason: Any) -> None:
        with pytest.raises(Invalid) as refused:
            propagate(source="book", reason=reason)
        assert refused.value.field == "reason"

    @pytest.mark.usefixtures("book")
    def test_no_ids_are_nothing(self) -> None:
        """case_C04."""
        assert propagate(ids=[]).forgotten.deleted == 0
        assert Record.objects.count() == 4

    def test_what_is_not_here_is_not_visible(self, book: list[uuid.UUID]) -> None:
        theirs = make_record(scope=make_scope(owner="bob"))
        remember_texts("b", scope=make_scope(owner="bob"), source=SourceRef("bobs"))
        before = counts()
        for given in (
            {"source": "bobs"},
            {"source": "nothing"},
            {"source": ""},
            {"ids": [book[0], theirs.id]},
            {"ids": uuid.uuid4()},
        ):
            with pytest.raises(NotVisible):
                propagate(**given)
        assert counts() == before


class TestLayers:
    def test_each_is_told_the_same_ids_and_the_reason(
        self, book: list[uuid.UUID]
    ) -> None:
        """B170: inside the transaction, after the bodies."""
        told: list[Any] = []

        def layer(*given: Any) -> int:
            assert connection.in_atomic_block
            assert not Record.objects.filter(id__in=book).exists()
            told.append(given)
            return len(told)

        register_deletion_handler("graph", layer)
        register_deletion_handler("cache", layer)
        done = propagate(source="book", reason=TombstoneReason.EXPIRED)
        assert done.layers == {"graph": 1, "cache": 2}
        first, second = told
        assert first == second
        using, tenant, refs, reason = first
        assert (using, tenant, reason) == ("default", "acme", TombstoneReason.EXPIRED)
        assert {f"record:{i}" for i in book} < {*refs}
        assert len(refs) == 3

    def test_a_kind_has_one_handler(self) -> None:
        """B170."""
        register_deletion_handler("graph", lambda *_: 0)
        with pytest.raises(Misconfigured):
            register_deletion_handler("graph", lambda *_: 0)

    @pytest.mark.parametrize("kind", ["", " ", 7, None])
    def test_a_kind_has_a_name(self, kind: Any, layers: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            register_deletion_handler(kind, lambda *_: 0)
        assert not layers

    @pytest.mark.parametrize("count", [-1, None, True, "1", 1.0])
    @pytest.mark.usefixtures("book")
    def test_a_handler_that_tells_no_count_undoes_all(self, count: Any) -> None:
        """B170."""
        register_deletion_handler("graph", lambda *_: 1)
        register_deletion_handler("odd", lambda *_: count)
        before = counts()
        with pytest.raises(Misconfigured):
            propagate(source="book")
        assert counts() == before
        assert holding(SECRET)

    @pytest.mark.usefixtures("book")
    def test_one_that_raises_undoes_all(self) -> None:
        class Down(Exception):
            pass

        def down(*_: Any) -> int:
            raise Down

        register_deletion_handler("down", down)
        before = counts()
        with pytest.raises(Down):
            propagate(source="book")
        assert counts() == before


DENIED = {
    "other tenant": grant(Scope("globex")),
    "other tenant of that name": grant(make_scope(tenant="globex")),
    "other owner": grant(make_scope(owner="bob")),
    "below": grant(make_scope(agent="support", thread="chat-2")),
    "no grant": None,
    "a scope": make_scope(),
    "may only read": grant(None, Permission.READ),
    "may not govern": grant(
        None, Permission.READ, Permission.WRITE, Permission.OPERATE
    ),
}


@pytest.mark.parametrize("who", DENIED)
def test_who_may_not_opens_no_transaction(who: str, book: list[uuid.UUID]) -> None:
    """B171: not one statement is run."""
    register_deletion_handler("never", lambda *_: pytest.fail("a layer was told"))
    with captured() as seen, pytest.raises((ScopeDenied, PermissionDenied)):
        propagate(source="book", by=DENIED[who])
    assert not seen.statements
    assert holding(SECRET)


@pytest.mark.parametrize("by", ["source", "ids"])
def test_a_restricted_source_goes_by_who_was_granted_it(
    by: str, book: list[uuid.UUID]
) -> None:
    """B170, B171: a denied one opens no transaction and marks nothing.

    Nor does what was derived from it go by its id.
    """
    make_memory().sources.set_access({"book": [AccessGrant(group="press")]})
    derived = Record.objects.get(text=f"of {SECRET}").id
    asked: dict[str, Any] = {"source": "book"} if by == "source" else {"ids": [derived]}
    before = counts()
    for who in (None, Authorization("ada", ["sales"])):
        denied = replace(grant(), authorization=who)
        with captured() as seen, pytest.raises(ScopeDenied) as raised:
            propagate(by=denied, **asked)
        assert raised.value.field == by
        assert len(seen.statements) == 1
    assert counts() == before
    granted = replace(grant(), authorization=Authorization("ada", ["press"]))
    assert propagate(by=granted, **asked).forgotten.deleted == (
        3 if by == "source" else 1
    )


@pytest.mark.parametrize("scope", [*make_scope().chain()], ids=str)
def test_who_governs_here_or_above_may(scope: Scope, book: list[uuid.UUID]) -> None:
    assert propagate(source="book", by=grant(scope)).forgotten.deleted == 3


class TestCaps:
    def many(self, number: int) -> uuid.UUID:
        (root,) = remember("root")
        lineage = Lineage((f"record:{root}",))
        for start in range(0, number, 1_000):
            texts = [f"n {n}" for n in range(start, min(number, start + 1_000))]
            remember_texts(*texts, lineage=lineage)
        return root

    def test_as_many_refs_as_the_cap_pass_and_one_more_does_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """B170."""
        assert propagation.MOST_REFS == 4_096
        most = 129  # of it alone what 4,096 take, in more than a batch or two
        monkeypatch.setattr(propagation, "MOST_REFS", most)
        root = self.many(most)
        before = counts()
        with pytest.raises(LimitExceeded):
            propagate(source="book")
        assert counts() == before
        Record.objects.filter(text="n 7").update(source_id=None)
        make_memory().forget(Record.objects.get(text="n 7").id)
        done = propagate(source="book")
        assert done.forgotten.deleted == most
        assert Tombstone.objects.filter(root_ref=f"record:{root}").count() == most

    def test_nine_derivations_are_too_deep(self) -> None:
        (root,) = remember("root")
        last = Record.objects.get(id=root)
        for n in range(9):
            made = make_record(f"n {n}")
            make_edge(made, last)
            last = made
        with pytest.raises(LimitExceeded):
            propagate(source="book")


def test_1000_derived_rows_go_in_one_transaction() -> None:
    """B161, B172: in batches of 64, however many there are."""
    TestCaps().many(1_000)
    begins: list[str] = []
    bodies: list[int] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(("SAVEPOINT", "BEGIN", "COMMIT")):
            begins.append(sql)
        if sql.startswith('DELETE FROM "prism_memory_record"'):
            bodies.append(len(params) - 1)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note), captured() as seen:
        assert propagate(source="book").forgotten.deleted == 1_001
    assert len(begins) == 1
    assert (max(bodies), sum(bodies), len(bodies)) == (64, 1_001, 16)
    assert len(seen.statements) < 20 + 16 * (1 + len(tables_of_record()))
