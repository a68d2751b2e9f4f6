"""The floor: both legs as plain statements, by hand, over a bare connection.

What a careful person would write who needs no governance: the tenant and the scope are
all that is filtered, the legs give ids and scores alone, nothing is fused, and no
object is made of a row. The statements are prepared, as psycopg does by itself.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import sql

from benchmarks.loading import connect
from prism_memory.conf import Limits, settings
from prism_memory.indexing import Space
from prism_memory.recall import Question
from prism_memory.recall.candidates import (
    BM25_B,
    BM25_K1,
    HNSW_EF_SEARCH,
    search_languages,
)
from prism_memory.types import Scope, Vector

EXACT: Final = """
SELECT record_id, vector <=> %(vector)s::halfvec AS distance
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND space_id = {space_id}
   AND scope_id = ANY(%(scope_ids)s::uuid[]) AND vector IS NOT NULL
 ORDER BY distance LIMIT %(rows)s::integer
"""

INDEX: Final = """
SELECT record_id, vector::halfvec({dimensions})
                  <=> %(vector)s::halfvec({dimensions}) AS distance
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND space_id = {space_id}
   AND coalesce(scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
 ORDER BY vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})
 LIMIT %(rows)s::integer
"""

WORDS: Final = r"""
WITH terms AS MATERIALIZED (
  SELECT lexeme, ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''')
                  || '''')::tsquery AS query
    FROM (SELECT DISTINCT unnest(tsvector_to_array(
                   to_tsvector(language::regconfig, %(query)s::text))) AS lexeme
            FROM unnest(%(languages)s::text[]) AS language) AS words),
matches AS MATERIALIZED (
  SELECT matched.id, terms.lexeme,
         ts_rank(matched.search, terms.query) / 0.0607927 AS frequency,
         length(matched.search) AS length
    FROM terms
   CROSS JOIN LATERAL (
         SELECT record.id, record.search
           FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text
            AND record.scope_id = ANY(%(scope_ids)s::uuid[])
            AND record.search @@ (%(sight)s::tsquery && terms.query)
         OFFSET 0) AS matched),
weights AS MATERIALIZED (
  SELECT lexeme,
         ln(1 + (greatest(%(records)s::bigint, count(*)) - count(*) + 0.5)
                / (count(*) + 0.5)) AS weight
    FROM matches GROUP BY lexeme)
SELECT id, sum(weight * frequency * (%(k1)s::float8 + 1)
             / (frequency + %(k1)s::float8
                * (1 - %(b)s::float8 + %(b)s::float8 * length / mean))) AS bm25
  FROM matches
  JOIN weights USING (lexeme)
 CROSS JOIN (SELECT avg(length) AS mean FROM matches) AS lengths
 GROUP BY id ORDER BY bm25 DESC LIMIT %(rows)s::integer
"""


class Floor:
    """Ask both legs in one scope.

    Args:
        scope: Where the reader stands.
        records: How many records that scope holds.
        space: Of the vectors.
        indexed: The vector leg goes by the index, as the app would go.
    """

    def __init__(
        self, scope: Scope, records: int, space: Space, *, indexed: bool
    ) -> None:
        self._connection: psycopg.Connection[Any] = connect()
        if indexed:
            self._connection.execute(
                "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', false),"
                " set_config('hnsw.ef_search', %s, false),"
                " set_config('hnsw.max_scan_tuples', %s, false)",
                [str(HNSW_EF_SEARCH), str(settings.HNSW_MAX_SCAN_TUPLES)],
            )
        constants = {
            "space_id": sql.Literal(space.id),
            "dimensions": sql.Literal(space.identity.dimensions),
        }
        self._near = sql.SQL(INDEX if indexed else EXACT).format(**constants)
        self._given = parameters(scope, records)

    def __call__(self, query: str, vector: Vector) -> None:
        """Run both statements and fetch their rows."""
        text = f"[{','.join(format(value, '.6g') for value in vector)}]"
        self._connection.execute(self._near, self._given | {"vector": text}).fetchall()
        self._connection.execute(WORDS, self._given | {"query": query}).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def parameters(scope: Scope, records: int) -> dict[str, Any]:
    """Return what both statements are given but for the question."""
    ids = [level.id for level in scope.chain()]
    return {
        "tenant": scope.tenant,
        "scope_ids": ids,
        "sight": " | ".join(f"'\x1f{scope_id}'" for scope_id in ids),
        "records": records,
        "languages": search_languages(),
        "rows": Question("?", Limits().top_k).candidate_rows,
        "k1": BM25_K1,
        "b": BM25_B,
    }
