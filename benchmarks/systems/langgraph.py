"""LangGraph's `PostgresStore` with its vector index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module

from benchmarks.corpus import DIMENSIONS
from benchmarks.systems.base import Known, System, Turn, in_batches


class LangGraph(System):
    """`put` under ("peers", owner), `search` with a query there.

    Its index configuration as documented: dimensions, the embedding function, the field
    that holds the text; the index is then HNSW over the cosine.
    """

    name = "langgraph"
    package = "langgraph-checkpoint-postgres"
    tables = ("store", "store_vectors")

    def __init__(self, url: str, known: Known) -> None:
        super().__init__(url, known)
        self._open = ExitStack()
        store = import_module("langgraph.store.postgres").PostgresStore
        index = {"dims": DIMENSIONS, "embed": known, "fields": ["text"]}
        self._store = self._open.enter_context(store.from_conn_string(url, index=index))
        self._store.setup()

    def fill(self, turns: Sequence[Turn]) -> None:
        """Put batch by batch through the store's own `batch`."""
        put = import_module("langgraph.store.base").PutOp
        with self.bulk():
            for part in in_batches(turns):
                self._store.batch(
                    [put(("peers", t.owner), t.key, value_of(t)) for t in part]
                )

    def ask(self, owner: str, question: str, limit: int) -> list[str]:
        """Search one namespace."""
        found = self._store.search(("peers", owner), query=question, limit=limit)
        return [item.key for item in found]

    def close(self) -> None:
        """Close the store's connection."""
        self._open.close()


def value_of(turn: Turn) -> dict[str, str]:
    """Return the value that is put."""
    return {"text": turn.text, "session": turn.session, "speaker": turn.speaker}
