-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {visible} of access.sql, and other parts of this file.

-- name: seen
-- Whether the row called "beside" may be seen. IS TRUE keeps the planner from taking
-- the rule for so choosy that it would rather read and sort a whole scope.
    (EXISTS (
      SELECT FROM prism_memory_record AS record
       WHERE record.id = beside.id AND {visible}
      OFFSET 0)) IS TRUE

-- name: in_source
-- By its ordinal: the only way to write a record of a source gives it one.
(SELECT beside.id
   FROM prism_memory_record AS beside
  WHERE beside.tenant = %(tenant)s::text
    AND beside.source_id = hit.source_id
    AND (beside.ordinal, beside.id) > (hit.ordinal, hit.id)
    AND {seen}
  ORDER BY beside.ordinal, beside.id
  LIMIT %(message_range)s::integer)
UNION ALL
(SELECT beside.id
   FROM prism_memory_record AS beside
  WHERE beside.tenant = %(tenant)s::text
    AND beside.source_id = hit.source_id
    AND (beside.ordinal, beside.id) < (hit.ordinal, hit.id)
    AND {seen}
  ORDER BY beside.ordinal DESC, beside.id DESC
  LIMIT %(message_range)s::integer)

-- name: in_scope
(SELECT beside.id
   FROM prism_memory_record AS beside
  WHERE hit.source_id IS NULL
    AND beside.tenant = %(tenant)s::text
    AND beside.scope_id = hit.scope_id
    AND beside.namespace = hit.namespace
    AND (beside.sequence, beside.id) > (hit.sequence, hit.id)
    AND {seen}
  ORDER BY beside.sequence, beside.id
  LIMIT %(message_range)s::integer)
UNION ALL
(SELECT beside.id
   FROM prism_memory_record AS beside
  WHERE hit.source_id IS NULL
    AND beside.tenant = %(tenant)s::text
    AND beside.scope_id = hit.scope_id
    AND beside.namespace = hit.namespace
    AND (beside.sequence, beside.id) < (hit.sequence, hit.id)
    AND {seen}
  ORDER BY beside.sequence DESC, beside.id DESC
  LIMIT %(message_range)s::integer)

-- name: adjacent
-- Each arm, in_source or in_scope, walks an index from a hit on, one way, until enough
-- are seen; only those that these hits need are there to be planned. Where a hit stands
-- is read under the rule too: nobody learns what is beside a row out of sight.
WITH hit AS MATERIALIZED (
  SELECT stands.*
    FROM unnest(%(hit_ids)s::uuid[]) AS given(id)
   CROSS JOIN LATERAL (
         SELECT record.id, record.scope_id, record.namespace, record.sequence,
                record.source_id, record.ordinal
           FROM prism_memory_record AS record
          WHERE record.id = given.id AND {visible}
         OFFSET 0) AS stands),
around AS MATERIALIZED (
  SELECT near.id
    FROM hit
   CROSS JOIN LATERAL (
{arms}) AS near),
shown AS MATERIALIZED (
  SELECT id FROM around
  EXCEPT
  SELECT id FROM unnest(%(hit_ids)s::uuid[]) AS given(id))
SELECT record.id::text AS record_id, record.key, record.text, record.kind, record.tier,
       record.namespace, record.partition, record.ordinal, record.trust, record.writer,
       record.metadata::text, record.sequence, record.importance,
       record.created_at::text, record.happened_at::text, record.valid_from::text,
       record.valid_to::text, record.version, record.gate, record.gate_reason,
       record.line_start, record.line_end, record.offset_start, record.offset_end,
       {changed} AS changed, place.owner, place.agent, place.thread,
       source.key AS source
  FROM shown
 CROSS JOIN LATERAL (
       SELECT * FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.id = shown.id
       OFFSET 0) AS record
  JOIN prism_memory_scope AS place
    ON place.tenant = %(tenant)s::text AND place.id = record.scope_id
  LEFT JOIN prism_memory_source AS source
    ON source.tenant = %(tenant)s::text AND source.id = record.source_id
 ORDER BY record.sequence, record.id;

-- name: explain
-- Of each hit that is still in sight: what it is derived from, and a tombstone in force.
-- One that hides it would have kept it out of sight.
SELECT given.id, sources.refs, stone.reason, stone.at::text
  FROM unnest(%(hit_ids)s::uuid[]) WITH ORDINALITY AS given(id, rank)
 CROSS JOIN LATERAL (
       SELECT FROM prism_memory_record AS record
        WHERE record.id = given.id AND {visible}
       OFFSET 0) AS seen
 CROSS JOIN LATERAL (
       SELECT coalesce(array_agg(edge.source_ref ORDER BY edge.position,
                                 edge.source_ref), ARRAY[]::text[]) AS refs
         FROM prism_memory_lineageedge AS edge
        WHERE edge.tenant = %(tenant)s::text AND edge.record_id = given.id) AS sources
  LEFT JOIN LATERAL (
       SELECT stone.reason, stone.at
         FROM prism_memory_tombstone AS stone
        WHERE stone.tenant = %(tenant)s::text
          AND stone.target_ref = 'record:' || given.id::text
          AND stone.cleared_at IS NULL
        ORDER BY stone.at DESC, stone.reason
        LIMIT 1) AS stone ON TRUE
 ORDER BY given.rank;

-- name: similarities
-- How alike records are, each pair once; ids as text sort as they do.
SELECT one.record_id::text AS one, other.record_id::text AS other,
       1 - (one.vector <=> other.vector) AS cosine
  FROM prism_memory_embedding AS one
  JOIN prism_memory_embedding AS other
    ON other.tenant = one.tenant
   AND other.space_id = one.space_id
   AND other.record_id > one.record_id
 WHERE one.tenant = %(tenant)s::text
   AND one.space_id = %(space_id)s::integer
   AND one.record_id = ANY(%(record_ids)s::uuid[])
   AND other.record_id = ANY(%(record_ids)s::uuid[])
   AND one.vector IS NOT NULL
   AND other.vector IS NOT NULL;
