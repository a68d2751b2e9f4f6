-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: strengthen
-- One more recall of each record that is still there. A record that is being deleted is
-- waited for, and then it is gone. Locked in the order of their keys, as by all who lock
-- several, so that none waits for another in a circle.
WITH there AS MATERIALIZED (
  SELECT record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.id = ANY(%(record_ids)s::uuid[])
   ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
            record.partition COLLATE "C", record.key COLLATE "C"
     FOR KEY SHARE)
INSERT INTO prism_memory_reinforcement AS mine
       (tenant, record_id, strength, recalls, last_recalled_at)
SELECT %(tenant)s::text, there.id,
       least(%(most)s::float8, %(first)s::float8 + %(step)s::float8),
       1, %(at)s::timestamptz
  FROM there
 ORDER BY there.id
ON CONFLICT (tenant, record_id) DO UPDATE
   SET strength = least(%(most)s::float8, mine.strength + %(step)s::float8),
       recalls = mine.recalls + 1,
       last_recalled_at = greatest(mine.last_recalled_at, excluded.last_recalled_at)
RETURNING mine.record_id;

-- name: note_query
-- The different questions of each record, up to a bound. After "strengthen" in one
-- transaction, whose locks make the count exact.
INSERT INTO prism_memory_reinforcedquery (tenant, record_id, query_sha256, at)
SELECT %(tenant)s::text, given.record_id, %(query_sha256)s::bytea,
       %(at)s::timestamptz
  FROM unnest(%(record_ids)s::uuid[]) AS given(record_id)
 WHERE (SELECT count(*)
          FROM prism_memory_reinforcedquery AS known
         WHERE known.tenant = %(tenant)s::text
           AND known.record_id = given.record_id) < %(queries)s::integer
ON CONFLICT (tenant, record_id, query_sha256) DO NOTHING;
