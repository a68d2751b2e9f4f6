-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {columns} below.

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

-- name: unaccounted
-- Those of the records that no deletion accounts for: one leaves a tombstone, and an event
-- of the same moment by the same actor. An erasure takes many transactions, and says when
-- it began and ended.
WITH erasures AS MATERIALIZED (
  SELECT begun.at AS began_at,
         (SELECT min(ended.at)
            FROM prism_memory_auditevent AS ended
           WHERE ended.tenant = begun.tenant AND ended.target = begun.target
             AND ended.action = 'memory.erase' AND ended.at >= begun.at) AS ended_at
    FROM prism_memory_auditevent AS begun
   WHERE begun.tenant = %(tenant)s::text AND begun.action = 'memory.erase_start')
SELECT given.id
  FROM unnest(%(record_ids)s::uuid[]) AS given(id)
 WHERE NOT EXISTS (
       SELECT FROM prism_memory_tombstone AS stone
        WHERE stone.tenant = %(tenant)s::text
          AND stone.target_ref = 'record:' || given.id::text
          AND stone.reason IN ('forgotten', 'expired')
          AND (EXISTS (
                SELECT FROM prism_memory_auditevent AS event
                 WHERE event.tenant = %(tenant)s::text
                   AND event.at = stone.at AND event.actor = stone.actor)
               OR EXISTS (
                SELECT FROM erasures
                 WHERE stone.at >= erasures.began_at
                   AND stone.at <= coalesce(erasures.ended_at, 'infinity'))));
