-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: prune_traces
-- The oldest of those that are old enough, a batch of them.
WITH old AS MATERIALIZED (
  SELECT trace.id
    FROM prism_memory_recalltrace AS trace
   WHERE trace.tenant = %(tenant)s::text AND trace.at < %(before)s::timestamptz
   ORDER BY trace.at, trace.id
   LIMIT %(rows)s::integer
     FOR UPDATE SKIP LOCKED)
DELETE FROM prism_memory_recalltrace AS trace
 USING old
 WHERE trace.tenant = %(tenant)s::text AND trace.id = old.id;
