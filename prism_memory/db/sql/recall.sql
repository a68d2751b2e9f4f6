-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {visible} and {unwithheld} of access.sql, and integers that are PostgreSQL constants.

-- name: recall
-- Both legs and their records in one statement. Each leg walks its candidates from
-- the best on and looks at one record after the other until it has enough visible
-- ones, so a page is full whenever enough of them exist, and no wide row is read for
-- a candidate that is not needed. Times and ids come as text: only those of the few
-- records that are shown get parsed.
WITH asked AS MATERIALIZED (
  SELECT %(vector)s::halfvec AS vector),
size AS MATERIALIZED (
  SELECT coalesce(sum(scope.vectors), 0) AS vectors,
         coalesce(sum(scope.vectors), 0) > %(exact_rows)s::bigint AS large
    FROM prism_memory_scope AS scope
   WHERE scope.tenant = %(tenant)s::text AND scope.id = ANY(%(scope_ids)s::uuid[])),
{nearest},
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
            AND {unwithheld}
         OFFSET 0) AS matched),
population AS MATERIALIZED (
  -- Counted while that is cheap; beyond, about as many as there are vectors.
  SELECT greatest(count(*), (SELECT vectors FROM size)) AS records
    FROM (SELECT FROM prism_memory_record AS record
           WHERE record.tenant = %(tenant)s::text
             AND record.scope_id = ANY(%(scope_ids)s::uuid[])
           LIMIT 1000) AS counted),
weights AS MATERIALIZED (
  SELECT lexeme,
         ln(1 + (greatest(population.records, max(count(*)) OVER ()) - count(*) + 0.5)
                / (count(*) + 0.5))::float8 AS weight
    FROM matches CROSS JOIN population
   GROUP BY lexeme, population.records),
scored AS MATERIALIZED (
  SELECT record_id,
         sum(weight * frequency * (%(k1)s::float8 + 1)
             / (frequency + %(k1)s::float8
                * (1 - %(b)s::float8 + %(b)s::float8 * length / mean))) AS bm25
    FROM matches
    JOIN weights USING (lexeme)
   CROSS JOIN (SELECT avg(length)::float8 AS mean FROM matches) AS lengths
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
  -- What one leg found is scored by the other too: a rank says which found it, a score
  -- how well it does. IS TRUE makes the look-up in near a hash, not a loop.
  SELECT record_id, max(distance) AS distance, max(vector_rank) AS vector_rank,
         max(text_rank) AS text_rank, max(bm25) AS bm25, max(strategy) AS strategy
    FROM (SELECT record_id, distance, strategy,
                 row_number() OVER (ORDER BY distance, record_id) AS vector_rank,
                 NULL::bigint AS text_rank, NULL::float8 AS bm25
            FROM near
          UNION ALL
          SELECT record_id, NULL, NULL, NULL,
                 row_number() OVER (ORDER BY bm25 DESC, record_id), bm25
            FROM worded
          UNION ALL
          SELECT record_id, NULL, NULL, NULL, NULL, bm25
            FROM scored
           WHERE (record_id IN (SELECT record_id FROM near)) IS TRUE) AS legs
   GROUP BY record_id),
fetched AS MATERIALIZED (
  SELECT found.record_id::text, found.vector_rank, found.text_rank, found.strategy,
         1 - coalesce(found.distance, (
               SELECT embedding.vector <=> (SELECT vector FROM asked)
                 FROM prism_memory_embedding AS embedding
                WHERE embedding.tenant = %(tenant)s::text
                  AND embedding.space_id = {space_id}
                  AND embedding.record_id = found.record_id)) AS cosine,
         found.bm25, record.key, record.text, record.kind, record.tier,
         record.namespace, record.partition, record.ordinal, record.trust,
         record.writer, record.metadata::text, record.sequence, record.importance,
         record.created_at::text, record.happened_at::text, record.valid_from::text,
         record.valid_to::text, record.version, record.scope_id, record.source_id
    FROM found
   CROSS JOIN LATERAL (
         SELECT * FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text AND record.id = found.record_id
         OFFSET 0) AS record)
SELECT fetched.*, place.owner, place.agent, place.thread, source.key AS source,
       size.large,
       EXISTS (SELECT FROM prism_memory_embeddingspace AS space
                WHERE space.id = {space_id} AND space.state = 'active') AS current
  FROM size
  LEFT JOIN fetched ON TRUE
  LEFT JOIN prism_memory_scope AS place
    ON place.tenant = %(tenant)s::text AND place.id = fetched.scope_id
  LEFT JOIN prism_memory_source AS source
    ON source.tenant = %(tenant)s::text AND source.id = fetched.source_id;

-- name: nearest_exact
-- The whole of the scopes in sight, by the index on the scope; unless that is more
-- than should be read so, which the answer then says.
near AS MATERIALIZED (
  SELECT near.record_id, near.distance, 'exact' AS strategy
    FROM (SELECT embedding.record_id,
                 embedding.vector <=> (SELECT vector FROM asked) AS distance
            FROM prism_memory_embedding AS embedding
           WHERE (SELECT vector IS NOT NULL FROM asked)
             AND NOT (SELECT large FROM size)
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

-- name: nearest_index
-- The HNSW index, scanned on and on until enough are visible. Should it end before
-- that, at its cap or because there are no more, the exact scan answers.
--
-- LIMIT must stand beside the ordered scan, and visibility in a look-up per row: only
-- so does the planner know that it need not walk the whole index, nor (OFFSET 0) hash
-- the whole scope. coalesce() keeps it from the index on the scope, and the missing
-- cast in the exact scan from this one.
near_index AS MATERIALIZED (
  SELECT embedding.record_id,
         embedding.vector::halfvec({dimensions})
         <=> (SELECT vector::halfvec({dimensions}) FROM asked) AS distance
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = {space_id}
     AND coalesce(embedding.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
     AND (EXISTS (
           SELECT FROM prism_memory_record AS record
            WHERE record.id = embedding.record_id AND {visible}
           OFFSET 0)) IS TRUE
   ORDER BY embedding.vector::halfvec({dimensions})
            <=> (SELECT vector::halfvec({dimensions}) FROM asked)
   LIMIT %(rows)s::integer),
near_exact AS MATERIALIZED (
  SELECT near.record_id, near.distance
    FROM (SELECT embedding.record_id,
                 embedding.vector <=> (SELECT vector FROM asked) AS distance
            FROM prism_memory_embedding AS embedding
           WHERE (SELECT count(*) FROM near_index) < %(rows)s::integer
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
