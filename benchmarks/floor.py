"""The floor: both legs as plain statements, by hand, over a bare connection.

What a careful person would write who needs no governance: the tenant and the scope are
all that is filtered, the legs give ids and scores alone, nothing is fused, and no
object is made of a row. The statements are prepared, as psycopg does by itself, with
one plan each, and their limits are those of recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString

import psycopg
from psycopg import sql

from benchmarks.loading import connect
from prism_memory.conf import Limits, settings
from prism_memory.db.queries import vector_text
from prism_memory.indexing import Space
from prism_memory.recall import Question
from prism_memory.recall.candidates import (
    BM25_B,
    BM25_K1,
    HNSW_EF_SEARCH,
    search_languages,
)
from prism_memory.recall.candidates.text import SMALL_ROWS, TERM_ROWS
from prism_memory.types import Scope, Vector

Rows = list[tuple[Any, ...]]

EXACT: Final = """
SELECT near.record_id, near.distance
  FROM unnest(%(scope_ids)s::uuid[]) AS scope(id)
 CROSS JOIN LATERAL (
       SELECT record_id, vector <=> %(vector)s::halfvec AS distance
         FROM prism_memory_embedding
        WHERE tenant = %(tenant)s::text AND space_id = {space_id}
          AND scope_id = scope.id AND vector IS NOT NULL
       OFFSET 0) AS near
 ORDER BY near.distance LIMIT {rows}
"""

INDEX: Final = """
SELECT record_id, vector::halfvec({dimensions})
                  <=> %(vector)s::halfvec({dimensions}) AS distance
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND space_id = {space_id}
   AND coalesce(scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
 ORDER BY vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})
 LIMIT {rows}
"""

LOOKED: Final = r"""
WITH terms AS MATERIALIZED (
  SELECT lexeme, ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''')
                  || '''')::tsquery AS query
    FROM (SELECT DISTINCT unnest(tsvector_to_array(
                   to_tsvector(language::regconfig, %(query)s::text))) AS lexeme
            FROM unnest(%(languages)s::text[]) AS language) AS words),
