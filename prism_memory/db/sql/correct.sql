-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: requeue_elsewhere
-- The vectors of a record that are of another text, in whatever space: they may not
-- answer for the new one. Those of the caller's own spaces are queued before.
UPDATE prism_memory_embedding AS embedding
   SET vector = NULL, sha256 = %(sha256)s::bytea, attempts = 0, claimed_until = NULL,
       next_try_at = statement_timestamp(), failed_at = NULL, error = '',
       created_at = statement_timestamp()
  FROM prism_memory_embeddingspace AS space
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.record_id = %(record_id)s::uuid
   AND embedding.sha256 <> %(sha256)s::bytea
   AND space.id = embedding.space_id
RETURNING space.alias;
