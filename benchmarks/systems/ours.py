"""This app, through its Python door."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks import loading
from benchmarks.systems.base import System, Turn, in_batches
from prism_memory import Memory, backends, indexing
from prism_memory.conf import settings
from prism_memory.types import Entry, Kind, Origin, Scope, SourceRef, Trust

TENANT = "peers"
DRAIN_ROWS = 128


class Ours(System):
    """`Memory.remember`, the drain, `Memory.recall`."""

    name = "ours"
    package = "django-prism-memory"
    tables = tuple(f"prism_memory_{table}" for table in loading.TABLES)

    def fill(self, turns: Sequence[Turn]) -> None:
        """Remember, embed, and index a table too large for exact scans alone."""
        by_owner: dict[str, list[Turn]] = {}
        for turn in turns:
            by_owner.setdefault(turn.owner, []).append(turn)
        for owner, own in by_owner.items():
            for part in in_batches(own):
                self._memory(owner).remember([entry_of(turn) for turn in part])
        loading.vacuum()  # as autovacuum would in time: the drain plans by it
        self._drain()
        loading.vacuum()
        if len(turns) > settings.EXACT_SCAN_ROWS:
            loading.build_index()

    def ask(self, owner: str, question: str, limit: int) -> list[str]:
        """Recall by both legs, as shipped."""
        found = self._memory(owner).recall(question, top_k=limit)
        return [hit.key for hit in found.hits]

    def empty(self) -> None:
        """Truncate, and drop the index too."""
        loading.empty()

    def close(self) -> None:
        """Leave Django's connections to the end of the run."""

    def _memory(self, owner: str) -> Memory:
        return Memory(Scope(TENANT, owner=owner), embedder=self.known.alias)

    def _drain(self) -> None:
        alias = self.known.alias
        embedder = backends.get_embedder(alias)
        space = indexing.active(
            using="default", alias=alias, identity=embedder.identity
        )
        indexing.drain(
            using="default",
            tenant=TENANT,
            space=space,
            embed=partial(backends.embed, embedder, role="passage"),
            batch=DRAIN_ROWS,
        )


def entry_of(turn: Turn) -> Entry:
    """Return a turn with what is known of it; words and vector as every system's."""
    return Entry(
        turn.text,
        key=turn.key,
        kind=Kind.TURN,
        source=SourceRef(turn.session, turn.ordinal),
        origin=Origin(Trust.USER, turn.speaker),
        embed_text=turn.text,
        lexical_text=turn.text,
        happened_at=turn.said_at,
    )
