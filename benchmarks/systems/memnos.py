"""memnos as a library: verbatim turns, its hybrid search, no model call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from benchmarks.corpus import DIMENSIONS
from benchmarks.systems.base import Known, System, Turn, in_batches

SCHEMA: Final = "tenant_memnos"


class Memnos(System):
    """`remember_turn` and `recall` in the owner's namespace.

    Its cross-encoder has to be fetched from a model hub, so it is switched off by its
    own switch, `MEMNOS_RERANK=0`: the order is that of its search. Facts would need a
    language model to be extracted, so there are none, and the quota of turns is what
    is asked for.
    """

    name = "memnos"
    package = "memnos"
    tables = (f"{SCHEMA}.raw_turns",)

    def __init__(self, url: str, known: Known) -> None:
        super().__init__(url, known)
        os.environ["MEMNOS_RERANK"] = "0"
        self._connection: psycopg.Connection[Any] = psycopg.connect(
            url, autocommit=True, row_factory=dict_row
        )
        # Its wheel installs the engine as the top-level package `core`.
        store = import_module("core.store").BrainStore(conn=self._connection)
        import_module("core.control").Control.init(self._connection)
        self._memory: Any = import_module("core.service").MemnosMemory(
            store, known.one, dim=DIMENSIONS, ensure_schema=True
        )
        self._keys: dict[tuple[str, str], list[str]] = {}

    def fill(self, turns: Sequence[Turn]) -> None:
        """Remember turn by turn, so many a transaction."""
        with self.bulk():
            for part in in_batches(turns):
                with self._connection.transaction():
                    for turn in part:
                        self._remember(turn)

    def ask(self, owner: str, question: str, limit: int) -> list[str]:
        """Recall in one namespace; rows are recognised by their words."""
        found = self._memory.recall(
            owner, question, k=max(40, limit), raw_quota=limit, fact_quota=0
        )
        return keys_of([(owner, row["content"]) for row in found], self._keys)

    def empty(self) -> None:
        """Truncate, and forget the keys."""
        super().empty()
        self._keys.clear()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _remember(self, turn: Turn) -> None:
        _, stored, *_ = self._memory.remember_turn(
            turn.owner,
            turn.text,
            speaker=turn.speaker,
            session_id=turn.session,
            observed_at=turn.said_at,
            vec=self.known.one(turn.text),
        )
        self._keys.setdefault((turn.owner, stored), []).append(turn.key)


def keys_of(
    found: Sequence[tuple[str, str]], keys: dict[tuple[str, str], list[str]]
) -> list[str]:
    """Return a key a row: the first of those words for the first such row, and so on.

    memnos answers with words, not with ids; the same words may have been said twice.
    """
    seen: dict[tuple[str, str], int] = {}
    answer = []
    for row in found:
        place = seen.get(row, 0)
        seen[row] = place + 1
        answer.append(keys[row][min(place, len(keys[row]) - 1)])
    return answer
