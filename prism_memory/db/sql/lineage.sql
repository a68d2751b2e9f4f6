-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {drawn} and {restricts} of access.sql.

-- name: share_lineage
-- Held to the end of the transaction by every writer of lineage; they do not wait for
-- each other. Whoever blocks or unblocks a closure waits for them, and they for it:
-- else what is derived at the same moment would be missed by both.
SELECT pg_advisory_xact_lock_shared(
         hashtextextended('prism_memory lineage of ' || %(tenant)s::text, 0)),
       current_setting('transaction_isolation') AS isolation;

-- name: own_lineage
SELECT pg_advisory_xact_lock(
         hashtextextended('prism_memory lineage of ' || %(tenant)s::text, 0)),
       current_setting('transaction_isolation') AS isolation;

-- name: inherited
-- What blocks records, and all that is derived from them, since it blocks a source.
-- OFFSET 0 makes each step a look-up in an index: how many rows a walk meets cannot be
-- foreseen, and the planner would rather read the whole table.
WITH RECURSIVE blocked(target_ref, root_ref, reason, hold, actor) AS (
  SELECT 'record:' || edge.record_id::text, stone.root_ref, stone.reason, stone.hold,
         stone.actor
    FROM prism_memory_lineageedge AS edge
   CROSS JOIN LATERAL (
         SELECT stone.root_ref, stone.reason, stone.hold, stone.actor
           FROM prism_memory_tombstone AS stone
          WHERE stone.tenant = %(tenant)s::text AND stone.target_ref = edge.source_ref
            AND stone.cleared_at IS NULL
         OFFSET 0) AS stone
   WHERE edge.tenant = %(tenant)s::text
     AND edge.record_id = ANY(%(record_ids)s::uuid[])
  UNION
  SELECT 'record:' || edge.record_id::text, blocked.root_ref, blocked.reason,
         blocked.hold, blocked.actor
    FROM blocked
   CROSS JOIN LATERAL (
         SELECT edge.record_id
           FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text
            AND edge.source_ref = blocked.target_ref
         OFFSET 0) AS edge)
SELECT target_ref, root_ref, reason, hold, actor
  FROM blocked
 ORDER BY target_ref, root_ref, reason;

-- name: closure
-- Everything derived from the roots, with its distance from the nearest. One more
-- than the most distance is walked, so that too far is known as such.
WITH RECURSIVE closure(ref, distance) AS (
  SELECT root, 0 FROM unnest(%(roots)s::text[]) AS root
  UNION
  SELECT 'record:' || edge.record_id::text, closure.distance + 1
    FROM closure
   CROSS JOIN LATERAL (
         SELECT edge.record_id
           FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text AND edge.source_ref = closure.ref
         OFFSET 0) AS edge
   WHERE closure.distance <= %(most_distance)s::integer)
SELECT ref, min(distance) AS distance
  FROM closure
 GROUP BY ref
 ORDER BY distance, ref
 LIMIT %(most_refs)s::integer + 1;

-- name: walk
-- Every edge by which something derives from the roots, however far: each once.
WITH RECURSIVE walked(source_ref, ref) AS (
  SELECT edge.source_ref, 'record:' || edge.record_id::text
    FROM prism_memory_lineageedge AS edge
   WHERE edge.tenant = %(tenant)s::text
     AND edge.source_ref = ANY(%(roots)s::text[])
  UNION
  SELECT walked.ref, 'record:' || edge.record_id::text
    FROM walked
   CROSS JOIN LATERAL (
         SELECT edge.record_id
           FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text AND edge.source_ref = walked.ref
         OFFSET 0) AS edge)
SELECT source_ref, ref FROM walked;

-- name: mark_derived
-- The roots and all that is derived from each, however much that is: no writer of
-- derived records may keep a revocation from happening.
WITH RECURSIVE derived(root_ref, ref) AS (
  SELECT root, root FROM unnest(%(roots)s::text[]) AS root
  UNION
  SELECT derived.root_ref, 'record:' || edge.record_id::text
    FROM derived
   CROSS JOIN LATERAL (
         SELECT edge.record_id
           FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text AND edge.source_ref = derived.ref
         OFFSET 0) AS edge)
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, scope_id, root_ref, reason, hold, supersedes_ref, actor,
        at)
SELECT gen_random_uuid(), %(tenant)s::text, derived.ref,
       CASE WHEN starts_with(derived.ref, 'record:')
            THEN (SELECT record.scope_id
                    FROM prism_memory_record AS record
                   WHERE record.tenant = %(tenant)s::text
                     AND record.id = substr(derived.ref, 8)::uuid)
            ELSE substr(derived.ref, 5, 36)::uuid END,
       derived.root_ref, %(reason)s::text, %(hold)s::boolean, %(supersedes)s::text,
       %(actor)s::text, %(at)s::timestamptz
  FROM derived
ON CONFLICT (tenant, target_ref, root_ref, reason) WHERE cleared_at IS NULL
DO NOTHING
RETURNING target_ref;

-- name: mark
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, scope_id, root_ref, reason, hold, supersedes_ref, actor,
        at)
SELECT given.id, %(tenant)s::text, given.target_ref,
       CASE WHEN starts_with(given.target_ref, 'record:')
            THEN (SELECT record.scope_id
                    FROM prism_memory_record AS record
                   WHERE record.tenant = %(tenant)s::text
                     AND record.id = substr(given.target_ref, 8)::uuid)
            ELSE substr(given.target_ref, 5, 36)::uuid END,
       given.root_ref, given.reason, given.hold, '', given.actor,
       %(at)s::timestamptz
  FROM unnest(%(ids)s::uuid[], %(target_refs)s::text[], %(root_refs)s::text[],
              %(reasons)s::text[], %(holds)s::boolean[], %(actors)s::text[])
       AS given(id, target_ref, root_ref, reason, hold, actor)
