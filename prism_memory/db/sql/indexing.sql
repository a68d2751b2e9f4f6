-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but integers that PostgreSQL takes as constants only.

-- name: live_spaces
-- Those that are written to: the one that answers, then one that is being built.
SELECT id, alias, backend, provider, model, dimensions, index_mode, state, situate
  FROM prism_memory_embeddingspace
 WHERE alias = %(alias)s::text AND state IN ('active', 'building')
 ORDER BY state, id;

-- name: create_space
INSERT INTO prism_memory_embeddingspace
       (alias, backend, provider, model, dimensions, metric, index_mode, state, situate,
        created_at, state_since)
VALUES (%(alias)s::text, %(backend)s::text, %(provider)s::text, %(model)s::text,
        %(dimensions)s::integer, 'cosine', 'none', %(state)s::text, %(situate)s::text,
        statement_timestamp(), statement_timestamp())
ON CONFLICT DO NOTHING;

-- name: tenants
-- The tenants are listed first, then looked at one by one.
SELECT name FROM prism_memory_tenant
 WHERE name > %(after)s::text AND (%(until)s::text = '' OR name <= %(until)s::text)
 ORDER BY name LIMIT %(rows)s::integer;

-- name: random_tenant
-- Where a sweep begins its circle.
SELECT name FROM prism_memory_tenant
 ORDER BY name
OFFSET (SELECT floor(random() * count(*))::bigint FROM prism_memory_tenant) LIMIT 1;

-- name: has_waiting
-- Ordered as the queue's index is, so that the planner walks that and stops at the
-- first, whatever its statistics say: an EXISTS may scan the table.
SELECT (SELECT TRUE
          FROM prism_memory_embedding
         WHERE tenant = %(tenant)s::text AND space_id = %(space_id)s::integer
           AND vector IS NULL AND failed_at IS NULL
           AND next_try_at <= clock_timestamp()
         ORDER BY failed_at, next_try_at
         LIMIT 1) IS TRUE AS waiting;

-- name: claim
-- Take texts off the queue for a while. A claim moves next_try_at to its own end, so
-- that what a killed worker held comes back by itself. Ordered as the index is:
-- failed_at is null throughout, but without it the whole queue would be sorted.
-- A text that was tried before is taken alone: one that kills its worker each time
-- must not use up the tries of those beside it.
WITH due AS (
  SELECT waiting.record_id, waiting.attempts, waiting.next_try_at
    FROM prism_memory_embedding AS waiting
   WHERE waiting.tenant = %(tenant)s::text
     AND waiting.space_id = %(space_id)s::integer
     AND waiting.vector IS NULL
     AND waiting.failed_at IS NULL
     AND waiting.next_try_at <= clock_timestamp()
     AND waiting.attempts < %(attempts)s::integer
     AND (%(record_ids)s::uuid[] IS NULL
          OR waiting.record_id = ANY(%(record_ids)s::uuid[]))
   ORDER BY waiting.failed_at, waiting.next_try_at
   LIMIT %(rows)s::integer
     FOR UPDATE SKIP LOCKED),
picked AS (
  SELECT ranked.record_id
    FROM (SELECT due.record_id, due.attempts,
                 row_number() OVER (ORDER BY due.attempts > 0, due.next_try_at)
                 AS place
            FROM due) AS ranked
   WHERE ranked.attempts = 0 OR ranked.place = 1)
UPDATE prism_memory_embedding AS embedding
   SET attempts = embedding.attempts + 1,
       claimed_until = clock_timestamp() + %(claim_seconds)s * interval '1 second',
       next_try_at = clock_timestamp() + %(claim_seconds)s * interval '1 second'
  FROM picked, prism_memory_record AS record
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = picked.record_id
   AND record.tenant = %(tenant)s::text
   AND record.id = picked.record_id
RETURNING embedding.record_id, embedding.sha256, embedding.attempts,
          embedding.claimed_until, coalesce(record.embed_text, record.text) AS text;

