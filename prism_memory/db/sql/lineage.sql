-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: closure
-- Everything derived from the roots, with its distance from the nearest. One more
-- than the most distance is walked, so that too far is known as such.
WITH RECURSIVE closure(ref, distance) AS (
  SELECT root, 0 FROM unnest(%(roots)s::text[]) AS root
  UNION
  SELECT 'record:' || edge.record_id::text, closure.distance + 1
    FROM closure
    JOIN prism_memory_lineageedge AS edge
      ON edge.tenant = %(tenant)s::text AND edge.source_ref = closure.ref
   WHERE closure.distance <= %(most_distance)s::integer)
SELECT ref, min(distance) AS distance
  FROM closure
 GROUP BY ref
 ORDER BY distance, ref
 LIMIT %(most_refs)s::integer + 1;

-- name: mark
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, root_ref, reason, hold, supersedes_ref, actor, at)
SELECT given.id, %(tenant)s::text, given.target_ref, %(root_ref)s::text,
       %(reason)s::text, %(hold)s::boolean, '', %(actor)s::text, %(at)s::timestamptz
  FROM unnest(%(ids)s::uuid[], %(target_refs)s::text[]) AS given(id, target_ref)
ON CONFLICT (tenant, target_ref, root_ref, reason) WHERE cleared_at IS NULL
DO NOTHING;

-- name: lift
UPDATE prism_memory_tombstone
   SET cleared_at = %(at)s::timestamptz
 WHERE tenant = %(tenant)s::text AND root_ref = %(root_ref)s::text
   AND reason = %(reason)s::text AND NOT hold AND cleared_at IS NULL;
