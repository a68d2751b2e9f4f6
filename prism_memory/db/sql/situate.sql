-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: page
-- A page of records in the order of their ids.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.id > %(after)s::uuid
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: lock
-- What their index texts are made of; locked in the order of their keys, as by all who
-- lock several.
SELECT record.id, record.kind, record.text, record.metadata::text AS metadata,
       record.writer, record.happened_at, record.lexical_text, record.embed_text
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.id = ANY(%(ids)s::uuid[])
 ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
          record.partition COLLATE "C", record.key COLLATE "C"
   FOR NO KEY UPDATE;

-- name: write
-- The column of full text follows; PostgreSQL makes it anew wherever its words are set.
UPDATE prism_memory_record AS record
   SET text = record.text, lexical_text = given.lexical_text,
       embed_text = given.embed_text
  FROM unnest(%(ids)s::uuid[], %(lexical_texts)s::text[], %(embed_texts)s::text[])
       AS given(id, lexical_text, embed_text)
 WHERE record.tenant = %(tenant)s::text AND record.id = given.id
   AND record.id = ANY(%(ids)s::uuid[]);

-- name: requeue
-- What waits for a vector waits for that of the new text. A vector that stands answers
-- until its own is made anew.
WITH held AS (
  SELECT waiting.record_id, waiting.space_id,
         sha256(convert_to(coalesce(record.embed_text, record.text), 'UTF8')) AS sha256
    FROM prism_memory_embedding AS waiting
    JOIN prism_memory_record AS record
      ON record.tenant = %(tenant)s::text AND record.id = waiting.record_id
   WHERE waiting.tenant = %(tenant)s::text
     AND waiting.record_id = ANY(%(ids)s::uuid[])
     AND waiting.vector IS NULL
   ORDER BY waiting.record_id, waiting.space_id
     FOR UPDATE OF waiting)
UPDATE prism_memory_embedding AS embedding
   SET sha256 = held.sha256, attempts = 0, claimed_until = NULL,
       next_try_at = statement_timestamp(), failed_at = NULL, error = ''
  FROM held
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.record_id = held.record_id AND embedding.space_id = held.space_id
   AND embedding.record_id = ANY(%(ids)s::uuid[])
   AND embedding.sha256 <> held.sha256;
