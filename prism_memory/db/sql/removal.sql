-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {held} of access.sql.

-- name: lock_records
-- Records of exactly one scope, each with whether a hold keeps it. Locked in the order
-- of their keys, as by remember: else the two could wait for each other. Locked first, then asked for holds: who
-- placed one meanwhile has committed by then.
WITH locked AS MATERIALIZED (
  SELECT record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.scope_id = %(scope_id)s::uuid
     AND record.id = ANY(%(record_ids)s::uuid[])
   ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
            record.partition COLLATE "C", record.key COLLATE "C"
     FOR UPDATE)
SELECT record.id, {held} AS held
  FROM locked
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = locked.id
 ORDER BY record.id;

-- name: lock_derived
-- Records by their ids, in whatever scope: what a closure reached.
WITH locked AS MATERIALIZED (
  SELECT record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.id = ANY(%(record_ids)s::uuid[])
   ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
            record.partition COLLATE "C", record.key COLLATE "C"
     FOR UPDATE)
SELECT record.id, {held} AS held
  FROM locked
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = locked.id
 ORDER BY record.id;

-- name: oldest_of_scope
-- The next records of a scope that may go, in the order of their ids, which is about
-- the order they were written in.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = %(scope_id)s::uuid
   AND record.kind = ANY(%(kinds)s::text[])
   AND record.created_at <= %(before)s::timestamptz
   AND record.id > %(after)s::uuid
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: lock_sources
-- Who writes records of one waits, or is waited for: only then is it known to be empty.
SELECT id
  FROM prism_memory_source
 WHERE tenant = %(tenant)s::text AND scope_id = %(scope_id)s::uuid
 ORDER BY key
   FOR UPDATE;

-- name: delete_empty_sources
-- Those of a scope that no record belongs to any more, once they are locked.
DELETE FROM prism_memory_source AS source
 WHERE source.tenant = %(tenant)s::text
   AND source.scope_id = %(scope_id)s::uuid
   AND NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = source.tenant AND record.source_id = source.id)
   AND NOT EXISTS (
         SELECT FROM prism_memory_legalhold AS kept
          WHERE kept.tenant = source.tenant
            AND kept.target_ref = 'source:' || source.id::text
            AND kept.released_at IS NULL);
