-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {columns} below.

-- name: columns
-- What is signed of the row called "record", and its signature. Times as microseconds
-- and JSON as PostgreSQL's own text: whatever a session's settings, and also where an
-- edit left what Python cannot hold.
record.id, record.scope_id, record.version, record.kind, record.tier,
record.namespace, record.partition, record.key, record.text, record.lexical_text,
record.embed_text, record.language, record.sha256, record.sequence,
record.first_sequence,
record.importance, record.metadata::text AS metadata, record.trust, record.writer,
record.consent_source, record.consent_scope, record.visible, record.gate,
record.gate_reason, record.gate_markers::text AS gate_markers, record.generation,
record.source_id, record.ordinal, record.line_start, record.line_end,
record.offset_start, record.offset_end, record.mac, record.mac_key,
trunc(extract(epoch FROM record.granted_at) * 1000000)::text AS granted_at,
trunc(extract(epoch FROM record.revoked_at) * 1000000)::text AS revoked_at,
trunc(extract(epoch FROM record.happened_at) * 1000000)::text AS happened_at,
trunc(extract(epoch FROM record.created_at) * 1000000)::text AS created_at,
trunc(extract(epoch FROM record.changed_at) * 1000000)::text AS changed_at,
trunc(extract(epoch FROM record.retired_at) * 1000000)::text AS retired_at,
trunc(extract(epoch FROM record.expires_at) * 1000000)::text AS expires_at,
trunc(extract(epoch FROM record.valid_from) * 1000000)::text AS valid_from,
trunc(extract(epoch FROM record.valid_to) * 1000000)::text AS valid_to

-- name: rows
SELECT {columns}
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[]);

-- name: locked
-- In the order of their keys, as by all who lock several.
SELECT {columns}
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[])
 ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
          record.partition COLLATE "C", record.key COLLATE "C"
   FOR NO KEY UPDATE;

-- name: between
-- Records in the order of their ids, after one and up to another.
SELECT {columns}
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id > %(after)s::uuid AND record.id <= %(until)s::uuid
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: versions
-- The same, but only what a manifest holds of them.
SELECT record.id, record.version
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id > %(after)s::uuid AND record.id <= %(until)s::uuid
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: unsigned
-- The next records that have no signature by the current key.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id > %(after)s::uuid
   AND (record.mac IS NULL
        OR (%(rotate)s::boolean AND record.mac_key IS DISTINCT FROM %(key)s::text))
 ORDER BY record.id
 LIMIT %(rows)s::integer;

-- name: sign
-- The ids twice: they are looked up one by one, also in a table without statistics.
UPDATE prism_memory_record AS record
   SET mac = given.mac, mac_key = %(key)s::text
  FROM unnest(%(record_ids)s::uuid[], %(macs)s::bytea[]) AS given(id, mac)
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(record_ids)s::uuid[]) AND record.id = given.id;
