-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {visible} and {unwithheld} of access.sql, what the filter narrows, the parts below,
-- and integers that are PostgreSQL constants.

-- name: recall
-- All legs, what stands beside their best, and the records, in one statement. Each leg
-- walks its candidates from the best on and looks at one record after the other until
-- it has enough visible ones, so a page is full whenever enough of them exist, and no
-- wide row is read for a candidate that is not needed. Times and ids come as text: only
-- those of the few records that are shown get parsed. Limits are constants, so that a
-- generic plan is the same as one made for the values.
WITH asked AS MATERIALIZED (
  SELECT %(vector)s::halfvec AS vector),
scopes AS MATERIALIZED (
  -- Looked up one by one, each by its own index scan: the planner then thinks of one
  -- scope's rows, whatever the number of scopes, and of no parallel workers.
  SELECT scope.id, scope.owner, scope.agent, scope.thread, scope.vectors
    FROM prism_memory_scope AS scope
   WHERE scope.tenant = %(tenant)s::text AND scope.id = ANY(%(scope_ids)s::uuid[])),
size AS MATERIALIZED (
  SELECT coalesce(sum(vectors), 0) AS vectors,
         coalesce(sum(vectors), 0) > %(exact_rows)s::bigint AS large
    FROM scopes),
{legs},
ranked AS MATERIALIZED (
  SELECT leg.name AS leg, found.*,
         row_number() OVER (
           PARTITION BY leg.name ORDER BY found.score DESC, found.record_id) AS rank
    FROM unnest(%(legs)s::text[]) AS leg(name)
   CROSS JOIN LATERAL (
         SELECT best.record_id, best.score, seen.source_id, seen.ordinal
           FROM ({found} ORDER BY score DESC, record_id) AS best
          CROSS JOIN LATERAL (
                SELECT record.source_id, record.ordinal
                  FROM prism_memory_record AS record
                 WHERE record.id = best.record_id AND {visible}
                OFFSET 0) AS seen
          LIMIT {rows}) AS found),
{beside},
found AS MATERIALIZED (
  SELECT record_id, max(cosine) AS cosine, max(vector_rank) AS vector_rank,
         max(bm25) AS bm25, max(text_rank) AS text_rank,
         max(recency_rank) AS recency_rank
    FROM (SELECT record_id,
                 CASE leg WHEN 'vector' THEN score END AS cosine,
                 CASE leg WHEN 'vector' THEN rank END AS vector_rank,
                 CASE leg WHEN 'text' THEN score END AS bm25,
                 CASE leg WHEN 'text' THEN rank END AS text_rank,
                 CASE leg WHEN 'recency' THEN rank END AS recency_rank
            FROM ranked
          UNION ALL
          SELECT record_id, NULL, NULL, NULL, NULL, NULL FROM beside) AS every
   GROUP BY record_id),
fetched AS MATERIALIZED (
  -- What one leg found is scored by the others too: a rank says which found it, a score
  -- how well it does.
  SELECT found.record_id::text, found.vector_rank, found.text_rank, found.recency_rank,
         coalesce(found.cosine, {cosine}) AS cosine,
         coalesce(found.bm25, {bm25}) AS bm25,
         record.key, record.text, record.kind, record.tier,
         record.namespace, record.partition, record.ordinal, record.trust,
         record.writer, record.metadata::text, record.sequence, record.importance,
         record.created_at::text, record.happened_at::text, record.valid_from::text,
         record.valid_to::text, record.version, record.gate, record.gate_reason,
         record.line_start, record.line_end, record.offset_start, record.offset_end,
         {changed} AS changed, record.scope_id, record.source_id
    FROM found
         {scores}
   CROSS JOIN LATERAL (
         SELECT * FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text AND record.id = found.record_id
         OFFSET 0) AS record)
SELECT fetched.*, place.owner, place.agent, place.thread, source.key AS source,
       size.vectors, size.large, {cut} AS cut, {common} AS bounded,
       {waiting} AS waiting, {few} AS few, {copied} AS copied,
       {restricts} AS restricts{weighed},
       EXISTS (SELECT FROM prism_memory_embeddingspace AS space
                WHERE space.id = {space_id} AND space.state = 'active') AS current
  FROM size
  LEFT JOIN fetched ON TRUE
  LEFT JOIN scopes AS place ON place.id = fetched.scope_id
  LEFT JOIN prism_memory_source AS source
    ON source.tenant = %(tenant)s::text AND source.id = fetched.source_id;