-- name: give_up
-- Texts that no worker came back from, as often as it may be tried. ANY keeps the change
-- to their own rows: joined, all of the tenant's could be read to find them.
WITH held AS MATERIALIZED (
  SELECT waiting.record_id
    FROM prism_memory_embedding AS waiting
   WHERE waiting.tenant = %(tenant)s::text
     AND waiting.space_id = %(space_id)s::integer
     AND waiting.vector IS NULL
     AND waiting.failed_at IS NULL
     AND waiting.next_try_at <= clock_timestamp()
     AND waiting.attempts >= %(attempts)s::integer
     FOR UPDATE SKIP LOCKED)
UPDATE prism_memory_embedding AS embedding
   SET failed_at = clock_timestamp(), claimed_until = NULL,
       error = CASE embedding.error WHEN '' THEN 'No worker came back from it.'
                    ELSE embedding.error END
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(ARRAY(SELECT record_id FROM held));

-- name: write_vectors
-- Only where the text is still the one that was embedded, and of the space's width.
-- Locked in the order in which remember locks them, so that the two never deadlock.
-- Before the first ANALYZE all that waits looks like one row, so the plan may start
-- there: ANY keeps it to the batch, and MATERIALIZED parses each vector once.
WITH given AS MATERIALIZED (
  SELECT listed.record_id, listed.sha256, listed.vector::halfvec AS vector
    FROM unnest(%(record_ids)s::uuid[], %(sha256s)s::bytea[],
                %(vectors)s::text[]) AS listed(record_id, sha256, vector)),
held AS (
  SELECT waiting.record_id, given.vector, waiting.counted
    FROM prism_memory_embedding AS waiting
    JOIN given
      ON waiting.record_id = given.record_id AND waiting.sha256 = given.sha256
    JOIN prism_memory_embeddingspace AS space
      ON space.id = %(space_id)s::integer
     AND space.dimensions = vector_dims(given.vector)
   WHERE waiting.tenant = %(tenant)s::text
     AND waiting.space_id = %(space_id)s::integer
     AND waiting.record_id = ANY(%(record_ids)s::uuid[])
     AND waiting.vector IS NULL
   ORDER BY waiting.record_id
     FOR UPDATE OF waiting)
UPDATE prism_memory_embedding AS embedding
   SET vector = held.vector, counted = TRUE, claimed_until = NULL, error = ''
  FROM held
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = held.record_id
   AND embedding.record_id = ANY(%(record_ids)s::uuid[])
RETURNING embedding.record_id, embedding.scope_id, held.counted;

-- name: page_of_texts
-- Those that have a vector, with what it is of.
SELECT embedding.record_id, embedding.sha256,
       coalesce(record.embed_text, record.text) AS text
  FROM prism_memory_embedding AS embedding
  JOIN prism_memory_record AS record
    ON record.tenant = embedding.tenant AND record.id = embedding.record_id
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id > %(after)s::uuid
   AND (%(scope_id)s::uuid IS NULL OR embedding.scope_id = %(scope_id)s::uuid)
   AND embedding.vector IS NOT NULL
 ORDER BY embedding.record_id
 LIMIT %(rows)s::integer;

-- name: rewrite_vectors
-- In place of the one that stands, unless a writer changed its text meanwhile.
WITH given AS MATERIALIZED (
  SELECT listed.record_id, listed.sha256, listed.old_sha256,
         listed.vector::halfvec AS vector
    FROM unnest(%(record_ids)s::uuid[], %(sha256s)s::bytea[], %(old_sha256s)s::bytea[],
                %(vectors)s::text[])
         AS listed(record_id, sha256, old_sha256, vector)),
held AS (
  SELECT standing.record_id, given.sha256, given.vector
    FROM prism_memory_embedding AS standing
    JOIN given
      ON standing.record_id = given.record_id AND standing.sha256 = given.old_sha256
   WHERE standing.tenant = %(tenant)s::text
     AND standing.space_id = %(space_id)s::integer
     AND standing.record_id = ANY(%(record_ids)s::uuid[])
     AND standing.vector IS NOT NULL
   ORDER BY standing.record_id
     FOR UPDATE OF standing)
