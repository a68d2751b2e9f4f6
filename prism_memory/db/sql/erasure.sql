-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {held} of access.sql and what this file names itself.

-- name: within_tenant
-- Whether a scope, a row called "place", is the one to be erased, or lies below it.
TRUE

-- name: within_owner
place.owner = %(owner)s::text

-- name: within_agent
place.owner = %(owner)s::text AND place.agent = %(agent)s::text

-- name: within_thread
place.owner = %(owner)s::text AND place.agent = %(agent)s::text
AND place.thread = %(thread)s::text

-- name: covered
-- Whether a hold is on the scope called "place", or on one above it.
EXISTS (
  SELECT FROM prism_memory_legalhold AS kept
   WHERE kept.tenant = place.tenant
     AND kept.level = 'scope'
     AND kept.released_at IS NULL
     AND (kept.owner, kept.agent, kept.thread) IN (
           ('', '', ''),
           (place.owner, '', ''),
           (place.owner, place.agent, ''),
           (place.owner, place.agent, place.thread)))

-- name: page_of_scope
-- The next records of a scope and of all below it. OFFSET 0 keeps the scopes in their
-- order, so that the walk goes on exactly where the last page ended.
SELECT record.id, record.held, record.scope_id, record.sequence
  FROM (SELECT place.id
          FROM prism_memory_scope AS place
         WHERE place.tenant = %(tenant)s::text AND {within}
           AND place.id >= %(after_scope)s::uuid
         ORDER BY place.id
        OFFSET 0) AS place
 CROSS JOIN LATERAL (
       SELECT record.id, record.scope_id, record.sequence, {held} AS held
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.scope_id = place.id
          AND (record.sequence, record.id) > (
                CASE WHEN place.id = %(after_scope)s::uuid
                     THEN %(after_sequence)s::bigint
                     ELSE '-9223372036854775808'::bigint END,
                CASE WHEN place.id = %(after_scope)s::uuid
                     THEN %(after_id)s::uuid
                     ELSE '00000000-0000-0000-0000-000000000000'::uuid END)
        ORDER BY record.sequence, record.id
        LIMIT %(rows)s::integer) AS record
 LIMIT %(rows)s::integer;

-- name: page_of_source
SELECT record.id, {held} AS held, record.scope_id, record.sequence
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.source_id = %(source_id)s::uuid
   AND record.id > %(after_id)s::uuid
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: page_of_record
SELECT record.id, {held} AS held, record.scope_id, record.sequence
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = %(scope_id)s::uuid
   AND record.id = %(record_id)s::uuid
   AND record.id > %(after_id)s::uuid
 LIMIT %(rows)s::integer;

-- name: free_of_scope
-- What no hold keeps, of locked scopes: written since the last page was read.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = ANY(%(scope_ids)s::uuid[])
   AND NOT {held}
 LIMIT %(rows)s::integer;

-- name: free_of_source
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.source_id = %(source_id)s::uuid
   AND NOT {held}
 LIMIT %(rows)s::integer;

-- name: reached
-- Records by their refs, in the order that these are given in, each with whether a hold
-- keeps it. OFFSET 0 makes each a look-up in an index.
SELECT record.id, record.kind, record.scope_id, record.held
  FROM unnest(%(refs)s::text[]) WITH ORDINALITY AS given(ref, number)
 CROSS JOIN LATERAL (
       SELECT record.id, record.kind, record.scope_id, {held} AS held
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text
          AND record.id = substr(given.ref, 8)::uuid
       OFFSET 0) AS record
 ORDER BY given.number;

-- name: mark_erased
-- Each in its own right: a chain of ten thousand would else take fifty million.
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, scope_id, root_ref, reason, hold, supersedes_ref, actor,
        at)
SELECT gen_random_uuid(), %(tenant)s::text, ref,
       (SELECT record.scope_id
          FROM prism_memory_record AS record
         WHERE record.tenant = %(tenant)s::text AND record.id = substr(ref, 8)::uuid),
       ref, 'forgotten', FALSE, '', %(actor)s::text, %(at)s::timestamptz
  FROM unnest(%(refs)s::text[]) AS ref
ON CONFLICT (tenant, target_ref, root_ref, reason) WHERE cleared_at IS NULL
DO NOTHING
RETURNING target_ref;

