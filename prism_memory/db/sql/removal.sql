-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {held} of access.sql.

-- name: records_of_scope
-- Those of some ids that are records of exactly one scope. Whoever has the lineage to
-- itself needs no lock to know that they stay: who deletes waits.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = %(scope_id)s::uuid
   AND record.id = ANY(%(record_ids)s::uuid[]);

-- name: own_words
-- The bare words that some facts were remembered by: a note with the fact's id for a key.
SELECT note.id, cited.fact_id
  FROM prism_memory_evidence AS cited
  JOIN prism_memory_record AS note
    ON note.tenant = cited.tenant AND note.id = cited.record_id
 WHERE cited.tenant = %(tenant)s::text
   AND cited.fact_id = ANY(%(record_ids)s::uuid[])
   AND note.kind = 'note'
   AND note.key = cited.fact_id::text;

-- name: same_words
-- What says the same in the same document as some of its chunks, and they themselves: by
-- what their keys begin with, its source and the words' hash.
SELECT DISTINCT twin.id, twin.key
  FROM prism_memory_record AS record
 CROSS JOIN LATERAL (
       SELECT split_part(record.key, ':', 1) || ':' || split_part(record.key, ':', 2)
              AS begin) AS words
 CROSS JOIN LATERAL (
       SELECT same.id, same.key
         FROM prism_memory_record AS same
        WHERE same.tenant = %(tenant)s::text
          AND same.scope_id = record.scope_id
          AND same.key > words.begin || ':' AND same.key < words.begin || ';'
          AND same.kind = 'chunk'
          AND same.source_id = record.source_id
       OFFSET 0) AS twin
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[])
   AND record.kind = 'chunk'
   AND starts_with(record.key, record.source_id::text || ':');

-- name: lock_records
-- Records in whatever scope. In the order of their keys, as by all who lock several,
-- and all of them in one statement: else two could wait for each other.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[])
 ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
          record.partition COLLATE "C", record.key COLLATE "C"
   FOR UPDATE;

-- name: held_records
-- Which of some records a hold keeps. After the lock, in a statement of its own: this
-- one sees what was committed while the lock was waited for.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[])
   AND {held};

-- name: lock_embeddings
-- In the order in which a drain locks those of its space; and after them, as a drain
-- does, their copies, of which external indexes are then told that they are gone. How
-- many of them the planner's counts include, by scope, is for discount_vectors.
WITH locked AS MATERIALIZED (
  SELECT embedding.record_id, embedding.space_id, embedding.scope_id,
         embedding.vector IS NOT NULL OR embedding.counted AS counted
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.record_id = ANY(%(record_ids)s::uuid[])
   ORDER BY embedding.record_id, embedding.space_id
     FOR UPDATE),
told AS (
  UPDATE prism_memory_vectorcopy AS copied
     SET state = 'gone', version = copied.version + 1
    FROM (SELECT known.record_id, known.space_id, known.index
            FROM prism_memory_vectorcopy AS known
           WHERE known.tenant = %(tenant)s::text
             AND known.record_id = ANY(%(record_ids)s::uuid[])
             AND (SELECT count(*) FROM locked) >= 0
           ORDER BY known.record_id, known.space_id, known.index
             FOR UPDATE) AS theirs
   WHERE copied.tenant = %(tenant)s::text
     AND copied.record_id = ANY(%(record_ids)s::uuid[])
     AND copied.record_id = theirs.record_id
     AND copied.space_id = theirs.space_id
     AND copied.index = theirs.index)
SELECT locked.scope_id, count(*) AS counted
  FROM locked
  JOIN prism_memory_embeddingspace AS space
    ON space.id = locked.space_id AND space.state = 'active'
 WHERE locked.counted
 GROUP BY locked.scope_id;

-- name: drop_embeddings
DELETE FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.record_id = ANY(%(record_ids)s::uuid[]);

-- name: discount_vectors
-- What count_vectors added. After all embeddings that a transaction locks, as a drain
-- does; and one scope a time, in the order of their ids.
UPDATE prism_memory_scope AS scope
   SET vectors = greatest(scope.vectors - %(gone)s::bigint, 0)
 WHERE scope.tenant = %(tenant)s::text AND scope.id = %(scope_id)s::uuid;

