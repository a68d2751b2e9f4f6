-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: find_named
-- Records by what they are called, each in a scope of its own.
SELECT record.id, record.scope_id, record.kind, record.namespace, record.partition,
       record.key, record.gate_reason
  FROM unnest(%(scope_ids)s::uuid[], %(kinds)s::text[], %(namespaces)s::text[],
              %(partitions)s::text[], %(keys)s::text[])
       AS given(scope_id, kind, namespace, partition, key)
  JOIN prism_memory_record AS record
    ON record.scope_id = given.scope_id AND record.kind = given.kind
   AND record.namespace = given.namespace AND record.partition = given.partition
   AND record.key = given.key
 WHERE record.tenant = %(tenant)s::text;

-- name: find_documents
SELECT source.id, source.scope_id, source.key
  FROM unnest(%(scope_ids)s::uuid[], %(keys)s::text[]) AS given(scope_id, key)
  JOIN prism_memory_source AS source
    ON source.scope_id = given.scope_id AND source.key = given.key
 WHERE source.tenant = %(tenant)s::text AND source.kind = 'document';

-- name: restrict
-- Sources of exactly one scope, in the order of their keys, as by all who lock several.
UPDATE prism_memory_source AS source
   SET restricted = TRUE
  FROM (SELECT found.id
          FROM prism_memory_source AS found
         WHERE found.tenant = %(tenant)s::text
           AND found.scope_id = %(scope_id)s::uuid
           AND found.key = ANY(%(keys)s::text[])
           AND NOT found.restricted
         ORDER BY found.key
           FOR NO KEY UPDATE) AS closed
 WHERE source.tenant = %(tenant)s::text AND source.id = closed.id;

-- name: complete
-- What a record has that no entry gives. ``late`` ones stay out of sight for now.
UPDATE prism_memory_record AS record
   SET created_at = coalesce(given.created_at, record.created_at),
       changed_at = given.changed_at,
       uses = given.uses,
       gate = CASE WHEN given.late THEN 'quarantined' ELSE record.gate END,
       gate_reason = CASE WHEN given.late THEN %(reason)s::text
                          ELSE record.gate_reason END
  FROM unnest(%(ids)s::uuid[], %(created_ats)s::timestamptz[],
              %(changed_ats)s::timestamptz[], %(uses)s::bigint[],
              %(lates)s::boolean[]) AS given(id, created_at, changed_at, uses, late)
 WHERE record.tenant = %(tenant)s::text AND record.id = given.id;

-- name: open
-- What waited for nothing else. What gives orders was marked when it was written, and
-- goes on to wait for a person.
UPDATE prism_memory_record AS record
   SET gate = CASE WHEN record.gate_markers = '[]'::jsonb THEN 'open'
                   ELSE record.gate END,
       gate_reason = CASE
         WHEN record.gate_markers = '[]'::jsonb THEN ''
         WHEN record.gate_markers @> '[{"rule": "classifier"}]'::jsonb
         THEN 'classifier' ELSE 'injection' END
 WHERE record.tenant = %(tenant)s::text AND record.id = ANY(%(ids)s::uuid[])
   AND record.gate_reason = %(reason)s::text;

-- name: any_late
SELECT EXISTS (
  SELECT FROM prism_memory_record AS record
   WHERE record.tenant = %(tenant)s::text AND record.gate = 'quarantined'
     AND record.gate_reason = %(reason)s::text) AS found;