UPDATE prism_memory_embedding AS embedding
   SET vector = held.vector, sha256 = held.sha256
  FROM held
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = held.record_id
   AND embedding.record_id = ANY(%(record_ids)s::uuid[]);

-- name: count_vectors
-- What the planner reads. A vector that is made anew for a new text counts once. One
-- scope a time, in the order of their ids: drains then never wait for each other in a
-- circle. Not by locks that are taken first: with writers who hold the same rows for
-- their keys, PostgreSQL may find two such drains in a deadlock. What is being built
-- answers nobody yet; it is counted when it does.
UPDATE prism_memory_scope AS scope
   SET vectors = scope.vectors + %(added)s::bigint
 WHERE scope.tenant = %(tenant)s::text AND scope.id = %(scope_id)s::uuid
   AND EXISTS (SELECT FROM prism_memory_embeddingspace AS space
                WHERE space.id = %(space_id)s::integer AND space.state = 'active');

-- name: put_back
-- After a failure: again later, or never when it was the last try. ``forgiven`` is
-- for an outage, which is not the text's fault. Who lost the claim puts nothing back.
WITH held AS (
  SELECT waiting.record_id, given.error, given.seconds,
         waiting.attempts - given.forgiven AS attempts
    FROM prism_memory_embedding AS waiting
    JOIN unnest(%(record_ids)s::uuid[], %(claims)s::timestamptz[], %(errors)s::text[],
                %(seconds)s::float8[], %(forgivens)s::integer[])
         AS given(record_id, claimed_until, error, seconds, forgiven)
      ON waiting.record_id = given.record_id
     AND waiting.claimed_until = given.claimed_until
   WHERE waiting.tenant = %(tenant)s::text
     AND waiting.space_id = %(space_id)s::integer
     AND waiting.vector IS NULL
   ORDER BY waiting.record_id
     FOR UPDATE OF waiting)
UPDATE prism_memory_embedding AS embedding
   SET error = held.error,
       claimed_until = NULL,
       attempts = held.attempts,
       next_try_at = clock_timestamp() + held.seconds * interval '1 second',
       failed_at = CASE WHEN held.attempts >= %(attempts)s::integer
                        THEN clock_timestamp() END
  FROM held
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = held.record_id;

-- name: held
-- What drains hold at this moment, and when the last of these claims ends.
SELECT count(*) AS held, max(claimed_until) AS until
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND space_id = %(space_id)s::integer
   AND vector IS NULL AND failed_at IS NULL
   AND claimed_until > clock_timestamp();

-- name: retry
UPDATE prism_memory_embedding AS embedding
   SET attempts = 0, failed_at = NULL, next_try_at = clock_timestamp()
  FROM (SELECT failed.record_id
          FROM prism_memory_embedding AS failed
         WHERE failed.tenant = %(tenant)s::text
           AND failed.space_id = %(space_id)s::integer
           AND failed.vector IS NULL
           AND failed.failed_at IS NOT NULL
         ORDER BY failed.record_id
           FOR UPDATE) AS held
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = held.record_id;

-- name: progress_of_records
SELECT embedding.record_id, embedding.vector IS NOT NULL AS indexed,
       embedding.failed_at IS NOT NULL AS failed, embedding.error
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(%(record_ids)s::uuid[]);

-- name: pending_in_scopes
SELECT count(*) FILTER (WHERE failed_at IS NULL) AS pending,
       count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed,
       min(created_at) FILTER (WHERE failed_at IS NULL) AS oldest_at
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND space_id = %(space_id)s::integer
   AND scope_id = ANY(%(scope_ids)s::uuid[]) AND vector IS NULL;

-- name: pending_of_tenant
SELECT count(*) FILTER (WHERE failed_at IS NULL) AS pending,
       count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed,
       min(created_at) FILTER (WHERE failed_at IS NULL) AS oldest_at
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND space_id = %(space_id)s::integer
   AND vector IS NULL;

-- name: create_index
CREATE INDEX CONCURRENTLY {name} ON prism_memory_embedding
 USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)
  WITH (m = {m}, ef_construction = {ef_construction})
 WHERE space_id = {space_id};

