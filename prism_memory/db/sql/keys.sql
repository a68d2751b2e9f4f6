-- name: note_use
-- Of many requests at once the first notes the use; none waits for it, nor for whoever
-- revokes the key or holds its row for long: the note is not worth a request's time.
WITH free AS MATERIALIZED (
  SELECT id
  FROM prism_memory_accesskey
  WHERE tenant = %(tenant)s::text AND id = %(key_id)s::uuid
    AND (last_used_at IS NULL OR last_used_at <= %(before)s::timestamptz)
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE prism_memory_accesskey AS key
SET last_used_at = %(at)s::timestamptz
FROM free
WHERE key.tenant = %(tenant)s::text AND key.id = free.id;
