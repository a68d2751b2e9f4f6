-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {held} of access.sql, and {chosen} and {old} of this file.

-- name: chosen
-- Whether rules are about the row called "record". What is remembered once the sweep
-- began neither counts nor goes: so it ends, however fast others write. Who does one batch
-- alone gives no moment: what is there is meant, whatever the clock of its writer said.
    record.kind = ANY(%(kinds)s::text[])
AND (%(tier)s::text IS NULL OR record.tier = %(tier)s::text)
AND (%(began_at)s::timestamptz IS NULL
     OR record.created_at <= %(began_at)s::timestamptz)

-- name: old
-- Whether the row called "record" is over its time. Whatever its sequence.
(record.created_at < %(before)s::timestamptz
 OR (%(expired)s::boolean AND record.expires_at <= %(at)s::timestamptz)) IS TRUE

-- name: scopes
-- The next scopes of the rules' level, in the order of their ids, from one on.
SELECT place.id, place.owner, place.agent, place.thread
  FROM prism_memory_scope AS place
 WHERE place.tenant = %(tenant)s::text
   AND place.id >= %(scope)s::uuid
   AND (%(level)s::text IS NULL
        OR %(level)s::text = CASE WHEN place.thread <> '' THEN 'thread'
                                  WHEN place.agent <> '' THEN 'agent'
                                  WHEN place.owner <> '' THEN 'owner'
                                  ELSE 'tenant' END)
 ORDER BY place.id
 LIMIT %(scopes)s::integer;

-- name: due
-- The next records of these scopes that are due, after a place, in the order of
-- (scope, sequence, id). ``newest`` is the newest of a scope that is one too many.
SELECT due.id, place.id AS scope_id, due.sequence, due.over
  FROM unnest(%(scope_ids)s::uuid[]) AS place(id)
  LEFT JOIN LATERAL (
       SELECT record.sequence, record.id
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.scope_id = place.id
          AND {chosen}
          AND %(max_entries)s::bigint IS NOT NULL
        ORDER BY record.sequence DESC, record.id DESC
       OFFSET %(max_entries)s::bigint
        LIMIT 1) AS newest ON TRUE
 CROSS JOIN LATERAL (
       SELECT record.id, record.sequence, counted.over
         FROM prism_memory_record AS record
        CROSS JOIN LATERAL (
              SELECT ((record.sequence, record.id) <= (newest.sequence, newest.id))
                     IS TRUE AS over) AS counted
        WHERE record.tenant = %(tenant)s::text AND record.scope_id = place.id
          AND {chosen}
          AND (place.id <> %(scope)s::uuid
               OR (record.sequence, record.id) > (%(sequence)s::bigint, %(id)s::uuid))
          AND ({old} OR counted.over)
        ORDER BY record.sequence, record.id
        LIMIT %(rows)s::integer) AS due
 ORDER BY place.id, due.sequence, due.id
 LIMIT %(rows)s::integer;

-- name: counted
-- How many records of these scopes are due, and how many of those a hold keeps.
SELECT place.id AS scope_id, due.free AS due, due.kept
  FROM unnest(%(scope_ids)s::uuid[]) AS place(id)
  LEFT JOIN LATERAL (
       SELECT record.sequence, record.id
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.scope_id = place.id
          AND {chosen}
          AND %(max_entries)s::bigint IS NOT NULL
        ORDER BY record.sequence DESC, record.id DESC
       OFFSET %(max_entries)s::bigint
        LIMIT 1) AS newest ON TRUE
 CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE NOT {held}) AS free,
              count(*) FILTER (WHERE {held}) AS kept
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.scope_id = place.id
          AND {chosen}
          AND ({old}
               OR (record.sequence, record.id) <= (newest.sequence, newest.id))) AS due
 WHERE due.free + due.kept > 0;

-- name: oldest
-- Of one scope: the oldest that are over their time and under no hold, and how many
-- a hold keeps.
WITH due AS MATERIALIZED (
  SELECT record.id, record.sequence, record.created_at, {held} AS held
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text AND record.scope_id = %(scope_id)s::uuid
     AND {chosen}
     AND {old}),
free AS MATERIALIZED (
  SELECT due.id, due.sequence
    FROM due
   WHERE NOT due.held
   ORDER BY due.created_at, due.sequence, due.id
   LIMIT %(rows)s::integer)
SELECT ARRAY(SELECT free.id::text FROM free) AS ids,
       ARRAY(SELECT free.sequence FROM free) AS sequences,
       (SELECT count(*) FROM due WHERE due.held) AS kept;

-- name: lowest
-- Of one scope, but for what is ``gone``: the lowest sequences beyond the newest
-- ``max_entries`` that are under no hold, and how many a hold keeps that are not over
-- their time as well.
WITH newest AS MATERIALIZED (
  SELECT record.sequence, record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text AND record.scope_id = %(scope_id)s::uuid
     AND {chosen}
     AND record.id <> ALL(%(gone)s::uuid[])
   ORDER BY record.sequence DESC, record.id DESC
  OFFSET %(max_entries)s::bigint
   LIMIT 1),
due AS MATERIALIZED (
  SELECT record.id, record.sequence, {old} AS old, {held} AS held
    FROM prism_memory_record AS record
   CROSS JOIN newest
   WHERE record.tenant = %(tenant)s::text AND record.scope_id = %(scope_id)s::uuid
     AND {chosen}
     AND record.id <> ALL(%(gone)s::uuid[])
     AND (record.sequence, record.id) <= (newest.sequence, newest.id)),
free AS MATERIALIZED (
  SELECT due.id, due.sequence
    FROM due
   WHERE NOT due.held
   ORDER BY due.sequence, due.id
   LIMIT %(rows)s::integer)
SELECT ARRAY(SELECT free.id::text FROM free) AS ids,
       ARRAY(SELECT free.sequence FROM free) AS sequences,
       (SELECT count(*) FROM due WHERE due.held AND NOT due.old) AS kept;

-- name: lock_due
-- Those of the records that are due still. Locked in the order of their keys, as by all
-- who lock several, and judged by what stands there once they are.
WITH locked AS MATERIALIZED (
  SELECT record.id, record.kind, record.tier, record.sequence, record.created_at,
         record.expires_at
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text
     AND record.id = ANY(%(ids)s::uuid[])
   ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
            record.partition COLLATE "C", record.key COLLATE "C"
     FOR UPDATE)
SELECT record.id
  FROM locked AS record
  JOIN unnest(%(ids)s::uuid[], %(sequences)s::bigint[], %(overs)s::boolean[])
       AS given(id, sequence, over) ON given.id = record.id
 WHERE {chosen}
   AND ({old} OR (given.over AND record.sequence = given.sequence))
 ORDER BY record.id;