-- name: drop_index
DROP INDEX CONCURRENTLY IF EXISTS {name};

-- name: remake_index
REINDEX INDEX CONCURRENTLY {name};

-- name: index_state
-- What is not among its options has pgvector's own value.
SELECT index.indisvalid AS valid, pg_relation_size(class.oid) AS bytes,
       coalesce((SELECT option_value::integer FROM pg_options_to_table(class.reloptions)
                  WHERE option_name = 'm'), 16) AS m,
       coalesce((SELECT option_value::integer FROM pg_options_to_table(class.reloptions)
                  WHERE option_name = 'ef_construction'), 64) AS ef_construction
  FROM pg_class AS class
  JOIN pg_index AS index ON index.indexrelid = class.oid
 WHERE class.relname = %(name)s::text
   AND class.relnamespace = (SELECT relnamespace FROM pg_class
                              WHERE oid = 'prism_memory_embedding'::regclass);

-- name: index_builders
-- A build whose index is not visible yet names none; it may be this one.
SELECT build.pid
  FROM pg_stat_progress_create_index AS build
  LEFT JOIN pg_class AS class ON class.oid = build.index_relid
 WHERE build.datname = current_database()
   AND build.relid = 'prism_memory_embedding'::regclass
   AND (build.index_relid = 0 OR class.relname = %(name)s::text);

-- name: set_index_mode
UPDATE prism_memory_embeddingspace SET index_mode = %(mode)s::text
 WHERE id = %(space_id)s::integer;

-- name: miscounted_scopes
SELECT place.id
  FROM prism_memory_scope AS place
  LEFT JOIN prism_memory_embedding AS embedding
    ON embedding.tenant = place.tenant AND embedding.scope_id = place.id
   AND embedding.space_id = %(space_id)s::integer
   AND (embedding.vector IS NOT NULL OR embedding.counted)
 WHERE place.tenant = %(tenant)s::text
 GROUP BY place.id, place.vectors
HAVING place.vectors <> count(embedding.record_id)
 ORDER BY place.id;

-- name: lock_scope
-- Who writes or deletes vectors counts them last: until this is let go, they wait.
SELECT scope.id FROM prism_memory_scope AS scope
 WHERE scope.tenant = %(tenant)s::text AND scope.id = %(scope_id)s::uuid
   FOR NO KEY UPDATE;

-- name: recount_vectors
-- Of one scope that is locked, in a statement of its own: this one sees all that was
-- counted before.
UPDATE prism_memory_scope AS scope
   SET vectors = (SELECT count(*) FROM prism_memory_embedding AS embedding
                   WHERE embedding.tenant = %(tenant)s::text
                     AND embedding.scope_id = %(scope_id)s::uuid
                     AND embedding.space_id = %(space_id)s::integer
                     AND (embedding.vector IS NOT NULL OR embedding.counted))
 WHERE scope.tenant = %(tenant)s::text AND scope.id = %(scope_id)s::uuid
   AND EXISTS (SELECT FROM prism_memory_embeddingspace AS space
                WHERE space.id = %(space_id)s::integer AND space.state = 'active');

-- name: table_sizes
-- With their indexes and what is stored out of line.
SELECT class.relname::text AS name, pg_total_relation_size(class.oid) AS bytes
  FROM pg_class AS class
 WHERE class.oid IN ('prism_memory_record'::regclass,
                     'prism_memory_embedding'::regclass)
 ORDER BY class.relname;

-- name: enqueue_missing
-- One page of records that have no row in the space yet, in the order of their ids.
WITH page AS MATERIALIZED (
  SELECT record.id, record.scope_id, record.retired_at,
         coalesce(record.embed_text, record.text) AS text
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text AND record.id > %(after)s::uuid
   ORDER BY record.id
   LIMIT %(rows)s::integer),
there AS MATERIALIZED (
  -- One that is being deleted is waited for, and then it is gone. Locked in the order of
  -- their keys, as by all who lock several.
  SELECT record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.id = ANY(ARRAY(SELECT page.id FROM page))
   ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
            record.partition COLLATE "C", record.key COLLATE "C"
     FOR KEY SHARE),