-- name: near_exact
-- The whole of the scopes in sight, by the index on the scope; unless that is more
-- than should be read so, which the answer then says. Only the nearest are sorted and
-- looked at: when too few of them are visible, the answer says that it was cut short.
-- BETWEEN says nothing new, but that the rows are few: a plan that is made for any scope
-- must not read all of them for a small one.
near AS MATERIALIZED (
  SELECT nearest.record_id, 1 - nearest.distance AS score
    FROM (SELECT compared.record_id, compared.distance
            FROM scopes
           CROSS JOIN LATERAL (
                 SELECT embedding.record_id,
                        embedding.vector <=> (SELECT vector FROM asked) AS distance
                   FROM prism_memory_embedding AS embedding
                  WHERE NOT (SELECT large FROM size)
                    AND embedding.tenant = %(tenant)s::text
                    AND embedding.space_id = {space_id}
                    AND embedding.scope_id = scopes.id
                    AND embedding.scope_id BETWEEN scopes.id AND scopes.id
                    AND embedding.vector IS NOT NULL
                    AND {narrowed}
                 OFFSET 0) AS compared
           ORDER BY compared.distance, compared.record_id
           LIMIT %(look)s::bigint) AS nearest)

-- name: near_index
-- The HNSW index, scanned on and on until enough are visible. Should it end before
-- that, at its cap or because there are no more, the exact scan is asked.
--
-- LIMIT must stand beside the ordered scan, and visibility in a look-up per row: only
-- so does the planner know that it need not walk the whole index, nor (OFFSET 0) hash
-- the whole scope. coalesce() keeps it from the index on the scope, and the missing
-- cast in the exact scan from this one.
near AS MATERIALIZED (
  SELECT nearest.record_id, 1 - nearest.distance AS score
    FROM (SELECT embedding.record_id,
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
           LIMIT {rows}) AS nearest)

