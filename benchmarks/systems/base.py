"""What every compared system does: take turns, give back their keys."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from benchmarks.loading import BUILD_MEGABYTES
from prism_memory import backends
from prism_memory.types import Role

BATCH_ROWS = 500

HNSW = """
SELECT format('DROP INDEX %%s', index.indexrelid::regclass),
       pg_get_indexdef(index.indexrelid)
  FROM pg_index AS index
  JOIN pg_class AS class ON class.oid = index.indexrelid
  JOIN pg_am AS method ON method.oid = class.relam
 WHERE method.amname = 'hnsw' AND index.indrelid = %s::regclass
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """What each system is given to remember.

    Args:
        owner: Whose memory it is: the scope that is asked later.
        key: By which it is recognised when it comes back.
        text: What is indexed and embedded, the same for every system.
        session: The conversation it was said in.
        ordinal: Its place there, from 0.
        speaker: Who said it.
        said_at: When, aware.
    """

    owner: str
    key: str
    text: str
    session: str = "all"
    ordinal: int = 0
    speaker: str = "ada"
    said_at: dt.datetime | None = None


class Known:
    """Vectors of texts, embedded once and then only looked up.

    Args:
        alias: Of the embedder of this app that makes them.
    """

    def __init__(self, alias: str = "default") -> None:
        self.alias = alias
        self._vectors: dict[tuple[str, str], list[float]] = {}

    def learn(self, texts: Sequence[str], role: Role = "passage") -> None:
        """Embed what is not known yet."""
        missing = [t for t in dict.fromkeys(texts) if (self.alias, t) not in self]
        embedder = backends.get_embedder(self.alias)
        for start in range(0, len(missing), BATCH_ROWS):
            part = missing[start : start + BATCH_ROWS]
            for text, vector in zip(
                part, backends.embed(embedder, part, role=role), strict=True
            ):
                self._vectors[self.alias, text] = list(map(float, vector))

    def __contains__(self, name: tuple[str, str]) -> bool:
        return name in self._vectors

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text."""
        self.learn(texts, "query")
        return [self._vectors[self.alias, text] for text in texts]

    def one(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self([text])[0]


class System(ABC):
    """A memory system on the run's database.

    Args:
        url: Of the database.
        known: Where its vectors come from.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    """What pip installs."""
    tables: ClassVar[Sequence[str]]

    def __init__(self, url: str, known: Known) -> None:
        self.url = url
        self.known = known

    @classmethod
    def version(cls) -> str:
        """Return which one is installed.

        Raises:
            PackageNotFoundError: None is.
        """
        return metadata.version(cls.package)

    @abstractmethod
    def fill(self, turns: Sequence[Turn]) -> None:
        """Remember all turns and have them ready to be asked for."""

    @abstractmethod
    def ask(self, owner: str, question: str, limit: int) -> list[str]:
        """Return the keys of what an owner's memory finds, best first."""

    def empty(self) -> None:
        """Forget everything."""
        names = sql.SQL(", ").join(map(identifier, self.tables))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Fill without HNSW indexes; build them as they were, and VACUUM, after."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            found = [
                row
                for table in self.tables
                for row in connection.execute(HNSW, [table]).fetchall()
            ]
            _run(connection, [drop for drop, _ in found])
            yield
            memory = sql.SQL("SET maintenance_work_mem = {}").format(
                sql.Literal(f"{BUILD_MEGABYTES}MB")
            )
            connection.execute(memory)
            _run(connection, [definition for _, definition in found])
            for table in self.tables:
                vacuum = sql.SQL("VACUUM (ANALYZE) {}").format(identifier(table))
                connection.execute(vacuum)


def _run(connection: psycopg.Connection[Any], statements: Sequence[str]) -> None:
    """Run what PostgreSQL itself has written."""
    for statement in statements:
        connection.execute(sql.SQL(statement))


def identifier(table: str) -> sql.Identifier:
    """Return the name of a table, with its schema if it has one."""
    return sql.Identifier(*table.split("."))


def in_batches(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Yield the turns, so many at a time."""
    for start in range(0, len(turns), BATCH_ROWS):
        yield turns[start : start + BATCH_ROWS]
