"""What the suite of stores of documents works with: the contract, and a document."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from prism_memory.errors import PrismMemoryError
from prism_memory.testing.requiring import require
from prism_memory.types import Scope

GUIDE: Final = "# Trains\n\nTrains are booked at the desk.\n\n# Tea\n\nTea is green.\n"
NEW_GUIDE: Final = (
    "# Trains\n\nTrains are booked at the desk.\n\n# Cocoa\n\nNone left.\n"
)
QUESTION: Final = "Trains are booked at the desk."


class Store(Protocol):
    """What a store of documents has; see ``prism_memory.rag.DocumentStore``.

    What is asked gives passages with ``id``, ``text``, ``retrieval``, ``trust`` and
    ``provenance``, and is ``truncated`` or not. All are methods, whose options a store
    of your own may spell out as it likes.
    """

    @property
    def upsert(self) -> Callable[..., Any]:
        """Store a document by key and text, or what changed of it."""

    @property
    def replace_source(self) -> Callable[..., Any]:
        """Store it once its vectors are made."""

    @property
    def delete_source(self) -> Callable[..., Any]:
        """Delete the document of a key."""

    @property
    def get_by_source(self) -> Callable[..., Any]:
        """Return a page of its chunks, in their order."""

    @property
    def retrieve(self) -> Callable[..., Any]:
        """Return passages by vector and by words."""

    @property
    def query(self) -> Callable[..., Any]:
        """Return passages by vector."""

    @property
    def lexical_query(self) -> Callable[..., Any]:
        """Return passages by words."""

    @property
    def set_current_generation(self) -> Callable[..., int | None]:
        """Let readers see one generation; return the one before."""

    @property
    def transaction(self) -> Callable[[], AbstractContextManager[None]]:
        """Let what is written stand together, or not at all."""

    @property
    def close(self) -> Callable[[], None]:
        """Give back what was opened."""


Factory = Callable[[Scope], Store]
"""Makes a store of a scope that nobody wrote to yet, with an origin to write by."""


def somewhere() -> Scope:
    """Return a scope that nobody wrote to."""
    name = uuid.uuid4().hex
    return Scope(f"t-{name}", owner=f"o-{name}", thread=f"c-{name}")


def written(
    factory: Factory,
    scope: Scope | None,
    store: Store | None = None,
    text: str = GUIDE,
    key: str = "guide.md",
) -> Store:
    """Return a store of the scope, or that one, once it holds the guide."""
    store = store or factory(scope or somewhere())
    store.upsert(key, text, wait=True)
    return store


def found(store: Store, way: str) -> list[Any]:
    return [*getattr(store, way)(QUESTION, 8)]


def ids(store: Store) -> list[Any]:
    return [item.id for item in store.get_by_source("guide.md")]


def refused(call: Callable[[], object], name: str) -> None:
    try:
        call()
    except PrismMemoryError:
        return
    require(holds=False, message=f"it was not refused: {name}")