-- name: lock_erased
-- In the order of their keys, as by all who lock several.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[])
 ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
          record.partition COLLATE "C", record.key COLLATE "C"
   FOR UPDATE OF record {wait};

-- name: lock_vectors
-- In the order in which drains lock them.
SELECT embedding.record_id
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.record_id = ANY(%(record_ids)s::uuid[])
 ORDER BY embedding.record_id
   FOR UPDATE OF embedding {wait};

-- name: unname_entities
-- Takes the words out of those of some entities that no fact speaks of. Their id is no
-- name that anybody gives, and theirs alone.
UPDATE prism_memory_entity AS entity
   SET name = entity.id::text, label = '', vector = NULL, space_id = NULL
 WHERE entity.tenant = %(tenant)s::text
   AND entity.id = ANY(%(entity_ids)s::uuid[])
   AND NOT EXISTS (
         SELECT FROM prism_memory_mention AS mention
          WHERE mention.tenant = entity.tenant AND mention.entity_id = entity.id
         OFFSET 0);

-- name: unmentioned
-- Those of some entities that nothing speaks of, but facts and merged ones that are to be
-- left out of account; with what each was merged into.
SELECT entity.id, entity.merged_into
  FROM prism_memory_entity AS entity
 WHERE entity.tenant = %(tenant)s::text
   AND entity.id = ANY(%(entity_ids)s::uuid[])
   AND NOT EXISTS (
         SELECT FROM prism_memory_mention AS mention
          WHERE mention.tenant = entity.tenant AND mention.entity_id = entity.id
            AND mention.fact_id <> ALL(%(without)s::uuid[]))
   AND NOT EXISTS (
         SELECT FROM prism_memory_entity AS merged
          WHERE merged.tenant = entity.tenant AND merged.merged_into = entity.id
            AND merged.id <> ALL(%(gone)s::uuid[]));

-- name: lock_places
-- Scopes to be erased, against all who write in them: those have the lock for share.
SELECT place.id, {covered} AS covered
  FROM prism_memory_scope AS place
 WHERE place.tenant = %(tenant)s::text AND {within}
   AND place.id > %(after)s::uuid
 ORDER BY place.id
 LIMIT %(rows)s::integer
   FOR UPDATE OF place;

-- name: empty_sources
-- Of locked scopes that no hold covers: those that hold nothing any more, and that no
-- hold is on.
SELECT source.id
  FROM prism_memory_source AS source
 WHERE source.tenant = %(tenant)s::text
   AND source.scope_id = ANY(%(scope_ids)s::uuid[])
   AND (%(source_id)s::uuid IS NULL OR source.id = %(source_id)s::uuid)
   AND NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = source.tenant AND record.source_id = source.id)
   AND NOT EXISTS (
         SELECT FROM prism_memory_legalhold AS kept
          WHERE kept.tenant = source.tenant
            AND kept.target_ref = 'source:' || source.id::text
            AND kept.released_at IS NULL);

-- name: lock_source
-- Against all who write records of it: those have the lock for share.
SELECT place.id AS scope_id, {covered} AS covered
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
 WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid
   FOR UPDATE OF source;

-- name: empty_places
-- Of locked scopes: those that hold nothing any more.
SELECT place.id
  FROM prism_memory_scope AS place
 WHERE place.tenant = %(tenant)s::text
   AND place.id = ANY(%(scope_ids)s::uuid[])
   AND NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = place.tenant AND record.scope_id = place.id)
   AND NOT EXISTS (
         SELECT FROM prism_memory_source AS source
          WHERE source.tenant = place.tenant AND source.scope_id = place.id)
   AND NOT EXISTS (
         SELECT FROM prism_memory_entity AS entity
          WHERE entity.tenant = place.tenant AND entity.scope_id = place.id);

-- name: outside
-- Whether a row called "stone" is about a thing outside that was named in scopes that are
-- gone, or follows from one.
((stone.cleared_at IS NULL
      AND stone.target_ref >= 'ext:' AND stone.target_ref < 'ext;'
      AND split_part(stone.target_ref, ':', 2) = ANY(%(gone)s::text[]))
  OR (stone.cleared_at IS NOT NULL
      AND stone.target_ref >= 'ext:' AND stone.target_ref < 'ext;'
      AND split_part(stone.target_ref, ':', 2) = ANY(%(gone)s::text[]))
  OR (stone.cleared_at IS NULL AND stone.root_ref <> ''
      AND stone.root_ref >= 'ext:' AND stone.root_ref < 'ext;'
      AND split_part(stone.root_ref, ':', 2) = ANY(%(gone)s::text[])))

