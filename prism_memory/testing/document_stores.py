"""What every store of documents must do; run it against your own.

.. code-block:: python

    from prism_memory.testing.document_stores import check_document_store


    @pytest.mark.django_db
    def test_my_store_conforms():
        check_document_store(MyStore)

Each rule is a function of its own, so that a test can be parametrised over ``RULES``.
Every rule works in scopes of its own, so one database serves them all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from prism_memory.testing.documents import (
    GUIDE,
    NEW_GUIDE,
    QUESTION,
    Factory,
    Store,
    found,
    ids,
    refused,
    somewhere,
    written,
)
from prism_memory.testing.requiring import require
from prism_memory.types import Scope

__all__ = ["RULES", "Store", "check_document_store"]

FOUND_BY: Final = {
    "retrieve": ("vector", "lexical", "hybrid"),
    "query": ("vector",),
    "lexical_query": ("lexical",),
}
"""What may have found a passage, by the way that was asked."""

WAYS: Final = tuple(FOUND_BY)


def check_document_store(factory: Factory) -> None:
    """Check a store against every rule below.

    Raises:
        AssertionError: A rule does not hold; the text says which and how.
    """
    for rule in RULES:
        rule(factory)


def is_empty_at_first(factory: Factory) -> None:
    """No document, no passage, and no error."""
    store = factory(somewhere())
    for way in WAYS:
        require(not found(store, way), f"an empty store gave passages by {way}")


def finds_what_is_written(factory: Factory) -> None:
    """B211, B232: by every way, verbatim, labelled, and cited by its place."""
    scope = somewhere()
    store = written(factory, scope)
    for way, labels in FOUND_BY.items():
        first = getattr(store, way)(QUESTION, 1)[0]
        require(QUESTION in first.text, f"{way} does not find the nearest first")
        require(first.text in GUIDE, f"{way} gave words that the document has not")
        require(first.retrieval in labels, f"{way} does not say what found it")
        whence = first.provenance
        require(whence.source == "guide.md", f"{way} names another document")
        require(whence.citation == "guide.md#0001", f"{way} cites another place")
        require(whence.scope == scope, f"{way} names another scope")
        trust = first.trust
        labelled = trust.untrusted and trust.inert and trust.injection_capable
        require(labelled, f"{way} vouches for a passage")


def reads_by_source(factory: Factory) -> None:
    """B211: the chunks in their order, in pages that end."""
    store = written(factory, somewhere())
    page = store.get_by_source("guide.md", limit=1)
    texts = [item.text for item in page]
    while page.next_cursor is not None:
        page = store.get_by_source("guide.md", limit=1, cursor=page.next_cursor)
        texts += [item.text for item in page]
    places = [GUIDE.index(text) for text in texts]
    require(len(texts) > 1 and places == sorted(places), "chunks are not in order")
    refused(lambda: store.get_by_source("none.md"), "a document that is not there")


def writes_the_same_once(factory: Factory) -> None:
    """B276, B277, B239: what is unchanged keeps its id; what vanished is not found."""
    store = written(factory, somewhere())
    before = ids(store)
    require(ids(written(factory, None, store)) == before, "the same text changed ids")
    written(factory, None, store, NEW_GUIDE)
    after = ids(store)
    require(before[0] in after, "an unchanged chunk lost its id")
    texts = {one.text for one in store.retrieve("tea cocoa", 8)}
    require(not any("green" in text for text in texts), "a vanished chunk is found")
    require(any("Cocoa" in text for text in texts), "a new chunk is not found")


def replaces_and_deletes_only_that_source(factory: Factory) -> None:
    """B236, B237."""
    store = written(factory, somewhere())
    written(factory, None, store, GUIDE, key="other.md")
    store.replace_source("guide.md", NEW_GUIDE)
    sources = {one.provenance.source for one in store.retrieve("tea", 8)}
    require("other.md" in sources, "replacing one document touched another")
    store.delete_source("guide.md")
    left = {one.provenance.source for one in store.retrieve(QUESTION, 8)}
    require(left == {"other.md"}, "not exactly that document was deleted")


def shows_no_strangers_document(factory: Factory) -> None:
    """B4, B5, B6: the same key and words in other tenants, owners and threads."""
    mine = somewhere()
    written(factory, mine)
    strangers = (
        Scope(f"{mine.tenant}-other", owner=mine.owner, thread=mine.thread),
        Scope(mine.tenant, owner=f"{mine.owner}-other", thread=mine.thread),
        Scope(mine.tenant, owner=mine.owner, thread=f"{mine.thread}-other"),
        Scope(mine.tenant, owner=mine.owner),
    )
    for stranger in strangers:
        store = factory(stranger)
        for way in WAYS:
            require(not found(store, way), f"{way} shows a stranger's document")
        refused(partial(store.get_by_source, "guide.md"), "a stranger's document")
        written(factory, None, store)
    for way in WAYS:
        scopes = {one.provenance.scope for one in found(factory(mine), way)}
        require(scopes == {mine}, f"{way} shows what stands above or beside")


def asks_the_scopes_that_are_named(factory: Factory) -> None:
    """B228: eight at most, and none beside the store's own."""
    mine = somewhere()
    store = written(factory, mine)
    above = factory(Scope(mine.tenant, owner=mine.owner))
    found_there = above.retrieve(QUESTION, 1, scopes=[mine])
    require(len(found_there) == 1, "a scope below is not asked by its name")
    beside = Scope(mine.tenant, owner=mine.owner, thread="beside")
    refused(lambda: store.retrieve(QUESTION, scopes=[beside]), "a scope beside")
    refused(lambda: store.retrieve(QUESTION, scopes=[mine] * 9), "nine scopes")