made AS (
  INSERT INTO prism_memory_embedding
         (tenant, space_id, record_id, scope_id, sha256, attempts, error, created_at,
          next_try_at)
  SELECT %(tenant)s::text, %(space_id)s::integer, page.id, page.scope_id,
         sha256(convert_to(page.text, 'UTF8')), 0, '', statement_timestamp(),
         statement_timestamp()
    FROM page
    JOIN there ON there.id = page.id
   WHERE page.retired_at IS NULL
     AND (NOT EXISTS (
           SELECT FROM prism_memory_embedding AS known
            WHERE known.tenant = %(tenant)s::text
              AND known.space_id = %(space_id)s::integer
              AND known.record_id = page.id)) IS TRUE
   ORDER BY page.id
  ON CONFLICT (tenant, space_id, record_id) DO NOTHING
  RETURNING record_id)
SELECT (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
       (SELECT count(*) FROM made) AS made;

-- name: largest_scopes
SELECT id, vectors FROM prism_memory_scope
 WHERE tenant = %(tenant)s::text AND vectors > 0
 ORDER BY vectors DESC, id LIMIT %(rows)s::integer;

-- name: stored_vectors
-- A few of them, from all over the scopes: what is asked while scans are measured.
SELECT embedding.vector::text AS vector
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.scope_id = ANY(%(scope_ids)s::uuid[])
   AND embedding.vector IS NOT NULL
 ORDER BY md5(embedding.record_id::text) LIMIT %(rows)s::integer;

-- name: vectors_in_scopes
SELECT count(*) AS vectors
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.scope_id = ANY(%(scope_ids)s::uuid[])
   AND embedding.vector IS NOT NULL;

-- name: exact_scan
-- As recall's near_exact compares: scope by scope, by the index on the scope. Only timed.
WITH asked AS MATERIALIZED (
  SELECT %(vector)s::halfvec AS vector),
scopes AS MATERIALIZED (
  SELECT scope.id FROM prism_memory_scope AS scope
   WHERE scope.tenant = %(tenant)s::text AND scope.id = ANY(%(scope_ids)s::uuid[]))
SELECT count(*) AS found
  FROM (SELECT compared.record_id
          FROM scopes
         CROSS JOIN LATERAL (
               SELECT embedding.record_id,
                      embedding.vector <=> (SELECT vector FROM asked) AS distance
                 FROM prism_memory_embedding AS embedding
                WHERE embedding.tenant = %(tenant)s::text
                  AND embedding.space_id = {space_id}
                  AND embedding.scope_id = scopes.id
                  AND embedding.vector IS NOT NULL
               OFFSET 0) AS compared
         ORDER BY compared.distance, compared.record_id
         LIMIT {rows}) AS nearest;

-- name: index_scan
-- As recall's near_index walks the HNSW index until enough are of the scopes. Only timed.
WITH asked AS MATERIALIZED (
  SELECT %(vector)s::halfvec AS vector)
SELECT count(*) AS found
  FROM (SELECT embedding.record_id
          FROM prism_memory_embedding AS embedding
         WHERE embedding.tenant = %(tenant)s::text
           AND embedding.space_id = {space_id}
           AND coalesce(embedding.scope_id = ANY(%(scope_ids)s::uuid[]), FALSE)
         ORDER BY embedding.vector::halfvec({dimensions})
                  <=> (SELECT vector::halfvec({dimensions}) FROM asked)
         LIMIT {rows}) AS nearest;

-- name: page_to_fill
-- Records whose text has no vector in a space and no place in its queue, or one that is
-- of another text, in the order of their ids.
SELECT record.id AS record_id, known.sha256 AS old_sha256,
       coalesce(record.embed_text, record.text) AS text
  FROM prism_memory_record AS record
  LEFT JOIN prism_memory_embedding AS known
    ON known.tenant = %(tenant)s::text AND known.record_id = record.id
   AND known.space_id = %(space_id)s::integer
 WHERE record.tenant = %(tenant)s::text
   AND record.id > %(after)s::uuid
   AND record.retired_at IS NULL
   AND (known.record_id IS NULL
        OR known.sha256
           <> sha256(convert_to(coalesce(record.embed_text, record.text), 'UTF8')))
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: fill_vectors
-- What a page of them was embedded to, unless its text changed or a writer queued it
-- meanwhile; without a vector it is queued. Records first, in the order of their keys,
-- then vectors in that of their ids, as all lock them.
WITH given AS MATERIALIZED (
  SELECT listed.record_id, listed.sha256, listed.old_sha256,
         listed.vector::halfvec AS vector
    FROM unnest(%(record_ids)s::uuid[], %(sha256s)s::bytea[], %(old_sha256s)s::bytea[],
                %(vectors)s::text[])
         AS listed(record_id, sha256, old_sha256, vector)),
there AS MATERIALIZED (
  SELECT record.id, record.scope_id,
         sha256(convert_to(coalesce(record.embed_text, record.text), 'UTF8')) AS sha256
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.id = ANY(%(record_ids)s::uuid[])
     AND record.retired_at IS NULL
   ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
            record.partition COLLATE "C", record.key COLLATE "C"
     FOR KEY SHARE)
INSERT INTO prism_memory_embedding AS embedding
       (tenant, space_id, record_id, scope_id, sha256, vector, counted, attempts, error,
        created_at, next_try_at)
SELECT %(tenant)s::text, space.id, given.record_id, there.scope_id, given.sha256,
       given.vector, given.vector IS NOT NULL, 0, '', statement_timestamp(),
       statement_timestamp()
  FROM given
  JOIN there ON there.id = given.record_id AND there.sha256 = given.sha256
  JOIN prism_memory_embeddingspace AS space
    ON space.id = %(space_id)s::integer
   AND (given.vector IS NULL OR space.dimensions = vector_dims(given.vector))
 ORDER BY given.record_id
ON CONFLICT (tenant, space_id, record_id) DO UPDATE
   SET vector = excluded.vector, sha256 = excluded.sha256, attempts = 0,
       claimed_until = NULL, next_try_at = excluded.next_try_at, failed_at = NULL,
       error = ''
 WHERE embedding.sha256 = (SELECT given.old_sha256 FROM given
                            WHERE given.record_id = excluded.record_id)
RETURNING record_id, scope_id, vector IS NOT NULL AND xmax = 0 AS added;

-- name: requeue_stale
-- One page of the vectors and places in the queue that are of another text than their
-- records have now: none may answer for it.
WITH page AS MATERIALIZED (
  SELECT embedding.record_id, embedding.sha256
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND embedding.record_id > %(after)s::uuid
   ORDER BY embedding.record_id
   LIMIT %(rows)s::integer),
stale AS MATERIALIZED (
  SELECT page.record_id, page.sha256,
         sha256(convert_to(coalesce(record.embed_text, record.text), 'UTF8')) AS now
    FROM page
    JOIN prism_memory_record AS record
      ON record.tenant = %(tenant)s::text AND record.id = page.record_id),
held AS MATERIALIZED (
  SELECT embedding.record_id, stale.now
    FROM prism_memory_embedding AS embedding
    JOIN stale
      ON stale.record_id = embedding.record_id AND stale.sha256 = embedding.sha256
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND embedding.record_id = ANY(ARRAY(SELECT page.record_id FROM page))
     AND stale.sha256 <> stale.now
   ORDER BY embedding.record_id
     FOR UPDATE OF embedding),
requeued AS (
  UPDATE prism_memory_embedding AS embedding
     SET vector = NULL, sha256 = held.now, attempts = 0, claimed_until = NULL,
         next_try_at = statement_timestamp(), failed_at = NULL, error = ''
    FROM held
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND embedding.record_id = held.record_id
  RETURNING embedding.record_id)
SELECT (SELECT record_id FROM page ORDER BY record_id DESC LIMIT 1) AS last,
       (SELECT count(*) FROM requeued) AS made;

-- name: count_records
SELECT count(*) AS records
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.retired_at IS NULL;

-- name: writers
-- Transactions that write vectors or queue them at this moment. A lock on the table comes
-- before the snapshot of the statement that takes it: who is not among these sees what
-- was committed before. CREATE INDEX CONCURRENTLY waits for them in the same way.
SELECT DISTINCT lock.virtualtransaction AS writer
  FROM pg_locks AS lock
 WHERE lock.locktype = 'relation' AND lock.mode = 'RowExclusiveLock'
   AND lock.relation = 'prism_memory_embedding'::regclass
   AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND lock.granted AND lock.pid IS DISTINCT FROM pg_backend_pid();

-- name: behind
-- What one space answers with and another does not, or what waits there and is not even
-- known here: who wrote it knew of the one space alone. Looked up one by one by the key:
-- before the tables are analyzed, a join may read all of a tenant's for each.
SELECT count(*) AS behind
  FROM prism_memory_embedding AS present
 WHERE present.tenant = %(tenant)s::text
   AND present.space_id = %(space_id)s::integer
   AND (SELECT other.vector IS NOT NULL OR present.vector IS NULL
          FROM prism_memory_embedding AS other
         WHERE other.tenant = %(tenant)s::text
           AND other.record_id = present.record_id
           AND other.space_id = %(other_id)s::integer) IS NOT TRUE;

-- name: set_state
UPDATE prism_memory_embeddingspace
   SET state = %(state)s::text, state_since = %(at)s::timestamptz
 WHERE id = %(space_id)s::integer;

-- name: delete_vectors
-- A batch of one tenant's rows in a space, in the order in which all lock them.
WITH held AS MATERIALIZED (
  SELECT embedding.record_id
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
   ORDER BY embedding.record_id
   LIMIT %(rows)s::integer
     FOR UPDATE)
DELETE FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(ARRAY(SELECT held.record_id FROM held));

-- name: delete_space
DELETE FROM prism_memory_embeddingspace
 WHERE id = %(space_id)s::integer AND state = 'dropping';

-- name: sampled_texts
-- A few texts from all over a scope; what is asked is made of their words.
SELECT coalesce(record.embed_text, record.text) AS text
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = %(scope_id)s::uuid
   AND record.retired_at IS NULL
 ORDER BY md5(record.id::text)
 LIMIT %(rows)s::integer;

-- name: nearest_ids
-- The nearest of a scope in one space, only to be compared with those in another.
SELECT embedding.record_id
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.scope_id = %(scope_id)s::uuid
   AND embedding.vector IS NOT NULL
 ORDER BY embedding.vector <=> %(vector)s::halfvec, embedding.record_id
 LIMIT %(rows)s::integer;

-- name: unsettled_sources
-- Documents that were waiting when somebody last looked, and are not any more.
SELECT source.id, source.ingested_at
  FROM prism_memory_source AS source
 WHERE source.tenant = %(tenant)s::text
   AND source.kind = 'document' AND source.ingestion <> 'indexed'
   AND (NOT EXISTS (
         SELECT FROM prism_memory_record AS record
           JOIN prism_memory_embedding AS embedding
             ON embedding.tenant = record.tenant AND embedding.record_id = record.id
            AND embedding.space_id = %(space_id)s::integer
          WHERE record.tenant = source.tenant AND record.source_id = source.id
            AND record.retired_at IS NULL AND embedding.vector IS NULL
         OFFSET 0)) IS TRUE;

-- name: settle_source
-- One a time, so that nobody who locks several is waited for with one in hand; and not
-- one that was ingested meanwhile.
UPDATE prism_memory_source AS source SET ingestion = 'indexed'
 WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid
   AND source.ingested_at IS NOT DISTINCT FROM %(ingested_at)s::timestamptz;

-- name: note_situate
UPDATE prism_memory_embeddingspace SET situate = %(situate)s::text
 WHERE situate <> %(situate)s::text;

-- name: situated_otherwise
SELECT count(*) AS spaces
  FROM prism_memory_embeddingspace
 WHERE state IN ('active', 'building') AND situate <> %(situate)s::text;