-- name: delete_outside
DELETE FROM prism_memory_tombstone AS stone
 WHERE stone.tenant = %(tenant)s::text AND {outside};

-- name: count_outside
SELECT count(*) AS stones
  FROM prism_memory_tombstone AS stone
 WHERE stone.tenant = %(tenant)s::text AND {outside};

-- name: kept_of_scope
SELECT (SELECT count(*) FROM prism_memory_record AS record
         WHERE record.tenant = %(tenant)s::text AND record.scope_id = ANY(found.ids))
       AS records,
       (SELECT count(*) FROM prism_memory_record AS record
         WHERE record.tenant = %(tenant)s::text AND record.scope_id = ANY(found.ids)
           AND record.kind = 'fact') AS facts,
       (SELECT count(*) FROM prism_memory_source AS source
         WHERE source.tenant = %(tenant)s::text AND source.scope_id = ANY(found.ids))
       AS sources,
       cardinality(found.ids) AS scopes
  FROM (SELECT ARRAY(SELECT place.id FROM prism_memory_scope AS place
                      WHERE place.tenant = %(tenant)s::text AND {within}) AS ids)
       AS found;

-- name: kept_of_source
SELECT count(*) AS records, count(*) FILTER (WHERE record.kind = 'fact') AS facts,
       (SELECT count(*) FROM prism_memory_source AS source
         WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid)
       AS sources, 0 AS scopes
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.source_id = %(source_id)s::uuid;

-- name: kept_of_record
SELECT count(*) AS records, count(*) FILTER (WHERE record.kind = 'fact') AS facts,
       0 AS sources, 0 AS scopes
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.id = %(record_id)s::uuid
   AND record.scope_id = %(scope_id)s::uuid;

-- name: record_roots
-- Which rows called "record" are the target.
record.id = %(record_id)s::uuid AND record.scope_id = %(scope_id)s::uuid

-- name: source_roots
record.source_id = %(source_id)s::uuid

-- name: scope_roots
record.scope_id = ANY(ARRAY(
  SELECT place.id FROM prism_memory_scope AS place
   WHERE place.tenant = %(tenant)s::text AND {within}))

-- name: foreseen
-- What an erasure would reach: the target's records that no hold keeps, and all that is
-- derived from them.
WITH RECURSIVE roots AS MATERIALIZED (
  SELECT record.id
    FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text AND {roots} AND NOT {held}),
walk(ref) AS (
  SELECT 'record:' || roots.id::text FROM roots
  UNION
  SELECT 'record:' || edge.record_id::text
    FROM walk
   CROSS JOIN LATERAL (
         SELECT edge.record_id
           FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text AND edge.source_ref = walk.ref
         OFFSET 0) AS edge)
SELECT record.id, record.scope_id, record.kind, {held} AS held,
       ({roots}) IS TRUE AS mine
  FROM walk
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = substr(walk.ref, 8)::uuid;

-- name: foreseen_sources
-- Sources that would go: in no covered scope, with no hold, and with no record that a
-- hold keeps.
SELECT source.id
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
 WHERE source.tenant = %(tenant)s::text AND {within}
   AND (%(source_id)s::uuid IS NULL OR source.id = %(source_id)s::uuid)
   AND NOT {covered}
   AND NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = source.tenant AND record.source_id = source.id
            AND {held})
   AND NOT EXISTS (
         SELECT FROM prism_memory_legalhold AS kept
          WHERE kept.tenant = source.tenant
            AND kept.target_ref = 'source:' || source.id::text
            AND kept.released_at IS NULL);

-- name: foreseen_places
-- Scopes that no hold covers; those that would hold nothing any more go.
SELECT place.id,
       NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = place.tenant AND record.scope_id = place.id
            AND {held})
       AND NOT EXISTS (
         SELECT FROM prism_memory_source AS source
          WHERE source.tenant = place.tenant AND source.scope_id = place.id
            AND source.id <> ALL(%(sources)s::uuid[])) AS goes
  FROM prism_memory_scope AS place
 WHERE place.tenant = %(tenant)s::text AND {within} AND NOT {covered};
