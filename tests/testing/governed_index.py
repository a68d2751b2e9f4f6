"""This app as an index of vectors: it is asked through ``Memory.recall``."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import connection

from prism_memory import Memory, Scope, backends
from prism_memory.backends.hashing import HashEmbedder, hash_vector
from prism_memory.indexing import create_index, drop_index
from prism_memory.types import Role, Vector
from tests.recall.bulk import DIMENSIONS, fill, seed, space

MANY = 1_000
"""Rows from which an index is made anew, which is quicker than to add them to it."""

UPDATE = """
UPDATE prism_memory_embedding AS embedding
   SET vector = given.vector
  FROM unnest(%(keys)s::text[], %(vectors)s::halfvec[]) AS given (key, vector)
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s AND record.key = given.key
 WHERE embedding.tenant = record.tenant AND embedding.record_id = record.id
"""

UNSEED = """
DELETE FROM prism_memory_{table}
 WHERE tenant = %(tenant)s AND {column} IN (
       SELECT id FROM prism_memory_record
        WHERE tenant = %(tenant)s AND (key = ANY(%(keys)s) OR text = 'zzz'))
"""

COUNT = """
UPDATE prism_memory_scope AS scope
   SET vectors = (SELECT count(*) FROM prism_memory_embedding AS embedding
                   WHERE embedding.tenant = scope.tenant
                     AND embedding.scope_id = scope.id)
 WHERE tenant = %(tenant)s
"""


class GivenEmbedder(HashEmbedder):
    """Gives the vectors that a test laid down for its texts."""

    vectors: ClassVar[dict[str, Vector]] = {}

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        del role, timeout_seconds
        return [
            self.vectors[t] if t in self.vectors else hash_vector(t, DIMENSIONS)
            for t in texts
        ]


EMBEDDERS = {
    "default": {
        "BACKEND": f"{__name__}.GivenEmbedder",
        "OPTIONS": {"dimensions": DIMENSIONS, "for_tests": True},
    }
}


class GovernedIndex:
    """A tenant of its own. Not in a transaction if ``indexed``.

    Args:
        indexed: Search through the HNSW index, which the settings must want too.

    Attributes:
        strategies: How recall looked, of all instances.
    """

    dimensions = DIMENSIONS
    strategies: ClassVar[set[str]] = set()

    def __init__(self, *, indexed: bool = False) -> None:
        self.tenant = f"index {uuid.uuid4()}"
        self.indexed = indexed
        self.keys: dict[str, str] = {}
        self.batches = itertools.count()
        self.scopes: set[str] = set()

    def scope(self, name: str) -> Scope:
        return Scope(self.tenant, f"scope {name}")

    def add(
        self, ids: Sequence[str], scopes: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        units = embedded(vectors, role="passage")
        rows = [*zip(ids, scopes, units, strict=True)]
        if self.indexed and len(ids) >= MANY and self.scopes:
            drop_index(using="default", space=space())
        for name in dict.fromkeys(scopes):
            self.put(name, [(i, unit) for i, at, unit in rows if at == name])
        self.execute(COUNT)

    def put(self, name: str, rows: list[tuple[str, list[float]]]) -> None:
        if name not in self.scopes:
            seed(self.scope(name))
            self.scopes.add(name)
            self.delete([])
        batch = f"{self.tenant} {next(self.batches)}"
        fill(self.scope(name), len(rows), text=batch)
        keys = [f"{batch}-False-True-{number + 1}" for number in range(len(rows))]
        self.keys |= {i: key for (i, _), key in zip(rows, keys, strict=True)}
        self.execute(UPDATE, keys=keys, vectors=[str(unit) for _, unit in rows])

    def search(self, scope: str, query: Vector, k: int) -> list[tuple[str, float]]:
        text = f"query {uuid.uuid4()}"
        embedded([query], role="query")  # refused here where no space is made yet
        GivenEmbedder.vectors[text] = query
        if self.indexed and self.scopes:
            # Sparser than by default: quicker to build, and harder to find all by.
            create_index(using="default", space=space(), m=12, ef_construction=40)
        found = Memory(self.scope(scope)).recall(text, k, legs="vector")
        self.strategies.add(found.strategy)
        ids = {key: i for i, key in self.keys.items()}
        return [(ids[hit.key], hit.cosine or 0.0) for hit in found]

    def remove(self, ids: Sequence[str]) -> None:
        self.delete([self.keys[i] for i in ids if i in self.keys])
        self.execute(COUNT)

    def delete(self, keys: list[str]) -> None:
        for table, column in (("embedding", "record_id"), ("record", "id")):
            self.execute(UNSEED.format(table=table, column=column), keys=keys)

    def execute(self, statement: str, **given: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"tenant": self.tenant, **given})


def embedded(vectors: Sequence[Vector], *, role: Role) -> list[list[float]]:
    """Take vectors in by the app's own door, which measures and scales them."""
    texts = [f"given {uuid.uuid4()}" for _ in vectors]
    GivenEmbedder.vectors.update(zip(texts, vectors, strict=True))
    return backends.embed(backends.get_embedder(), texts, role=role)
