-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {visible} of access.sql.

-- name: foreign
-- Whether a chunk in sight has no vector of a space, nor waits for one. Nearly always
-- there is none that lacks one: that is asked first (OFFSET 0), and costs far less.
SELECT EXISTS (
  SELECT FROM (SELECT *
                 FROM prism_memory_record AS record
                WHERE record.tenant = %(tenant)s::text
                  AND record.scope_id = ANY(%(scope_ids)s::uuid[])
                  AND record.kind = 'chunk'
                  AND record.retired_at IS NULL
                  AND NOT EXISTS (
                        SELECT FROM prism_memory_embedding AS own
                         WHERE own.tenant = record.tenant
                           AND own.record_id = record.id
                           AND own.space_id = %(space_id)s::bigint)
               OFFSET 0) AS record
   WHERE {visible}) AS found;
