"""Scopes, what they open, and the ids that rows carry."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory import types
from prism_memory.errors import Invalid, LimitExceeded, PermissionDenied, ScopeDenied
from prism_memory.types import Actor, Grant, Permission, ReadMode, Scope
from prism_memory.types.ids import Ticks
from tests.factories import ADA, make_scope

MOMENT = 1_700_000_000_000_000_000
LEVELS = ("tenant", "owner", "agent", "thread")
JOINERS = "/:|%_.-, \x01\x1f\\'\""
names = st.text(
    st.sampled_from("aAb" + JOINERS) | st.characters(exclude_categories=["Cs"]),
    min_size=1,
    max_size=12,
).filter(lambda name: name.strip() and "\0" not in name)


@st.composite
def scopes(draw: Any, pool: st.SearchStrategy[str] = names) -> Scope:
    tenant, owner = draw(pool), draw(pool | st.just(""))
    below = pool | st.just("") if owner else st.just("")
    return Scope(tenant, owner, draw(below), draw(below))


few = scopes(st.sampled_from(["a", "b"]))


@pytest.mark.parametrize("tenant", ["", " ", "\t\n", None, 7])
def test_a_scope_needs_a_tenant(tenant: Any) -> None:
    """B1, case_C04."""
    with pytest.raises(ScopeDenied) as raised:
        Scope(tenant)
    assert raised.value.field == "tenant"


def test_a_tenant_of_another_type_is_told_what_it_must_be() -> None:
    with pytest.raises(ScopeDenied, match="must be a string, not int"):
        Scope(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("name", [" ", "\u3000", "\n"])
def test_a_level_of_blanks_only_is_refused(level: str, name: str) -> None:
    """B1: blank is neither a name nor an unset level."""
    with pytest.raises(Invalid) as raised:
        Scope(**{"tenant": "acme", "owner": "ada", level: name})
    assert raised.value.field == level


@pytest.mark.parametrize("below", [{"agent": "x"}, {"thread": "x"}])
def test_an_agent_or_a_thread_needs_an_owner(below: dict[str, str]) -> None:
    """B16."""
    with pytest.raises(ScopeDenied) as raised:
        make_scope(owner="", **{"agent": "", "thread": "", **below})
    assert raised.value.field == "owner"


def test_a_thread_may_do_without_an_agent() -> None:
    assert Scope("acme", "ada", thread="chat-1").agent == ""


@pytest.mark.parametrize("level", LEVELS)
def test_a_name_of_256_bytes_passes_and_one_more_is_refused(level: str) -> None:
    """The limit counts bytes of UTF-8, not characters."""
    base = {"tenant": "acme", "owner": "ada"}
    assert getattr(Scope(**{**base, level: "é" * 128}), level) == "é" * 128
    with pytest.raises(LimitExceeded) as raised:
        Scope(**{**base, level: "é" * 128 + "a"})
    assert raised.value.field == level


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", 7, None])
def test_a_level_that_postgresql_cannot_store_is_refused(bad: Any) -> None:
    """C21."""
    with pytest.raises(Invalid):
        Scope("acme", bad)


def test_each_level_is_immutable_and_built_from_the_one_above() -> None:
    """B15."""
    tenant = Scope("acme")
    thread = tenant.with_owner("ada").with_agent("support").with_thread("chat-1")

    assert thread == Scope("acme", "ada", "support", "chat-1")
    assert tenant == Scope("acme")
    with pytest.raises(AttributeError):
        thread.owner = "bob"  # type: ignore[misc] # that is the point


@pytest.mark.parametrize(
    ("scope", "verb"),
    [
        (Scope("acme", "ada"), "with_owner"),
        (Scope("acme", "ada", "support"), "with_agent"),
        (Scope("acme", "ada", "", "chat-1"), "with_agent"),
        (Scope("acme", "ada", "", "chat-1"), "with_thread"),
        (Scope("acme"), "with_agent"),
        (Scope("acme"), "with_thread"),
    ],
)
def test_a_scope_is_narrowed_once_and_in_order(scope: Scope, verb: str) -> None:
    """B9: nobody moves sideways."""
    with pytest.raises(ScopeDenied):
        getattr(scope, verb)("other")


@pytest.mark.parametrize("verb", ["with_owner", "with_agent", "with_thread"])
def test_narrowing_by_nothing_is_refused(verb: str) -> None:
    """case_C04: an empty name never means the level above."""
    scope = Scope("acme") if verb == "with_owner" else Scope("acme", "ada")
    with pytest.raises(Invalid):
        getattr(scope, verb)("")


@given(scopes(), scopes())
def test_scope_ids_are_equal_only_for_equal_names(one: Scope, other: Scope) -> None:
    """B14, case_C01: no delimiter, case or wildcard makes two scopes one."""
    assert (one.id == other.id) == (one == other)


@given(st.lists(st.sampled_from("ab" + JOINERS), min_size=3, max_size=9), st.data())
def test_names_that_join_to_one_string_have_different_ids(
    letters: list[str], data: st.DataObject
) -> None:
    """B14: the same characters, cut into levels at different places."""
    cuts = st.integers(1, len(letters) - 1)
    text = "x".join(["", *letters, ""])
    one, other = data.draw(cuts), data.draw(cuts)
    ids = {Scope("t" + text[:cut], "o" + text[cut:]).id for cut in (one, other)}
    assert len(ids) == len({one, other})


def test_a_scope_id_is_what_it_was_when_rows_were_written() -> None:
    """Rows carry it: a change here orphans every stored scope."""
    assert Scope("acme", "ada", "support", "chat-1").id == uuid.uuid5(
        uuid.UUID("6f1d6c58-6f0c-5e0b-9b9e-7d3a1f0c2b64"), "acme\0ada\0support\0chat-1"
    )


@given(few, few)
def test_the_chain_is_the_set_of_scopes_that_open_it(one: Scope, other: Scope) -> None:
    """B17, B18: what a key opens is what its readers may be shown."""
    assert one.opens(other) == (one in set(other.chain()))


def test_a_thread_without_agent_opens_no_agents_thread() -> None:
    """B18: else a key of one chat would choose any agent, and read its rows."""
    chat = Scope("acme", "ada", "", "chat-1")
    assert not chat.opens(Scope("acme", "ada", "support", "chat-1"))
    assert chat.opens(chat)


@given(few)
def test_a_chain_goes_from_the_scope_up_to_its_tenant(scope: Scope) -> None:
    """B17: each level once, at most four, never another branch."""
    chain = list(scope.chain())
    assert chain[0] == scope
    assert chain[-1] == Scope(scope.tenant)
    assert len(chain) == len(set(chain)) == sum(1 for v in names_of(scope) if v)
    for level in chain:
        assert all(
            mine in {"", theirs}
            for mine, theirs in zip(names_of(level), names_of(scope), strict=True)
        )


def names_of(scope: Scope) -> tuple[str, ...]:
    return tuple(getattr(scope, level) for level in LEVELS)


def test_exact_mode_sees_its_own_level_only() -> None:
    """B27."""
    scope = Scope("acme", "ada", "support")
    assert scope.visible(ReadMode.EXACT) == (scope,)
    assert scope.visible(ReadMode.CHAIN) == tuple(scope.chain())


def test_a_scope_reads_as_its_levels() -> None:
    assert str(Scope("acme", "ada", "", "chat-1")) == "acme / ada / chat-1"


GRANT = Grant(
    scope=Scope("acme", "ada"),
    permissions=frozenset({Permission.READ}),
    origin=ADA,
    actor=Actor("key:1"),
)


def test_a_grant_opens_its_own_scope_and_those_below() -> None:
    assert GRANT.narrowed() == GRANT.scope
    assert GRANT.narrowed(owner="ada") == GRANT.scope
    assert GRANT.narrowed(agent="a", thread="t") == Scope("acme", "ada", "a", "t")


@pytest.mark.parametrize(
    ("bound", "choice"),
    [
        (Scope("acme", "ada"), {"owner": "bob"}),
        (Scope("acme", "ada", "support"), {"agent": "sales"}),
        (Scope("acme", "ada", "support", "c1"), {"thread": "c2"}),
        (Scope("acme", "ada", "", "c1"), {"agent": "support"}),
        (Scope("acme"), {"agent": "support"}),
    ],
)
def test_a_grant_opens_nothing_beside_or_above(
    bound: Scope, choice: dict[str, str]
) -> None:
    """B9, B497."""
    grant = Grant(bound, GRANT.permissions, ADA, GRANT.actor)
    with pytest.raises(ScopeDenied):
        grant.narrowed(**choice)


def test_a_permission_that_is_not_held_is_refused() -> None:
    GRANT.require(Permission.READ)
    with pytest.raises(PermissionDenied, match="'write'"):
        GRANT.require(Permission.WRITE)


def test_ids_are_version_7_and_ordered_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_700_000_000_000, 1_700_000_001_000))
    monkeypatch.setattr("prism_memory.types.ids._TICKS", Ticks())
    monkeypatch.setattr(
        "prism_memory.types.ids.time.time_ns", lambda: next(clock) * 1_000_000
    )

    ids = [types.uuid7() for _ in range(1_000)]

    assert ids == sorted(ids)
    assert {(i.version, i.variant) for i in ids} == {(7, uuid.RFC_4122)}
    assert ids[0].int >> 80 == 1_700_000_000_000


def test_ids_of_one_moment_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock(monkeypatch)
    ids = [types.uuid7() for _ in range(10_000)]
    assert len(set(ids)) == 10_000
    for bits in (range(62), range(64, 76)):  # each random bit is set in some id
        assert all(any(i.int >> bit & 1 for i in ids) for bit in bits)
        assert all(any(not i.int >> bit & 1 for i in ids) for bit in bits)


def stop_the_clock(monkeypatch: pytest.MonkeyPatch, at: int = MOMENT) -> None:
    monkeypatch.setattr("prism_memory.types.ids._TICKS", Ticks())
    monkeypatch.setattr("prism_memory.types.ids.time.time_ns", lambda: at)


def test_ids_of_one_moment_stand_in_the_order_they_were_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B114: also where a millisecond's counter is used up."""
    stop_the_clock(monkeypatch)

    ids = [types.uuid7() for _ in range(10_000)]

    assert ids == sorted(ids)
    assert {(i.version, i.variant) for i in ids} == {(7, uuid.RFC_4122)}


def test_ids_go_on_where_the_clock_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock(monkeypatch)
    before = types.uuid7()
    monkeypatch.setattr("prism_memory.types.ids.time.time_ns", lambda: MOMENT // 2)

    assert before < types.uuid7() < types.uuid7()


def test_threads_never_make_one_id_twice_nor_go_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop_the_clock(monkeypatch)

    def made(_: int) -> list[int]:
        return [types.uuid7().int >> 64 for _ in range(500)]

    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(made, range(8))]

    assert all(ids == sorted(ids) for ids in found)
    assert len({tick for ids in found for tick in ids}) == 8 * 500


def test_a_forked_child_makes_ids_though_a_thread_was_making_one() -> None:
    ticks = Ticks()
    ticks._lock.acquire()
    ticks.renew()

    assert ticks.following() < ticks.following()


@pytest.mark.parametrize("wrong", ["readwrite", "read", ["all"], None, 7])
def test_a_grant_holds_a_set_of_known_permissions(wrong: Any) -> None:
    """In one text every permission that it contains would be found."""
    with pytest.raises(Invalid) as refused:
        Grant(make_scope(), wrong, ADA, Actor())
    assert refused.value.field == "permissions"
