"""The store's methods: documented, typed, each with its twin, none without a tenant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from asgiref.sync import async_to_sync

import prism_memory
from prism_memory.rag import DocumentStore
from prism_memory.types import AccessGrant, Authorization
from tests.capture import tenant_in_every_statement
from tests.rag.documents import make_store

METHODS: Final = {
    name: method
    for name, method in inspect.getmembers(DocumentStore, inspect.isfunction)
    if not name.startswith("_")
}
TWINLESS: Final = {"transaction"}
"""A block of Django's transactions stands in one thread."""


def calls(store: DocumentStore) -> Mapping[str, Callable[[], object]]:
    def written() -> DocumentStore:
        store.upsert("a.md", "Green tea.", wait=True)
        return store

    def committed() -> None:
        with store.transaction():
            store.upsert("b.md", "Green tea.")

    return {
        "upsert": written,
        "replace_source": lambda: written().replace_source("a.md", "Red tea."),
        "delete_source": lambda: written().delete_source("a.md"),
        "get_by_source": lambda: written().get_by_source("a.md"),
        "sources": lambda: written().sources(),
        "status": lambda: written().status("a.md"),
        "set_source_access": lambda: written().set_source_access({"a.md": []}),
        "source_access": lambda: written().source_access("a.md"),
        "retrieve": lambda: written().retrieve("tea"),
        "query": lambda: written().query("tea"),
        "lexical_query": lambda: written().lexical_query("tea"),
        "set_current_generation": lambda: store.set_current_generation(1),
        "generations": store.generations,
        "transaction": committed,
        "close": store.close,
    }


def test_every_method_is_called_below_and_has_its_twin() -> None:
    plain = {n for n, m in METHODS.items() if not inspect.iscoroutinefunction(m)}
    assert set(calls(make_store())) == plain
    assert METHODS.keys() - plain == {f"a{name}" for name in plain - TWINLESS}
    for method in METHODS.values():
        assert inspect.getdoc(method)
        assert "return" in method.__annotations__
    assert prism_memory.DocumentStore is DocumentStore


@pytest.mark.django_db
@pytest.mark.parametrize("name", calls(make_store()))
def test_a_method_names_the_tenant(name: str) -> None:
    """B22."""
    with tenant_in_every_statement("acme") as seen:
        calls(make_store())[name]()
    assert seen.on_tenants() or name == "close"


@pytest.mark.django_db
def test_the_twins_do_the_same() -> None:
    """B211."""
    store = make_store()

    def run(name: str, *args: Any, **kwargs: Any) -> Any:
        return async_to_sync(getattr(store, name))(*args, **kwargs)

    assert run("aupsert", "a.md", "Green tea.", wait=True).chunks == 1
    assert run("areplace_source", "a.md", "Red tea.").chunks == 1
    assert [item.text for item in run("aget_by_source", "a.md")] == ["Red tea."]
    assert [one.key for one in run("asources")] == ["a.md"]
    assert run("astatus", "a.md").chunks == 1
    run("aset_source_access", {"a.md": [AccessGrant(principal="ann")]})
    assert not run("aretrieve", "tea", 1)
    store = make_store(authorization=Authorization("ann"))
    assert run("asource_access", "a.md") == (AccessGrant(principal="ann"),)
    for name in ("aretrieve", "aquery", "alexical_query"):
        assert [one.text for one in run(name, "tea", 1)] == ["Red tea."]
    assert run("aset_current_generation", 1) is None
    assert run("agenerations").current == 1
    assert run("adelete_source", "a.md").found
    run("aclose")
    assert not store.retrieve("tea")