-- name: last_of_scope
-- What is there of a scope that may go: up to which place, and up to which moment. Not up
-- to the caller's: the clock of whoever wrote it may be ahead.
SELECT last.sequence, last.id, (
         SELECT max(record.created_at)
           FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text
            AND record.scope_id = %(scope_id)s::uuid
            AND record.kind = ANY(%(kinds)s::text[])) AS at
  FROM (SELECT record.sequence, record.id
          FROM prism_memory_record AS record
         WHERE record.tenant = %(tenant)s::text
           AND record.scope_id = %(scope_id)s::uuid
           AND record.kind = ANY(%(kinds)s::text[])
         ORDER BY record.sequence DESC, record.id DESC
         LIMIT 1) AS last;

-- name: next_of_scope
-- The next records of a scope that may go, in the order they were written in.
SELECT record.id, record.sequence, record.source_id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = %(scope_id)s::uuid
   AND record.kind = ANY(%(kinds)s::text[])
   AND record.created_at <= %(last_at)s::timestamptz
   AND (record.sequence, record.id) <= ((%(last)s)::bigint, %(last_id)s::uuid)
   AND (record.sequence, record.id) > ((%(sequence)s)::bigint, %(after)s::uuid)
 ORDER BY record.sequence, record.id
 LIMIT %(rows)s::integer;

-- name: lock_sources
-- Before the records, as by remember. Who writes records of one waits, or is waited
-- for: only then is it known to be empty.
SELECT id
  FROM prism_memory_source
 WHERE tenant = %(tenant)s::text AND id = ANY(%(source_ids)s::uuid[])
 ORDER BY key
   FOR UPDATE;

-- name: delete_empty_sources
-- Those of some that are locked and that no record belongs to any more, nor a hold.
-- OFFSET 0 makes it a look-up for each, and the order one by the index: there are few
-- sources, and an empty one would have all records read.
DELETE FROM prism_memory_source AS source
 WHERE source.tenant = %(tenant)s::text
   AND source.id = ANY(%(source_ids)s::uuid[])
   AND (source.kind <> 'document' OR %(documents)s::boolean)
   AND NOT EXISTS (
         SELECT FROM prism_memory_record AS record
          WHERE record.tenant = source.tenant AND record.source_id = source.id
          ORDER BY record.ordinal, record.id
          LIMIT 1
         OFFSET 0)
   AND NOT EXISTS (
         SELECT FROM prism_memory_legalhold AS kept
          WHERE kept.tenant = source.tenant
            AND kept.target_ref = 'source:' || source.id::text
            AND kept.released_at IS NULL);

-- name: holds_in_force
-- A page of the holds on a scope, above it, below it, or on something there, the oldest
-- first. What one is on may be gone: then it is the tenant's.
SELECT kept.id, kept.level, kept.target_ref, kept.matter, kept.placed_at,
       place.owner, place.agent, place.thread
  FROM prism_memory_legalhold AS kept
  LEFT JOIN LATERAL (
       SELECT kept.owner, kept.agent, kept.thread
        WHERE kept.level = 'scope'
       UNION ALL
       SELECT home.owner, home.agent, home.thread
         FROM prism_memory_record AS record
         JOIN prism_memory_scope AS home
           ON home.tenant = record.tenant AND home.id = record.scope_id
        WHERE record.tenant = kept.tenant
          AND record.id = CASE kept.level
                          WHEN 'record' THEN substr(kept.target_ref, 8)::uuid END
       UNION ALL
       SELECT home.owner, home.agent, home.thread
         FROM prism_memory_source AS source
         JOIN prism_memory_scope AS home
           ON home.tenant = source.tenant AND home.id = source.scope_id
        WHERE source.tenant = kept.tenant
          AND source.id = CASE kept.level
                          WHEN 'source' THEN substr(kept.target_ref, 8)::uuid END)
       AS place ON TRUE
 WHERE kept.tenant = %(tenant)s::text
   AND kept.released_at IS NULL
   AND kept.id > %(after)s::uuid
   AND (kept.level = 'scope' AND (place.owner, place.agent, place.thread) IN (
          SELECT * FROM unnest(%(owners)s::text[], %(agents)s::text[],
                               %(threads)s::text[]))
     OR CASE WHEN %(thread)s::text <> ''
             THEN (place.owner, place.agent, place.thread)
                = (%(owner)s::text, %(agent)s::text, %(thread)s::text)
             ELSE (%(owner)s::text = '' OR place.owner = %(owner)s::text)
              AND (%(agent)s::text = '' OR place.agent = %(agent)s::text) END)
 ORDER BY kept.id
 LIMIT %(rows)s::integer;