ON CONFLICT (tenant, target_ref, root_ref, reason) WHERE cleared_at IS NULL
DO NOTHING;

-- name: stones
-- A page of what blocks refs of one scope, by ref.
SELECT id, target_ref, root_ref, reason, hold, actor, at
  FROM prism_memory_tombstone
 WHERE tenant = %(tenant)s::text AND scope_id = %(scope_id)s::uuid
   AND cleared_at IS NULL
   AND (target_ref, id) > (%(after_ref)s::text, %(after_id)s::uuid)
 ORDER BY target_ref, id
 LIMIT %(rows)s::integer;

-- name: blocked_refs
-- A page of refs of some scopes that may not be used: all but what was corrected. A
-- page of each scope is read in the order of the index, then merged.
SELECT DISTINCT blocked.target_ref
  FROM unnest(%(scope_ids)s::uuid[]) AS place(id)
 CROSS JOIN LATERAL (
       SELECT DISTINCT stone.target_ref
         FROM prism_memory_tombstone AS stone
        WHERE stone.tenant = %(tenant)s::text AND stone.scope_id = place.id
          AND stone.cleared_at IS NULL AND stone.reason <> 'corrected'
          AND stone.target_ref > %(after)s::text
        ORDER BY stone.target_ref
        LIMIT %(rows)s::integer) AS blocked
 ORDER BY blocked.target_ref
 LIMIT %(rows)s::integer;

-- name: roots_of_holds
-- Those of some refs that a forgetting hid for a hold, and not because of another.
SELECT DISTINCT root_ref
  FROM prism_memory_tombstone
 WHERE tenant = %(tenant)s::text AND root_ref = ANY(%(roots)s::text[])
   AND reason = 'legal_hold' AND cleared_at IS NULL;

-- name: lift_holds
-- The only statement that lifts a hold, and only those that these roots placed.
UPDATE prism_memory_tombstone
   SET cleared_at = %(at)s::timestamptz
 WHERE tenant = %(tenant)s::text AND root_ref = ANY(%(roots)s::text[])
   AND reason = 'legal_hold' AND cleared_at IS NULL
RETURNING target_ref;

-- name: lift
UPDATE prism_memory_tombstone
   SET cleared_at = %(at)s::timestamptz
 WHERE tenant = %(tenant)s::text AND root_ref = %(root_ref)s::text
   AND root_ref <> '' AND reason = %(reason)s::text AND NOT hold
   AND cleared_at IS NULL;

-- name: lift_roots
-- As lift, of several roots.
UPDATE prism_memory_tombstone
   SET cleared_at = %(at)s::timestamptz
 WHERE tenant = %(tenant)s::text AND root_ref = ANY(%(roots)s::text[])
   AND root_ref <> '' AND reason = %(reason)s::text AND NOT hold
   AND cleared_at IS NULL;

-- name: lift_left
-- What roots blocked that records do not derive from any more, not even at second
-- hand. Each step is a look-up, as in "inherited".
WITH RECURSIVE above(target_ref, ref) AS (
  SELECT 'record:' || edge.record_id::text, edge.source_ref
    FROM prism_memory_lineageedge AS edge
   WHERE edge.tenant = %(tenant)s::text
     AND edge.record_id = ANY(%(record_ids)s::uuid[])
  UNION
  SELECT above.target_ref, edge.source_ref
    FROM above
   CROSS JOIN LATERAL (
         SELECT edge.source_ref
           FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text
            AND edge.record_id = CASE WHEN starts_with(above.ref, 'record:')
                                      THEN substr(above.ref, 8)::uuid END
         OFFSET 0) AS edge)
UPDATE prism_memory_tombstone AS stone
   SET cleared_at = %(at)s::timestamptz
 WHERE stone.tenant = %(tenant)s::text
   AND stone.target_ref = ANY(ARRAY(
         SELECT 'record:' || given.id::text
           FROM unnest(%(record_ids)s::uuid[]) AS given(id)))
   AND stone.reason = ANY(%(reasons)s::text[]) AND NOT stone.hold
   AND stone.root_ref <> stone.target_ref
   AND stone.cleared_at IS NULL
   AND (stone.target_ref, stone.root_ref) NOT IN (
         SELECT above.target_ref, above.ref FROM above);

-- name: restricting
-- The restricted sources that each of some records draws upon, and those that are gone.
SELECT DISTINCT record.id AS record_id, upon.source_id
  FROM unnest(%(record_ids)s::uuid[]) AS given(id)
 CROSS JOIN LATERAL (
       SELECT record.id, record.source_id
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.id = given.id
       OFFSET 0) AS record
 CROSS JOIN LATERAL ({drawn} SELECT drawn.source_id FROM drawn OFFSET 0) AS upon
 WHERE upon.source_id IS NOT NULL
   AND {restricts}
   AND (NOT EXISTS (
         SELECT FROM prism_memory_source AS source
          WHERE source.tenant = %(tenant)s::text AND source.id = upon.source_id
            AND NOT source.restricted
         OFFSET 0)) IS TRUE
 ORDER BY record.id, upon.source_id;

-- name: keep_restricted
-- What is read by those alone who may read a document stays so without its words.
INSERT INTO prism_memory_lineageedge AS edge (tenant, record_id, source_ref, position)
SELECT %(tenant)s::text, given.record_id, 'source:' || given.source_id::text, 0
  FROM unnest(%(record_ids)s::uuid[], %(source_ids)s::uuid[])
       AS given(record_id, source_id)
ON CONFLICT (tenant, record_id, source_ref) DO NOTHING;
