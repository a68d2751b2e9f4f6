"""Strangers: each way to ask gives a reader what is theirs, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.errors import ScopeDenied
from prism_memory.rag import DocumentStore
from prism_memory.types import Scope
from tests.capture import tenant_in_every_statement
from tests.rag.documents import BOOK, OWNER, make_store, write

pytestmark = pytest.mark.django_db

SECRET = "The safe's number is 4711."
WAYS = ("retrieve", "query", "lexical_query")
STRANGERS = [
    Scope("globex", owner="ada", thread="handbook"),
    Scope("acme", owner="bob", thread="handbook"),
    Scope("acme", owner="ada", agent="support", thread="handbook"),
    OWNER.with_thread("diary"),
    OWNER,
    Scope("acme"),
]


def ask(store: DocumentStore, way: str, **wishes: Any) -> list[str]:
    return [one.text for one in getattr(store, way)(SECRET, 8, **wishes)]


@pytest.mark.parametrize("way", WAYS)
def test_no_stranger_finds_a_document(way: str) -> None:
    """B4, B5, B6, B237, case_C02: the same key and nearer words in each scope."""
    write(SECRET, key="safe.md")
    for stranger in STRANGERS:
        assert ask(make_store(stranger), way) == []
        ours = f"{SECRET} Ours: {stranger}"
        write(ours, scope=stranger, key="safe.md")
        assert ask(make_store(stranger), way) == [ours]
    assert ask(make_store(), way) == [SECRET]


@pytest.mark.parametrize("way", WAYS)
def test_several_scopes_are_asked_by_name(way: str) -> None:
    """B228: the store's own, above and below it; none beside."""
    other = OWNER.with_thread("policies")
    write(SECRET, key="a.md")
    write(f"{SECRET} Still.", scope=other, key="b.md")
    write(f"{SECRET} Private.", scope=OWNER.with_thread("diary"), key="c.md")
    store = make_store(OWNER)
    assert ask(store, way) == []
    assert {*ask(store, way, scopes=[BOOK, other])} == {SECRET, f"{SECRET} Still."}
    assert ask(make_store(), way, scopes=[OWNER, BOOK, BOOK]) == [SECRET]
    for stranger in (other, STRANGERS[0], STRANGERS[1]):
        with pytest.raises(ScopeDenied):
            ask(make_store(), way, scopes=[BOOK, stranger])


@pytest.mark.parametrize("way", WAYS)
def test_nearer_rows_of_strangers_starve_nobody(way: str) -> None:
    """B219's kind: the page is full, whatever stands in other scopes."""
    for number in range(40):
        write(SECRET, scope=OWNER.with_thread(f"t{number % 3}"), key=f"{number}.md")
    write(*(f"{SECRET} And much more is said of it, {n}." for n in range(8)))
    assert len(ask(make_store(), way)) == 8


@pytest.mark.parametrize("way", WAYS)
def test_every_way_names_the_tenant(way: str) -> None:
    """B22."""
    write(SECRET, "another")
    store = make_store()
    with tenant_in_every_statement("acme") as seen:
        assert ask(store, way)
    assert seen.on_tenants()
