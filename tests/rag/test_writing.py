"""Writing through the store: what fails changes nothing, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from prism_memory import backends
from prism_memory.errors import NotVisible, ProviderUnavailable
from prism_memory.models import Record
from tests.rag.documents import OWNER, make_store

pytestmark = pytest.mark.django_db

OLD, NEW = "# Tea\n\nTea is green.\n", "# Tea\n\nTea is red.\n"


def texts(store: Any, key: str = "tea.md") -> list[str]:
    return [item.text for item in store.get_by_source(key)]


def test_an_embedder_that_is_down_leaves_the_old_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B236: and so does anything else that fails before the swap."""
    store = make_store()
    store.upsert("tea.md", OLD, wait=True)

    def down(*_: object, **__: object) -> Any:
        raise ProviderUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(backends.get_embedder(), "embed_texts", down)
        with pytest.raises(ProviderUnavailable):
            store.replace_source("tea.md", NEW)
    assert texts(store) == [OLD.strip()]
    assert store.status("tea.md").state == "indexed"
    store.replace_source("tea.md", NEW)
    assert texts(store) == [NEW.strip()]
    assert store.status("tea.md").state == "indexed"


def test_other_documents_and_other_scopes_are_left_as_they_are() -> None:
    """B236, B237: byte for byte."""
    store, beside = make_store(), make_store(OWNER.with_thread("policies"))
    for one in (store, beside):
        one.upsert("tea.md", OLD, wait=True)
    store.upsert("other.md", OLD, wait=True)
    others = Record.objects.exclude(scope_id=store.scope.id, source__key="tea.md")
    before = [*others.order_by("id").values()]
    store.replace_source("tea.md", NEW)
    assert store.delete_source("tea.md").deleted == 2  # one of them was retired
    assert not store.delete_source("tea.md").found
    with pytest.raises(NotVisible):
        texts(store)
    assert [*others.order_by("id").values()] == before


def test_a_transaction_stands_together_or_not_at_all() -> None:
    """B211, B293: with the pointer and the grants."""
    store = make_store()
    store.upsert("tea.md", OLD)
    with store.transaction():
        store.upsert("tea.md", NEW)
        store.set_current_generation(3)
        store.set_source_access({"tea.md": []})
        transaction.set_rollback(True)
    assert texts(store) == [OLD.strip()]
    assert store.generations().current is None
    assert store.source_access("tea.md") is None