def swaps_generations(factory: Factory) -> None:
    """B209, B210: swapped and rolled back; what has none is always seen."""
    store = factory(somewhere())
    for number, text in ((1, "Trains of May"), (2, "Trains of June")):
        store.upsert("trains.md", text, generation=number, wait=True)
    store.upsert("always.md", "Trains always", wait=True)

    def seen() -> set[str]:
        return {one.text for one in store.retrieve("trains", 8)}

    store.set_current_generation(1)
    require(seen() == {"Trains of May", "Trains always"}, "another generation is seen")
    before = store.set_current_generation(2)
    require(seen() == {"Trains of June", "Trains always"}, "a swap does not show")
    store.set_current_generation(before)
    require(seen() == {"Trains of May", "Trains always"}, "a swap is not rolled back")
    refused(lambda: store.set_current_generation(-1), "a negative generation")


def rolls_back_whole(factory: Factory) -> None:
    """B211, B293: of a transaction that fails, nothing stands."""
    store = written(factory, somewhere())
    with contextlib.suppress(ZeroDivisionError), store.transaction():
        store.upsert("guide.md", NEW_GUIDE)
        store.upsert("late.md", GUIDE)
        raise ZeroDivisionError
    require(len(ids(store)) == 2, "what was rolled back changed the document")
    refused(lambda: store.get_by_source("late.md"), "what was rolled back")
    with store.transaction():
        store.upsert("late.md", GUIDE)
    require(len(store.get_by_source("late.md")) == 2, "what was committed is not there")


def narrows_by_metadata(factory: Factory) -> None:
    """B215."""
    store = factory(somewhere())
    for number in (1, 2):
        metadata = {"n": number}
        store.upsert(f"{number}.md", f"Trains {number}", metadata=metadata, wait=True)
    kept = [one.text for one in store.retrieve("trains", 8, filter={"n": 2})]
    require(kept == ["Trains 2"], "the filter does not narrow by metadata")


def keeps_its_bounds(factory: Factory) -> None:
    """B226, B227, B229: over a cap is refused; what is cut is told."""
    store = written(factory, somewhere())
    wishes: dict[str, Any]
    for wishes in (
        {"top_k": 33},
        {"candidates": 129},
        {"rrf_k": 1_001},
        {"max_bytes": 524_289},
        {"max_tokens": 8_001},
        {"lexical": "trigram"},
    ):
        refused(partial(store.retrieve, QUESTION, **wishes), str(wishes))
    cut = store.retrieve("trains tea", 8, max_tokens=12)
    require(cut.truncated and len(cut) == 1, "what is cut is not told")
    require(
        not store.retrieve("trains tea", 8).truncated, "nothing was cut, and is told"
    )


def closes(factory: Factory) -> None:
    """B489: twice is safe, and what is written stays."""
    scope = somewhere()
    store = written(factory, scope)
    store.close()
    store.close()
    require(bool(found(factory(scope), "retrieve")), "what was written is gone")


RULES: Final[tuple[Callable[[Factory], None], ...]] = (
    is_empty_at_first,
    finds_what_is_written,
    reads_by_source,
    writes_the_same_once,
    replaces_and_deletes_only_that_source,
    shows_no_strangers_document,
    asks_the_scopes_that_are_named,
    swaps_generations,
    rolls_back_whole,
    narrows_by_metadata,
    keeps_its_bounds,
    closes,
)
"""Every rule; each takes a factory, and raises AssertionError."""
