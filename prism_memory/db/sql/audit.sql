-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {columns} and {deletions} below.

-- name: own_seals
-- One seals or prunes a tenant's trail at a time; who writes events never waits for it.
SELECT pg_advisory_xact_lock(
         hashtextextended('prism_memory seals of ' || %(tenant)s::text, 0)),
       current_setting('transaction_isolation') AS isolation;

-- name: columns
-- What is sealed of the row called "event". Times as microseconds and JSON as
-- PostgreSQL's own text: whatever a session's settings.
event.id, event.actor, event.action, event.target, event.reason,
event.detail::text AS detail,
trunc(extract(epoch FROM event.at) * 1000000)::text AS at

-- name: take_events
-- The oldest events that no seal is over yet, now under this one.
WITH taken AS MATERIALIZED (
  SELECT event.id
    FROM prism_memory_auditevent AS event
   WHERE event.tenant = %(tenant)s::text AND event.seal IS NULL
   ORDER BY event.id
   LIMIT %(rows)s::integer)
UPDATE prism_memory_auditevent AS event
   SET seal = %(number)s::bigint
  FROM taken
 WHERE event.tenant = %(tenant)s::text AND event.id = taken.id
RETURNING {columns};

-- name: sealed_events
SELECT event.seal, {columns}
  FROM prism_memory_auditevent AS event
 WHERE event.tenant = %(tenant)s::text
   AND (event.seal, event.id) > (CAST(%(seal)s AS bigint), %(after)s::uuid)
 ORDER BY event.seal, event.id
 LIMIT %(rows)s::integer;

-- name: seals
SELECT seal.number, seal.events, seal.digest, seal.previous, seal.sha256, seal.content,
       seal.violations, seal.mac, seal.mac_key, seal.pruned_at IS NOT NULL AS pruned,
       trunc(extract(epoch FROM seal.first_at) * 1000000)::text AS first_at,
       trunc(extract(epoch FROM seal.last_at) * 1000000)::text AS last_at,
       trunc(extract(epoch FROM seal.at) * 1000000)::text AS at
  FROM prism_memory_auditseal AS seal
 WHERE seal.tenant = %(tenant)s::text AND seal.number > %(after)s::bigint
 ORDER BY seal.number
 LIMIT %(rows)s::integer;

-- name: deletions
-- Events of deletions, with how many records each may have removed. A page of an erasure
-- blocks more than it removes at once: what is derived goes from its far end.
SELECT event.at, event.actor, event.action, event.target,
       CASE WHEN event.action = 'memory.erase_page'
            THEN CASE jsonb_typeof(event.detail -> 'refs')
                 WHEN 'number' THEN (event.detail ->> 'refs')::numeric ELSE 0 END
            WHEN jsonb_typeof(event.detail -> 'deleted') = 'number'
            THEN (event.detail ->> 'deleted')::numeric
            ELSE 0 END AS most,
       event.action <> 'memory.erase_page'
       OR event.detail -> 'refs' = event.detail -> 'deleted' AS whole
  FROM prism_memory_auditevent AS event
 WHERE event.tenant = %(tenant)s::text AND event.action = ANY(%(deletions)s::text[])

-- name: unaccounted
-- Those of the records that no deletion accounts for: one leaves a tombstone, and an event
-- of the same moment by the same actor, about the same thing. And no event accounts for
-- more records than it says it removed. Of several tombstones the latest counts.
WITH stones AS MATERIALIZED (
  SELECT DISTINCT ON (given.id) given.id, stone.at, stone.actor, stone.root_ref,
         stone.reason
    FROM unnest(%(record_ids)s::uuid[]) AS given(id)
    JOIN prism_memory_tombstone AS stone
      ON stone.tenant = %(tenant)s::text
     AND stone.target_ref = 'record:' || given.id::text
     AND stone.reason IN ('forgotten', 'expired')
   ORDER BY given.id, stone.at DESC, stone.actor DESC),
moments AS MATERIALIZED (SELECT DISTINCT at, actor FROM stones),
told AS MATERIALIZED (
  SELECT event.*
    FROM moments
    JOIN ({deletions}) AS event
      ON event.at = moments.at AND event.actor = moments.actor),
gone AS MATERIALIZED (
  SELECT moments.at, moments.actor, count(DISTINCT stone.target_ref) AS records
    FROM moments
    JOIN prism_memory_tombstone AS stone
      ON stone.tenant = %(tenant)s::text
     AND stone.at = moments.at AND stone.actor = moments.actor
     AND stone.reason IN ('forgotten', 'expired')
     AND starts_with(stone.target_ref, 'record:')
   WHERE NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text
            AND record.id = CASE WHEN starts_with(stone.target_ref, 'record:')
                                 THEN substr(stone.target_ref, 8)::uuid END)
     AND NOT EXISTS (
         SELECT FROM prism_memory_tombstone AS later
          WHERE later.tenant = %(tenant)s::text
            AND later.target_ref = stone.target_ref
            AND later.reason IN ('forgotten', 'expired')
            AND (later.at, later.actor) > (stone.at, stone.actor))
   GROUP BY moments.at, moments.actor)
SELECT given.id
  FROM unnest(%(record_ids)s::uuid[]) AS given(id)
 WHERE NOT EXISTS (
       SELECT
         FROM stones AS stone
         JOIN told AS event ON event.at = stone.at AND event.actor = stone.actor
        WHERE stone.id = given.id
          AND CASE event.action
              WHEN 'memory.propagate_deletion' THEN TRUE
              WHEN 'retention.apply' THEN stone.reason = 'expired'
              WHEN 'retention.sweep' THEN stone.reason = 'expired'
              ELSE stone.reason = 'forgotten' END
          AND (event.action IN ('memory.erase_page', 'retention.sweep')
               OR event.target = stone.root_ref
               OR EXISTS (
                  SELECT FROM prism_memory_tombstone AS root
                   WHERE root.tenant = %(tenant)s::text
                     AND root.target_ref = stone.root_ref
                     AND root.root_ref = stone.root_ref
                     AND 'scope:' || root.scope_id::text = event.target))
          AND (SELECT gone.records FROM gone
                WHERE gone.at = stone.at AND gone.actor = stone.actor)
              <= (SELECT sum(same.most) FROM told AS same
                   WHERE same.at = stone.at AND same.actor = stone.actor));

-- name: back
-- Those of the records that an event says were deleted, by a tombstone that they were
-- the root of: what is derived may be kept, a root never is.
SELECT DISTINCT given.id
  FROM unnest(%(record_ids)s::uuid[]) AS given(id)
  JOIN prism_memory_tombstone AS stone
    ON stone.tenant = %(tenant)s::text
   AND stone.target_ref = 'record:' || given.id::text
   AND stone.root_ref = stone.target_ref
   AND stone.reason IN ('forgotten', 'expired')
  JOIN ({deletions}) AS event
    ON event.at = stone.at AND event.actor = stone.actor
   AND event.whole AND event.most > 0;
