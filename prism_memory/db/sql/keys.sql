-- name: note_use
-- Of many requests at once the first notes the use; none waits for it, nor for whoever
-- revokes the key or holds its row for long: the note is not worth a request's time.
WITH free AS MATERIALIZED (
  SELECT id
  FROM prism_memory_accesskey
  WHERE tenant = %(tenant)s AND id = %(key_id)s
    AND (last_used_at IS NULL OR last_used_at <= %(before)s)
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE prism_memory_accesskey AS key
SET last_used_at = %(at)s
FROM free
WHERE key.tenant = %(tenant)s AND key.id = free.id;
