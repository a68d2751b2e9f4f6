-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {visible}, the rule of access.sql, and integers that are PostgreSQL constants.

-- name: recall
-- Both legs and their records in one statement. Each leg walks its candidates from
-- the best on and looks at one record after the other until it has enough visible
-- ones, so a page is full whenever enough of them exist, and no wide row is read for
-- a candidate that is not needed. Which way the vector leg goes is decided here, by
-- one-time filters, not by the planner.
WITH {nearest},
terms AS MATERIALIZED (
  SELECT lexeme, ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''')
                  || '''')::tsquery AS query
    FROM (SELECT DISTINCT unnest(tsvector_to_array(
                   to_tsvector(language::regconfig, %(query)s::text))) AS lexeme
            FROM unnest(%(languages)s::text[]) AS language) AS words),
sight AS MATERIALIZED (
  SELECT string_agg('''' || chr(31) || scope_id::text || '''', ' | ')::tsquery AS query
    FROM unnest(%(scope_ids)s::uuid[]) AS scope_id),
matches AS MATERIALIZED (
  SELECT matched.id AS record_id, terms.lexeme,
         ts_rank(matched.search, terms.query) / 0.0607927 AS frequency,
         length(matched.search) AS length
    FROM terms
   CROSS JOIN sight
   CROSS JOIN LATERAL (
         SELECT record.id, record.search
           FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text
            AND record.scope_id = ANY(%(scope_ids)s::uuid[])
            AND record.search @@ (sight.query && terms.query)
         OFFSET 0) AS matched),
population AS MATERIALIZED (
  SELECT count(*) AS records
    FROM (SELECT FROM prism_memory_record AS record
           WHERE record.tenant = %(tenant)s::text
             AND record.scope_id = ANY(%(scope_ids)s::uuid[])
           LIMIT 10000) AS counted),
weights AS MATERIALIZED (
  SELECT lexeme,
         ln(1 + (greatest(population.records, max(count(*)) OVER ()) - count(*) + 0.5)
                / (count(*) + 0.5)) AS weight
    FROM matches CROSS JOIN population
   GROUP BY lexeme, population.records),
scored AS (
  SELECT record_id,
         sum(weight * frequency * (%(k1)s::float8 + 1)
             / (frequency + %(k1)s::float8
                * (1 - %(b)s::float8 + %(b)s::float8 * length / mean))) AS bm25
    FROM matches
    JOIN weights USING (lexeme)
   CROSS JOIN (SELECT avg(length) AS mean FROM matches) AS lengths
   GROUP BY record_id),
worded AS MATERIALIZED (
  SELECT best.record_id, best.bm25
    FROM (SELECT record_id, bm25 FROM scored ORDER BY bm25 DESC, record_id) AS best
   CROSS JOIN LATERAL (
         SELECT FROM prism_memory_record AS record
          WHERE record.id = best.record_id AND {visible}
         OFFSET 0) AS seen
   LIMIT %(rows)s::integer),
found AS (
  SELECT record_id,
         max(1 - distance) AS cosine, max(vector_rank) AS vector_rank,
         max(bm25) AS bm25, max(text_rank) AS text_rank, max(strategy) AS strategy
    FROM (SELECT record_id, distance, strategy, NULL::float8 AS bm25,
                 row_number() OVER (ORDER BY distance, record_id) AS vector_rank,
                 NULL::bigint AS text_rank
            FROM near
          UNION ALL
          SELECT record_id, NULL, NULL, bm25, NULL,
                 row_number() OVER (ORDER BY bm25 DESC, record_id)
            FROM worded) AS legs
   GROUP BY record_id)
SELECT found.*, fetched.*,
       EXISTS (SELECT FROM prism_memory_embeddingspace AS space
                WHERE space.id = {space_id} AND space.state = 'active') AS current
  FROM (VALUES (1)) AS always(one)
  LEFT JOIN found ON TRUE
  LEFT JOIN LATERAL (
       SELECT record.key, record.text, record.kind, record.tier, record.namespace,
              record.partition, record.ordinal, record.trust, record.writer,
              record.metadata, record.sequence, record.importance, record.created_at,
              record.happened_at, record.valid_from, record.valid_to, record.version,
              place.owner, place.agent, place.thread, source.key AS source
         FROM prism_memory_record AS record
         JOIN prism_memory_scope AS place
           ON place.tenant = %(tenant)s::text AND place.id = record.scope_id
         LEFT JOIN prism_memory_source AS source
           ON source.tenant = %(tenant)s::text AND source.id = record.source_id
        WHERE record.tenant = %(tenant)s::text AND record.id = found.record_id
       OFFSET 0) AS fetched ON TRUE;

-- name: nearest_exact
-- The whole of the scopes in sight, by the index on the scope.
near AS MATERIALIZED (
  SELECT near.record_id, near.distance, 'exact' AS strategy
    FROM (SELECT embedding.record_id,
                 embedding.vector <=> %(vector)s::halfvec AS distance
            FROM prism_memory_embedding AS embedding
           WHERE %(vector)s::text IS NOT NULL
             AND embedding.tenant = %(tenant)s::text
             AND embedding.space_id = {space_id}
             AND embedding.scope_id = ANY(%(scope_ids)s::uuid[])
             AND embedding.vector IS NOT NULL
           ORDER BY distance, embedding.record_id) AS near
   CROSS JOIN LATERAL (
         SELECT FROM prism_memory_record AS record
          WHERE record.id = near.record_id AND {visible}
         OFFSET 0) AS seen
   LIMIT %(rows)s::integer)

-- name: nearest_either
-- Where more vectors are in sight than an exact scan should read, the HNSW index,
-- scanned on and on until enough are visible. Should it end before that, at its cap or
-- because there are no more, the exact scan answers. coalesce() keeps the planner from
-- the index on the scope, and the missing cast in the exact scan from this one.
size AS MATERIALIZED (
  SELECT coalesce(sum(scope.vectors), 0) > %(exact_rows)s::bigint AS large
    FROM prism_memory_scope AS scope
   WHERE scope.tenant = %(tenant)s::text AND scope.id = ANY(%(scope_ids)s::uuid[])),
near_index AS MATERIALIZED (
  SELECT near.record_id, near.distance
    FROM (SELECT embedding.record_id,
                 embedding.vector::halfvec({dimensions})
                 <=> %(vector)s::halfvec({dimensions}) AS distance
            FROM prism_memory_embedding AS embedding
           WHERE (SELECT large FROM size)
             AND embedding.tenant = %(tenant)s::text
             AND embedding.space_id = {space_id}
             AND coalesce(embedding.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
           ORDER BY embedding.vector::halfvec({dimensions})
                    <=> %(vector)s::halfvec({dimensions})) AS near
   CROSS JOIN LATERAL (
         SELECT FROM prism_memory_record AS record
          WHERE record.id = near.record_id AND {visible}
         OFFSET 0) AS seen
   LIMIT %(rows)s::integer),
near_exact AS MATERIALIZED (
  SELECT near.record_id, near.distance
    FROM (SELECT embedding.record_id,
                 embedding.vector <=> %(vector)s::halfvec AS distance
            FROM prism_memory_embedding AS embedding
           WHERE (NOT (SELECT large FROM size)
                  OR (SELECT count(*) FROM near_index) < %(rows)s::integer)
             AND embedding.tenant = %(tenant)s::text
             AND embedding.space_id = {space_id}
             AND embedding.scope_id = ANY(%(scope_ids)s::uuid[])
             AND embedding.vector IS NOT NULL
           ORDER BY distance, embedding.record_id) AS near
   CROSS JOIN LATERAL (
         SELECT FROM prism_memory_record AS record
          WHERE record.id = near.record_id AND {visible}
         OFFSET 0) AS seen
   LIMIT %(rows)s::integer),
near AS (
  SELECT record_id, distance, 'exact' AS strategy FROM near_exact
  UNION ALL
  SELECT record_id, distance, 'index' AS strategy FROM near_index
   WHERE (SELECT count(*) FROM near_index) >= %(rows)s::integer)
