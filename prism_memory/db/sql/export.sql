-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {unwithheld}, a part of the rule of access.sql.

-- name: left_out
-- Facts of one scope, or what is none, by why an export leaves them out; null: it does
-- not.
SELECT CASE
         WHEN record.kind <> ALL(%(kinds)s::text[])
              OR (record.kind = 'chunk' AND NOT EXISTS (
                    SELECT FROM prism_memory_source AS source
                     WHERE source.tenant = record.tenant
                       AND source.id = record.source_id
                       AND source.kind = 'document')) THEN 'other_kind'
         WHEN EXISTS (SELECT FROM prism_memory_tombstone AS stone
                       WHERE stone.tenant = record.tenant
                         AND stone.target_ref = 'record:' || record.id::text
                         AND stone.hold AND stone.cleared_at IS NULL) THEN 'held'
         WHEN record.revoked_at IS NOT NULL OR record.visible IS FALSE THEN 'revoked'
         WHEN NOT ({unwithheld}) THEN 'withheld'
         WHEN record.visible IS NULL AND %(consented)s::boolean THEN 'no_consent'
       END AS reason, count(*) AS records
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.scope_id = %(scope_id)s::uuid
   AND (record.kind = 'fact') = %(facts)s::boolean
 GROUP BY reason;
