"""The suite of stores of documents: ours passes it, and faults do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from prism_memory.rag import DocumentStore
from prism_memory.testing import document_stores
from prism_memory.testing.document_stores import RULES, Store, check_document_store
from prism_memory.types import Retrieved, Scope
from tests.rag.documents import LOADER

pytestmark = pytest.mark.django_db


def ours(scope: Scope) -> Store:
    return DocumentStore(scope, origin=LOADER)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_our_store_keeps_every_rule(rule: Callable[[Any], None]) -> None:
    """B211, B226 to B229, B232, B236, B237, B489."""
    rule(ours)


class Wide(DocumentStore):
    """Finds what a scope above it holds too."""

    def retrieve(self, *args: Any, **kwargs: Any) -> Retrieved:
        kwargs.setdefault("scopes", [*self.scope.chain()])
        return super().retrieve(*args, **kwargs)


class Silent(DocumentStore):
    """Cuts, and does not tell."""

    def retrieve(self, *args: Any, **kwargs: Any) -> Retrieved:
        return replace(super().retrieve(*args, **kwargs), truncated=False)


class Stuck(DocumentStore):
    """Swaps no generation."""

    def set_current_generation(
        self, generation: int | None, *, reason: str = ""
    ) -> int | None:
        super().set_current_generation(generation, reason=reason)
        return super().set_current_generation(1)


class Deaf(DocumentStore):
    """Deletes nothing."""

    def delete_source(self, key: str, *, reason: str = "") -> Any:
        del key, reason


class Unfiltered(DocumentStore):
    """Takes no notice of a filter."""

    def retrieve(self, *args: Any, **kwargs: Any) -> Retrieved:
        return super().retrieve(*args, **{**kwargs, "filter": None})


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        (Wide, "shows_no_strangers_document"),
        (Silent, "keeps_its_bounds"),
        (Stuck, "swaps_generations"),
        (Deaf, "replaces_and_deletes_only_that_source"),
        (Unfiltered, "narrows_by_metadata"),
    ],
)
def test_a_fault_is_found(fault: type[DocumentStore], rule: str) -> None:
    """B211."""
    with pytest.raises(AssertionError):
        getattr(document_stores, rule)(lambda scope: fault(scope, origin=LOADER))


def test_all_rules_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(document_stores, "RULES", (seen.append,))
    check_document_store(ours)
    assert seen == [ours]
