-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but names of tables and indexes of our own.

-- name: vectors_amiss
-- One walk through what a tenant has in a space.
SELECT count(*) FILTER (WHERE record.id IS NULL OR record.retired_at IS NOT NULL)
       AS orphaned,
       count(*) FILTER (
         WHERE embedding.sha256
               <> sha256(convert_to(coalesce(record.embed_text, record.text), 'UTF8')))
       AS stale,
       count(*) FILTER (WHERE vector_dims(embedding.vector) <> %(dimensions)s::integer)
       AS drifted,
       count(*) FILTER (WHERE embedding.vector IS NULL
                          AND embedding.failed_at IS NOT NULL) AS failed
  FROM prism_memory_embedding AS embedding
  LEFT JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = embedding.record_id
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer;

-- name: records_without_vectors
-- Those that are neither embedded in a space nor in its queue.
SELECT count(*) AS missing
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.retired_at IS NULL
   AND NOT EXISTS (SELECT FROM prism_memory_embedding AS known
                    WHERE known.tenant = %(tenant)s::text
                      AND known.record_id = record.id
                      AND known.space_id = %(space_id)s::integer);

-- name: counts_off
SELECT count(*) AS off
  FROM (SELECT place.vectors, count(embedding.record_id) AS counted
          FROM prism_memory_scope AS place
          LEFT JOIN prism_memory_embedding AS embedding
            ON embedding.tenant = %(tenant)s::text AND embedding.scope_id = place.id
           AND embedding.space_id = %(space_id)s::integer
           AND (embedding.vector IS NOT NULL OR embedding.counted)
         WHERE place.tenant = %(tenant)s::text
         GROUP BY place.id, place.vectors) AS compared
 WHERE compared.vectors <> compared.counted;

-- name: largest_count
SELECT coalesce(max(vectors), 0) AS vectors
  FROM prism_memory_scope
 WHERE tenant = %(tenant)s::text;

-- name: delete_orphans
-- In the order in which all lock them.
WITH held AS MATERIALIZED (
  SELECT embedding.record_id
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND NOT EXISTS (SELECT FROM prism_memory_record AS record
                      WHERE record.tenant = %(tenant)s::text
                        AND record.id = embedding.record_id
                        AND record.retired_at IS NULL)
   ORDER BY embedding.record_id
   LIMIT %(rows)s::integer
     FOR UPDATE)
DELETE FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(ARRAY(SELECT held.record_id FROM held));

-- name: requeue_drifted
WITH held AS MATERIALIZED (
  SELECT embedding.record_id
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND vector_dims(embedding.vector) <> %(dimensions)s::integer
   ORDER BY embedding.record_id
   LIMIT %(rows)s::integer
     FOR UPDATE)
UPDATE prism_memory_embedding AS embedding
   SET vector = NULL, attempts = 0, claimed_until = NULL,
       next_try_at = statement_timestamp(), failed_at = NULL, error = ''
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(ARRAY(SELECT held.record_id FROM held));

-- name: indexes_of_our_tables
-- As the catalogue has them, whatever the models say.
SELECT class.relname::text AS name, owner.relname::text AS table_name,
       index.indisvalid AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index AS build
                WHERE build.datname = current_database()
                  AND build.relid = index.indrelid
                  AND build.index_relid IN (0, class.oid)) AS built
  FROM pg_index AS index
  JOIN pg_class AS class ON class.oid = index.indexrelid
  JOIN pg_class AS owner ON owner.oid = index.indrelid
 WHERE index.indrelid IN ('prism_memory_record'::regclass,
                          'prism_memory_embedding'::regclass)
 ORDER BY class.relname;

-- name: statistics_of_tables
SELECT stat.relname::text AS table_name, stat.n_live_tup AS live, stat.n_dead_tup AS dead,
       stat.n_mod_since_analyze AS changed,
       coalesce(stat.last_analyze, stat.last_autoanalyze) IS NOT NULL AS analyzed
  FROM pg_stat_all_tables AS stat
 WHERE stat.relid IN ('prism_memory_record'::regclass,
                      'prism_memory_embedding'::regclass,
                      'prism_memory_scope'::regclass)
 ORDER BY stat.relname;

-- name: analyze_table
ANALYZE {table};

-- name: vacuum_table
VACUUM (ANALYZE) {table};