looked AS MATERIALIZED (
  SELECT terms.lexeme, terms.query, matched.id, matched.search,
         ts_rank(matched.search, terms.query) / 0.0607927 AS frequency,
         length(matched.search) AS length
    FROM terms
   CROSS JOIN LATERAL (
         SELECT record.id, record.search
           FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text
            AND coalesce(record.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
            AND record.search @@ (%(sight)s::tsquery && terms.query)
          LIMIT {term_rows} + 1) AS matched
   WHERE length(matched.search) BETWEEN 0 AND 1000000000)"""

SMALL: Final = r"""
WITH terms AS MATERIALIZED (
  SELECT lexeme, ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''')
                  || '''')::tsquery AS query
    FROM (SELECT DISTINCT unnest(tsvector_to_array(
                   to_tsvector(language::regconfig, %(query)s::text))) AS lexeme
            FROM unnest(%(languages)s::text[]) AS language) AS words),
held AS MATERIALIZED (
  SELECT record.id, record.search
    FROM unnest(%(scope_ids)s::uuid[]) AS scope(id)
   CROSS JOIN LATERAL (
         SELECT * FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text AND record.scope_id = scope.id
            AND record.scope_id BETWEEN scope.id AND scope.id
            AND coalesce(record.search @@ (
                  SELECT string_agg(query::text, ' | ')::tsquery FROM terms), FALSE)
         OFFSET 0) AS record),
looked AS MATERIALIZED (
  SELECT terms.lexeme, terms.query, held.id, held.search,
         ts_rank(held.search, terms.query) / 0.0607927 AS frequency,
         length(held.search) AS length
    FROM terms JOIN held ON held.search @@ terms.query)"""
"""As ``LOOKED`` where so few rows are in sight that all are read."""

COMMON: Final = """
SELECT coalesce(bool_or(held > {term_rows}), FALSE)
  FROM (SELECT count(*) AS held FROM looked GROUP BY lexeme) AS counted
"""

WORDS: Final = """,
counted AS MATERIALIZED (
  SELECT lexeme, count(*)::float8 AS records FROM looked GROUP BY lexeme),
matches AS (SELECT lexeme, id, frequency, length FROM looked)"""

BOUNDED: Final = """,
sample AS MATERIALIZED (
  SELECT taken.search
    FROM unnest(%(scope_ids)s::uuid[]) AS one(scope_id)
   CROSS JOIN LATERAL (
         (SELECT record.search FROM prism_memory_record AS record
           WHERE record.tenant = %(tenant)s::text AND record.scope_id = one.scope_id
           ORDER BY record.sequence DESC LIMIT 250)
         UNION ALL
         (SELECT record.search FROM prism_memory_record AS record
           WHERE record.tenant = %(tenant)s::text AND record.scope_id = one.scope_id
           ORDER BY record.sequence LIMIT 250)) AS taken),
counted AS MATERIALIZED (
  SELECT lexeme, query, held > {term_rows} AS common,
         CASE WHEN held <= {term_rows} THEN held::float8
              ELSE greatest(held::float8, %(records)s::bigint * (
                     SELECT (count(*) FILTER (WHERE sample.search @@ query) + 0.5)
                            / (count(*) + 1.0) FROM sample)) END AS records
    FROM (SELECT lexeme, query, count(*) AS held
            FROM looked GROUP BY lexeme, query) AS held),
commons AS MATERIALIZED (
  SELECT lexeme, query FROM counted WHERE common ORDER BY records, lexeme LIMIT 8),
pairs AS MATERIALIZED (
  SELECT string_agg('(' || one.query::text || ' & ' || other.query::text || ')', ' | '
         )::tsquery AS query
    FROM commons AS one JOIN commons AS other ON one.lexeme < other.lexeme),
pool AS MATERIALIZED (
  SELECT DISTINCT ON (id) id, search
    FROM (SELECT id, search
            FROM (SELECT looked.id, looked.search, common, row_number() OVER (
                           PARTITION BY lexeme
                           ORDER BY looked.frequency DESC, looked.length,
                                    looked.id) AS place
                    FROM looked JOIN counted USING (lexeme)) AS best
           WHERE NOT common OR place <= {rows}
          UNION ALL
          SELECT matched.id, matched.search
            FROM pairs
           CROSS JOIN LATERAL (
                 SELECT record.id, record.search
                   FROM prism_memory_record AS record
                  WHERE record.tenant = %(tenant)s::text
                    AND coalesce(record.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
                    AND record.search @@ (%(sight)s::tsquery && pairs.query)
                  LIMIT {term_rows}) AS matched) AS every
   ORDER BY id),
matches AS MATERIALIZED (
  SELECT lexeme, id, frequency, length
    FROM looked JOIN counted USING (lexeme) WHERE NOT common
  UNION ALL
  SELECT counted.lexeme, pool.id,
         ts_rank(pool.search, counted.query) / 0.0607927, length(pool.search)
    FROM counted JOIN pool ON counted.common AND pool.search @@ counted.query)"""

SCORED: Final = """,
weights AS MATERIALIZED (
  SELECT lexeme, ln(1 + (greatest(%(records)s::bigint, records) - records + 0.5)
                        / (records + 0.5)) AS weight
    FROM counted)
SELECT id, sum(weight * frequency * (%(k1)s::float8 + 1)
             / (frequency + %(k1)s::float8
                * (1 - %(b)s::float8 + %(b)s::float8 * length / mean))) AS bm25
  FROM matches
  JOIN weights USING (lexeme)
 CROSS JOIN (SELECT avg(length) AS mean FROM matches) AS lengths
 GROUP BY id ORDER BY bm25 DESC, id LIMIT {rows}
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
        self._connection.execute("SET plan_cache_mode = force_generic_plan")
        self._constants = {
            "space_id": sql.Literal(space.id),
            "dimensions": sql.Literal(space.identity.dimensions),
            "rows": sql.Literal(Question("?", Limits().top_k).candidate_rows),
            "term_rows": sql.Literal(TERM_ROWS),
        }
        self._given = parameters(scope, records)
        self._near = self._composed(INDEX if indexed else EXACT)
        looked = SMALL if records <= SMALL_ROWS else LOOKED
        self._words = self._composed(looked + WORDS + SCORED)

    def learn(self, questions: Sequence[str]) -> None:
        """Bound the text leg if a question has a common word, as recall learns to."""
        check = self._composed(LOOKED + COMMON)
        for query in questions:
            row = self._connection.execute(check, self._given | {"query": query})
            if row.fetchall()[0][0]:
                self._words = self._composed(LOOKED + BOUNDED + SCORED)
                return

    def __call__(self, query: str, vector: Vector) -> tuple[Rows, Rows]:
        """Run both statements; return the rows of the vectors and of the words."""
        text = vector_text(vector)
        given = self._given | {"vector": text}
        near = self._connection.execute(self._near, given).fetchall()
        given = self._given | {"query": query}
        return near, self._connection.execute(self._words, given).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _composed(self, statement: LiteralString) -> bytes:
        return sql.SQL(statement).format(**self._constants).as_bytes(self._connection)


def parameters(scope: Scope, records: int) -> dict[str, Any]:
    """Return what both statements are given but for the question."""
    ids = [level.id for level in scope.chain()]
    return {
        "tenant": scope.tenant,
        "scope_ids": ids,
        "sight": " | ".join(f"'\x1f{scope_id}'" for scope_id in ids),
        "records": 1 << max(0, records - 1).bit_length(),  # as recall rounds it
        "languages": search_languages(),
        "rows": Question("?", Limits().top_k).candidate_rows,
        "k1": BM25_K1,
        "b": BM25_B,
    }