-- name: near_external
-- What an external index named, and what it is still to be told: only candidates, which
-- are measured and looked at here as any others. It may name too much, and nothing that
-- is not of the scopes in sight comes of it.
near AS MATERIALIZED (
  SELECT compared.record_id, 1 - compared.distance AS score
    FROM (SELECT record_id FROM unnest(%(named)s::uuid[]) AS one(record_id)
          UNION ALL
          SELECT wanted.record_id
            FROM scopes
           CROSS JOIN LATERAL (
                 SELECT copied.record_id
                   FROM prism_memory_vectorcopy AS copied
                  WHERE copied.tenant = %(tenant)s::text
                    AND copied.space_id = {space_id}
                    AND copied.index = %(index)s::text
                    AND copied.state = 'wanted'
                    AND copied.scope_id = scopes.id
                 OFFSET 0) AS wanted
           WHERE NOT wanted.record_id = ANY(%(named)s::uuid[])) AS given
   CROSS JOIN LATERAL (
         SELECT embedding.record_id,
                embedding.vector <=> (SELECT vector FROM asked) AS distance
           FROM prism_memory_embedding AS embedding
          WHERE embedding.tenant = %(tenant)s::text
            AND embedding.space_id = {space_id}
            AND embedding.record_id = given.record_id
            AND coalesce(embedding.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
         OFFSET 0) AS compared
   WHERE compared.distance IS NOT NULL)

-- name: copied
-- How many vectors were compared; null where the external index was never told all of
-- the tenant's.
(CASE WHEN EXISTS (SELECT FROM prism_memory_vectorcopy AS copied
                    WHERE copied.tenant = %(tenant)s::text
                      AND copied.record_id = '00000000-0000-0000-0000-000000000000'
                      AND copied.space_id = {space_id}
                      AND copied.index = %(index)s::text
                      AND copied.state = 'complete')
      THEN (SELECT count(*) FROM near) END)

-- name: cosine
-- How near a record is that the vector leg did not find; null while it has no vector.
(SELECT 1 - (embedding.vector <=> (SELECT vector FROM asked))
   FROM prism_memory_embedding AS embedding
  WHERE embedding.tenant = %(tenant)s::text
    AND embedding.space_id = {space_id}
    AND embedding.record_id = found.record_id)

-- name: unknown
-- The score of a leg that was not asked.
NULL::float8

-- name: narrowed
-- Vectors of the records that an index finds by what their metadata contains.
embedding.record_id IN (
  SELECT record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.scope_id = ANY(%(scope_ids)s::uuid[])
     AND {narrowing})

-- name: cut
-- Whether more of the nearest may be visible than were looked at.
((SELECT count(*) FROM near) >= %(look)s::bigint
 AND (SELECT count(*) FROM ranked WHERE leg = 'vector') < {rows})

-- name: waiting
-- Whether something in sight has no vector yet; asked where the leg found fewer than it
-- might. What is out of sight is not told of.
(CASE WHEN (SELECT count(*) FROM ranked WHERE leg = 'vector') < {rows}
      THEN EXISTS (SELECT FROM prism_memory_embedding AS embedding
                    WHERE embedding.tenant = %(tenant)s::text
                      AND embedding.space_id = {space_id}
                      AND embedding.scope_id = ANY(%(scope_ids)s::uuid[])
                      AND embedding.vector IS NULL
                      AND (EXISTS (
                            SELECT FROM prism_memory_record AS record
                             WHERE record.tenant = %(tenant)s::text
                               AND record.id = embedding.record_id
                               AND {unwithheld}
                            OFFSET 0)) IS TRUE)
      ELSE FALSE END)

-- name: no
FALSE

-- name: asked_words
-- The words of the question and the lexemes of the scopes, as queries.
terms AS MATERIALIZED (
  SELECT lexeme, ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''')
                  || '''')::tsquery AS query
    FROM (SELECT DISTINCT unnest(tsvector_to_array(
                   to_tsvector(language::regconfig, %(query)s::text))) AS lexeme
            FROM unnest(%(languages)s::text[]) AS language) AS words),
sight AS MATERIALIZED (
  SELECT string_agg('''' || chr(31) || scope_id::text || '''', ' | ')::tsquery AS query
    FROM unnest(%(scope_ids)s::uuid[]) AS scope_id)

-- name: looked
-- The rows that hold each of the words, by the words' own index.
looked AS MATERIALIZED (
  -- One row more than may be counted tells that a word is too common. The scope is in
  -- the query of the index; coalesce() and OFFSET 0 keep the planner from reading the
  -- whole scope by another index beside. BETWEEN says nothing new, but that the rows are
  -- few: what follows is sized by that, and a table for 25,000 costs a millisecond.
  SELECT terms.lexeme, terms.query, matched.id AS record_id,
         ts_rank(matched.search, terms.query) / 0.0607927 AS frequency,
         length(matched.search) AS length{search}
    FROM terms
   CROSS JOIN sight
   CROSS JOIN LATERAL (
         SELECT record.id, record.search
           FROM (SELECT * FROM prism_memory_record AS record
                  WHERE record.tenant = %(tenant)s::text
                    AND coalesce(record.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
                    AND record.search @@ (sight.query && terms.query)
                    AND {contained}
                 OFFSET 0) AS record
          WHERE {searched}
          LIMIT {term_rows} + 1) AS matched
   WHERE length(matched.search) BETWEEN 0 AND 1000000000)

-- name: looked_small
-- The same where few rows are in sight: all of them are read. By their own index each
-- would cost a walk in the list of everybody's rows that hold a common word. Where they
-- are no longer few, none is read, and the answer says so.
held AS MATERIALIZED (
  SELECT record.id, record.search
    FROM scopes
   CROSS JOIN LATERAL (
         SELECT * FROM prism_memory_record AS record
          WHERE (SELECT few FROM population)
            AND record.tenant = %(tenant)s::text
            AND record.scope_id = scopes.id
            AND record.scope_id BETWEEN scopes.id AND scopes.id
            AND coalesce(record.search @@ (SELECT any_of FROM either), FALSE)
         OFFSET 0) AS record
   WHERE {searched}),
looked AS MATERIALIZED (
  SELECT terms.lexeme, terms.query, held.id AS record_id,
         ts_rank(held.search, terms.query) / 0.0607927 AS frequency,
         length(held.search) AS length{held_search}
    FROM terms JOIN held ON held.search @@ terms.query)

-- name: either
-- Any of the words.
either AS MATERIALIZED (
  SELECT string_agg(query::text, ' | ')::tsquery AS any_of FROM terms)

-- name: population
counts AS MATERIALIZED (
  -- How many rows there are, while they may be few; one more tells that they are not. The
  -- order keeps a generic plan from looking for the scope's rows in the whole table.
  SELECT CASE WHEN size.vectors > {small_rows} THEN size.vectors ELSE (
           SELECT count(*)
             FROM (SELECT FROM scopes
                    CROSS JOIN LATERAL (
                          SELECT FROM prism_memory_record AS record
                           WHERE record.tenant = %(tenant)s::text
                             AND record.scope_id = scopes.id
                           ORDER BY record.sequence
                           LIMIT {small_rows} + 1) AS row
                    LIMIT {small_rows} + 1) AS counted) END AS records
    FROM size),
population AS MATERIALIZED (
  -- Beyond a few, about as many as there are vectors. Rounded up to a power of two: it is
  -- of all rows, and scores shall not tell how many are withheld.
  SELECT 2 ^ ceil(log(2, greatest(counts.records, size.vectors, 1))) AS records,
         counts.records <= {small_rows} AS few
    FROM counts CROSS JOIN size)

-- name: bm25
scored.score

-- name: scores
LEFT JOIN scored ON scored.record_id = found.record_id

-- name: common
-- Whether a word was in more rows than are searched.
EXISTS (SELECT FROM counted WHERE common)

-- name: few
-- Whether so few rows are in sight that all may be read for their words.
(SELECT few FROM population)

-- name: words
-- Every row that holds a word of the question. Right while no word is common.
counted AS MATERIALIZED (
  SELECT lexeme, count(*)::float8 AS records, count(*) > {term_rows} AS common
    FROM looked GROUP BY lexeme),
matches AS (
  SELECT lexeme, record_id, frequency, length FROM looked)

-- name: words_bounded
-- Where some words are common: the rows of the rare ones, those that hold two of the
-- common ones, and the best of what was looked at of each. How many rows hold a common
-- word is estimated from the newest and the oldest of each scope, since what was written
-- at one time is much alike. Common words weigh in all of these.
sample AS MATERIALIZED (
  SELECT taken.search
    FROM unnest(%(scope_ids)s::uuid[]) AS one(scope_id)
   CROSS JOIN LATERAL (
         (SELECT record.search
            FROM prism_memory_record AS record
           WHERE record.tenant = %(tenant)s::text
             AND record.scope_id = one.scope_id
             AND {unwithheld}
           ORDER BY record.sequence DESC
           LIMIT 250)
         UNION ALL
         (SELECT record.search
            FROM prism_memory_record AS record
           WHERE record.tenant = %(tenant)s::text
             AND record.scope_id = one.scope_id
             AND {unwithheld}
           ORDER BY record.sequence
           LIMIT 250)) AS taken),
counted AS MATERIALIZED (
  SELECT lexeme, query, held.records > {term_rows} AS common,
         CASE WHEN held.records <= {term_rows} THEN held.records::float8
              ELSE greatest(held.records::float8, population.records * (
                     SELECT (count(*) FILTER (WHERE sample.search @@ query) + 0.5)
                            / (count(*) + 1.0) FROM sample)) END AS records
    FROM (SELECT lexeme, query, count(*) AS records
            FROM looked GROUP BY lexeme, query) AS held
   CROSS JOIN population),
commons AS MATERIALIZED (
  SELECT lexeme, query FROM counted WHERE common ORDER BY records, lexeme LIMIT 8),
pairs AS MATERIALIZED (
  SELECT string_agg('(' || one.query::text || ' & ' || other.query::text || ')', ' | '
         )::tsquery AS query
    FROM commons AS one JOIN commons AS other ON one.lexeme < other.lexeme),
pool AS MATERIALIZED (
  SELECT DISTINCT ON (record_id) record_id, search
    FROM (SELECT record_id, search
            FROM (SELECT looked.record_id, looked.search, common, row_number() OVER (
                           PARTITION BY lexeme
                           ORDER BY looked.frequency DESC, looked.length,
                                    looked.record_id) AS place
                    FROM looked JOIN counted USING (lexeme)) AS best
           WHERE NOT common OR place <= {rows}
          UNION ALL
          SELECT matched.id, matched.search
            FROM pairs
           CROSS JOIN sight
           CROSS JOIN LATERAL (
                 SELECT record.id, record.search
                   FROM (SELECT * FROM prism_memory_record AS record
                          WHERE record.tenant = %(tenant)s::text
                            AND coalesce(
                                  record.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
                            AND record.search @@ (sight.query && pairs.query)
                            AND {contained}
                         OFFSET 0) AS record
                  WHERE {searched}
                  LIMIT {term_rows}) AS matched) AS every
   ORDER BY record_id),
matches AS MATERIALIZED (
  SELECT lexeme, record_id, frequency, length
    FROM looked JOIN counted USING (lexeme) WHERE NOT common
  UNION ALL
  SELECT counted.lexeme, pool.record_id,
         ts_rank(pool.search, counted.query) / 0.0607927, length(pool.search)
    FROM counted JOIN pool ON counted.common AND pool.search @@ counted.query)

-- name: scored
weights AS MATERIALIZED (
  SELECT lexeme,
         ln(1 + (greatest(population.records, max(counted.records) OVER ())
                 - counted.records + 0.5) / (counted.records + 0.5))::float8 AS weight
    FROM counted CROSS JOIN population),
scored AS MATERIALIZED (
  SELECT record_id,
         sum(weight * frequency * (%(k1)s::float8 + 1)
             / (frequency + %(k1)s::float8
                * (1 - %(b)s::float8 + %(b)s::float8 * length / mean))) AS score
    FROM matches
    JOIN weights USING (lexeme)
   CROSS JOIN (SELECT avg(length)::float8 AS mean FROM matches) AS lengths
   GROUP BY record_id)

-- name: weighed
-- What each word weighs here, what one weighs that a single row holds, and how long the
-- rows are: so that others can be measured by the same.
, (SELECT jsonb_build_object(
            'weights', (SELECT jsonb_object_agg(lexeme, weight) FROM weights),
            'unseen', ln(1 + (greatest(population.records,
                                       (SELECT max(records) FROM counted))
                              - 0.5) / 1.5)::float8,
            'mean', (SELECT avg(length)::float8 FROM matches))::text
     FROM population) AS weighed

-- name: recent
-- The newest of each scope, as they were written.
recent AS MATERIALIZED (
  SELECT newest.id AS record_id, newest.sequence::float8 AS score
    FROM unnest(%(scope_ids)s::uuid[]) AS one(scope_id)
   CROSS JOIN LATERAL (
         SELECT record.id, record.sequence
           FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text
            AND record.scope_id = one.scope_id
            AND {visible}
          ORDER BY record.sequence DESC, record.id
          LIMIT {rows}) AS newest)

-- name: beside
-- The turns before and after the best of each leg: the answer often stands beside the
-- words that match. Only what is visible is looked from, and only what is visible seen.
-- BETWEEN, as an equality would let the planner walk all ids of the tenant in order.
beside AS MATERIALIZED (
  SELECT record.id AS record_id
    FROM (SELECT DISTINCT ranked.source_id, ranked.ordinal + step.step AS ordinal
            FROM ranked CROSS JOIN (VALUES (-1::bigint), (1)) AS step(step)
           WHERE ranked.rank <= {anchors} AND ranked.source_id IS NOT NULL) AS place
   CROSS JOIN LATERAL (
         SELECT record.id
           FROM prism_memory_record AS record
          WHERE record.source_id = place.source_id
            AND record.ordinal BETWEEN place.ordinal AND place.ordinal
            AND {visible}
          ORDER BY record.ordinal, record.id
          LIMIT {per_place}) AS record)

-- name: nothing_beside
beside AS (SELECT NULL::uuid AS record_id WHERE FALSE)
