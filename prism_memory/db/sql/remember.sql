-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: ensure_tenant
INSERT INTO prism_memory_tenant (name, created_at)
VALUES (%(tenant)s::text, %(at)s::timestamptz)
ON CONFLICT (name) DO NOTHING;

-- name: ensure_scope
INSERT INTO prism_memory_scope
       (id, tenant, owner, agent, thread, vectors, created_at)
VALUES (%(scope_id)s::uuid, %(tenant)s::text, %(owner)s::text, %(agent)s::text,
        %(thread)s::text, 0, %(at)s::timestamptz)
ON CONFLICT DO NOTHING;

-- name: scope_names
-- The stored names decide, not the hash. Locked as each row that is written to the scope
-- locks it, only earlier: who erases the scope waits, or is waited for.
SELECT owner, agent, thread
  FROM prism_memory_scope
 WHERE tenant = %(tenant)s::text AND id = %(scope_id)s::uuid
   FOR KEY SHARE;

-- name: ensure_sources
INSERT INTO prism_memory_source
       (id, tenant, scope_id, key, uri, trust, writer, state, ingestion, bytes,
        chunks, error, created_at)
SELECT given.id, %(tenant)s::text, %(scope_id)s::uuid, given.key, given.uri,
       given.trust, given.writer, 'active', 'indexed', 0, 0, '', %(at)s::timestamptz
  FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(uris)s::text[],
              %(trusts)s::text[], %(writers)s::text[])
       AS given(id, key, uri, trust, writer)
 ORDER BY given.key
ON CONFLICT (tenant, scope_id, key) DO NOTHING;

-- name: find_sources
-- Locked, so that who removes empty sources waits until their records are there; and
-- those that records leave, so that who holds one waits until they have left. In one
-- statement, so that all are locked in the order of their keys.
SELECT id, key, kind, state
  FROM prism_memory_source
 WHERE tenant = %(tenant)s::text
   AND scope_id = %(scope_id)s::uuid
   AND (key = ANY(%(keys)s::text[]) OR id = ANY(%(left)s::uuid[]))
 ORDER BY key
   FOR KEY SHARE;

-- name: upsert_records
-- Sequence numbers follow the caller's order; rows are written, and so locked, in key
-- order only, as by all who lock several, so that none waits for another in a circle.
-- Identical rows stay untouched. ``numbered`` are the ids of the rows whose sequence the caller gave:
-- a number alone might be another row's next one. What has the key that is made of its
-- words and holds others was corrected: its old words do not come back under that key.
-- ``was_held`` and ``rejudged`` are asked of the row as it was: it may just have left a held source. That
-- source is locked, or is among those that are ``left``, or the row stays as it is.
-- Other words, and other metadata that give orders, are judged anew by the gate; the same
-- stay as somebody may have judged them. What is closed by an operator, or for where it
-- comes from, stays closed.
INSERT INTO prism_memory_record AS record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text,
        lexical_text, embed_text, language, sha256, sequence, importance, uses,
        metadata, trust, writer, consent_source, consent_scope, visible, granted_at,
        gate, gate_reason, gate_markers, source_id, ordinal, happened_at, created_at,
        expires_at, valid_from, valid_to, version)
SELECT given.id, %(tenant)s::text, %(scope_id)s::uuid, given.kind, given.tier,
       given.namespace, given.partition, given.key, given.text, given.lexical_text,
       given.embed_text, given.language, given.sha256, given.sequence,
       given.importance, 1, given.metadata, given.trust, given.writer,
       coalesce(given.consent_source, given.default_source),
       CASE WHEN given.consent_source IS NULL AND given.default_source = '' THEN ''
            ELSE coalesce(given.consent_scope, 'thread') END,
       coalesce(given.visible, CASE WHEN given.default_source <> '' THEN TRUE END),
       CASE WHEN coalesce(given.visible, given.default_source <> '')
            THEN coalesce(given.granted_at, %(at)s::timestamptz) END,
       given.gate, given.gate_reason, given.gate_markers, given.source_id,
       given.ordinal, given.happened_at,
       %(at)s::timestamptz, given.expires_at, given.valid_from, given.valid_to, 1
  FROM (SELECT coalesce(listed.given_sequence, nextval(pg_get_serial_sequence(
                 'prism_memory_record', 'sequence'))) AS sequence, listed.*
          FROM unnest(
                 %(ids)s::uuid[], %(kinds)s::text[], %(tiers)s::text[],
                 %(namespaces)s::text[], %(partitions)s::text[], %(keys)s::text[],
                 %(texts)s::text[], %(lexical_texts)s::text[], %(embed_texts)s::text[],
                 %(languages)s::text[], %(sha256s)s::bytea[], %(sequences)s::bigint[],
                 %(importances)s::float8[], %(metadatas)s::jsonb[], %(trusts)s::text[],
                 %(writers)s::text[], %(consent_sources)s::text[],
                 %(consent_scopes)s::text[], %(visibles)s::boolean[],
                 %(granted_ats)s::timestamptz[], %(default_sources)s::text[],
                 %(gates)s::text[], %(gate_reasons)s::text[],
                 %(gate_markers)s::jsonb[],
                 %(source_ids)s::uuid[], %(ordinals)s::integer[],
                 %(happened_ats)s::timestamptz[], %(expires_ats)s::timestamptz[],
                 %(valid_froms)s::timestamptz[], %(valid_tos)s::timestamptz[])
               WITH ORDINALITY AS listed(
                 id, kind, tier, namespace, partition, key, text, lexical_text,
                 embed_text, language, sha256, given_sequence, importance, metadata,
                 trust, writer, consent_source, consent_scope, visible, granted_at,
                 default_source, gate, gate_reason, gate_markers, source_id, ordinal,
                 happened_at, expires_at, valid_from, valid_to, place)
         ORDER BY listed.place
        OFFSET 0) AS given
 ORDER BY given.kind COLLATE "C", given.namespace COLLATE "C",
          given.partition COLLATE "C", given.key COLLATE "C"
ON CONFLICT (tenant, scope_id, kind, namespace, partition, key) DO UPDATE
   SET text = excluded.text,
       tier = excluded.tier,
       lexical_text = excluded.lexical_text,
       embed_text = excluded.embed_text,
       language = excluded.language,
       sha256 = excluded.sha256,
       sequence = CASE WHEN excluded.id = ANY(%(numbered)s::uuid[])
                       THEN excluded.sequence ELSE record.sequence END,
       first_sequence = CASE WHEN excluded.id = ANY(%(numbered)s::uuid[])
                                  AND excluded.sequence <> record.sequence
                             THEN coalesce(record.first_sequence, record.sequence)
                             ELSE record.first_sequence END,
       importance = excluded.importance,
       metadata = excluded.metadata,
       trust = excluded.trust,
       writer = excluded.writer,
       (gate, gate_reason, gate_markers) = (
         SELECT CASE WHEN judged.anew THEN excluded.gate ELSE record.gate END,
                CASE WHEN judged.anew THEN excluded.gate_reason
                     ELSE record.gate_reason END,
                CASE WHEN judged.anew OR record.text <> excluded.text
                     THEN excluded.gate_markers ELSE record.gate_markers END
           FROM (SELECT (record.gate = 'open'
                         OR record.gate_reason IN ('injection', 'classifier'))
                        AND (record.text <> excluded.text
                             OR (record.metadata <> excluded.metadata
                                 AND jsonb_path_exists(
                                       excluded.gate_markers,
                                       '$[*] ? (@.field == "metadata")'))) AS anew)
                AS judged),
       source_id = excluded.source_id,
       ordinal = excluded.ordinal,
       happened_at = excluded.happened_at,
       expires_at = excluded.expires_at,
       valid_from = excluded.valid_from,
       valid_to = excluded.valid_to,
       changed_at = CASE
         WHEN record.retired_at IS NOT NULL
              OR (record.text, record.lexical_text, record.embed_text)
                 IS DISTINCT FROM
                 (excluded.text, excluded.lexical_text, excluded.embed_text)
              OR (record.gate = 'open' AND record.metadata <> excluded.metadata
                  AND jsonb_path_exists(excluded.gate_markers,
                                        '$[*] ? (@.field == "metadata")'))
         THEN %(at)s::timestamptz ELSE record.changed_at END,
       retired_at = NULL,
       version = record.version + 1
 WHERE %(overwrites)s::boolean
   AND record.revoked_at IS NULL
   AND (record.source_id IS NULL
        OR record.source_id = ANY(%(source_ids)s::uuid[])
        OR record.source_id = ANY(%(left)s::uuid[]))
   AND NOT (excluded.key = encode(excluded.sha256, 'hex')
            AND record.sha256 <> excluded.sha256)
   -- Nothing leaves a restricted source: what derives from it would be open to all.
   AND (record.source_id IS NOT DISTINCT FROM excluded.source_id
        OR (NOT EXISTS (
              SELECT FROM prism_memory_source AS before
               WHERE before.tenant = record.tenant AND before.id = record.source_id
                 AND before.restricted)) IS TRUE)
   AND (record.retired_at IS NOT NULL
        OR (record.text, record.tier, record.lexical_text, record.embed_text,
            record.language, record.importance, record.metadata, record.trust,
            record.writer, record.source_id, record.ordinal, record.happened_at,
            record.expires_at, record.valid_from, record.valid_to)
           IS DISTINCT FROM
           (excluded.text, excluded.tier, excluded.lexical_text, excluded.embed_text,
            excluded.language, excluded.importance, excluded.metadata, excluded.trust,
            excluded.writer, excluded.source_id, excluded.ordinal,
            excluded.happened_at, excluded.expires_at, excluded.valid_from,
            excluded.valid_to)
        OR (excluded.id = ANY(%(numbered)s::uuid[])
            AND excluded.sequence <> record.sequence))
RETURNING id,
          record.version > 1 AND EXISTS (
            SELECT FROM (SELECT record.tenant, record.id) AS written
              JOIN prism_memory_record AS record
                ON record.tenant = written.tenant AND record.id = written.id
             WHERE {held}) AS was_held,
          record.version > 1 AS overwritten,
          record.version > 1
          AND (record.changed_at = %(at)s::timestamptz) IS TRUE AS reworded,
          record.version > 1 AND EXISTS (
            SELECT FROM prism_memory_record AS before
             WHERE before.tenant = record.tenant AND before.id = record.id
               AND (before.trust, before.valid_from, before.valid_to)
                   IS DISTINCT FROM
                   (record.trust, record.valid_from, record.valid_to)) AS rejudged,
          record.gate <> 'open' AS quarantined,
          current_setting('transaction_isolation') AS isolation;

-- name: find_records
-- The batch as it now stands. What refuses to be overwritten is asked here, when every
-- row is locked. ``stopped`` is a hold that hides, so that not even the same words may
-- be said to be remembered. What was born hidden is not ``blocked``: it is its own
-- consent that is missing, and who writes it anew need not ask for it. Nor is what the
-- gate itself holds back: other words are judged anew.
SELECT record.id, record.kind, record.namespace, record.partition, record.key,
       record.revoked_at IS NOT NULL AS revoked,
       record.consent_source, record.consent_scope, record.visible, record.sha256,
       record.source_id, record.gate <> 'open' AS quarantined,
       EXISTS (SELECT FROM prism_memory_tombstone AS stone
                WHERE stone.tenant = record.tenant
                  AND stone.target_ref = 'record:' || record.id::text
                  AND stone.reason <> 'corrected'
                  AND NOT (stone.reason IN ('revoked', 'quarantined')
                           AND stone.root_ref = stone.target_ref)
                  AND stone.cleared_at IS NULL) AS blocked,
       EXISTS (SELECT FROM prism_memory_tombstone AS stone
                WHERE stone.tenant = record.tenant
                  AND stone.target_ref = 'record:' || record.id::text
                  AND stone.hold AND stone.cleared_at IS NULL) AS stopped,
       EXISTS (SELECT FROM prism_memory_tombstone AS stone
                WHERE stone.tenant = record.tenant
                  AND stone.root_ref = 'record:' || record.id::text
                  AND stone.root_ref <> '' AND stone.reason = 'quarantined'
                  AND stone.cleared_at IS NULL) AS poisons,
       EXISTS (SELECT FROM prism_memory_evidence AS cited
                WHERE cited.tenant = record.tenant
                  AND cited.record_id = record.id) AS cited,
       (SELECT source.key
          FROM prism_memory_source AS source
         WHERE source.tenant = record.tenant AND source.id = record.source_id
           AND source.restricted) AS restricted_to,
       {closed} AS closed,
       {held} AS held
  FROM prism_memory_record AS record
  JOIN unnest(%(kinds)s::text[], %(namespaces)s::text[], %(partitions)s::text[],
              %(keys)s::text[]) AS given(kind, namespace, partition, key)
    ON record.kind = given.kind AND record.namespace = given.namespace
   AND record.partition = given.partition AND record.key = given.key
 WHERE record.tenant = %(tenant)s::text AND record.scope_id = %(scope_id)s::uuid;

-- name: enqueue_embeddings
-- One row per record and live space: the vector, and until it is there the queue. Those
-- of the batch that wait already are told too. Where no vectors are wanted, only those
-- that there are: one of another text may never answer for the new one.
WITH live AS (
  SELECT id FROM prism_memory_embeddingspace
   WHERE alias = %(alias)s::text AND state IN ('active', 'building')),
queued AS (
  INSERT INTO prism_memory_embedding AS embedding
         (tenant, space_id, record_id, scope_id, sha256, attempts, error, created_at,
          next_try_at)
  SELECT %(tenant)s::text, live.id, given.record_id, %(scope_id)s::uuid, given.sha256,
         0, '', statement_timestamp(), statement_timestamp()
    FROM unnest(%(record_ids)s::uuid[], %(sha256s)s::bytea[])
         AS given(record_id, sha256)
   CROSS JOIN live
   WHERE %(wanted)s::boolean
      OR EXISTS (SELECT FROM prism_memory_embedding AS known
                  WHERE known.tenant = %(tenant)s::text
                    AND known.space_id = live.id
                    AND known.record_id = given.record_id
                 OFFSET 0)
   ORDER BY given.record_id
  ON CONFLICT (tenant, space_id, record_id) DO UPDATE
     SET vector = NULL, sha256 = excluded.sha256, attempts = 0, claimed_until = NULL,
         next_try_at = excluded.next_try_at, failed_at = NULL, error = '',
         created_at = excluded.created_at
   WHERE embedding.sha256 <> excluded.sha256
  RETURNING record_id)
SELECT record_id, TRUE AS queued FROM queued
UNION ALL
SELECT waiting.record_id, FALSE AS queued
  FROM prism_memory_embedding AS waiting
  JOIN live ON live.id = waiting.space_id
 WHERE waiting.tenant = %(tenant)s::text
   AND waiting.record_id = ANY(%(record_ids)s::uuid[])
   AND waiting.vector IS NULL AND waiting.failed_at IS NULL;

-- name: resolve_keys
-- Keys of records in sight; of several, the narrowest scope's, then the oldest.
SELECT DISTINCT ON (record.key) record.key, record.id
  FROM prism_memory_record AS record
  JOIN unnest(%(scope_ids)s::uuid[]) WITH ORDINALITY AS sight(scope_id, distance)
    ON record.scope_id = sight.scope_id
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = ANY(%(scope_ids)s::uuid[])
   AND record.key = ANY(%(keys)s::text[])
 ORDER BY record.key, sight.distance, record.sequence, record.id;

-- name: resolve_ids
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.scope_id = ANY(%(scope_ids)s::uuid[])
   AND record.id = ANY(%(ids)s::uuid[]);

-- name: resolve_shared
-- Those of some ids that are shared with exactly the writer.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(ids)s::uuid[])
   AND {shared};

-- name: clear_lineage
-- What is given again stays as it is; so does what outlived a restricted document.
DELETE FROM prism_memory_lineageedge AS edge
 WHERE edge.tenant = %(tenant)s::text AND edge.record_id = ANY(%(record_ids)s::uuid[])
   AND NOT starts_with(edge.source_ref, 'source:')
   AND (edge.record_id, edge.source_ref) NOT IN (
         SELECT * FROM unnest(%(edge_record_ids)s::uuid[], %(source_refs)s::text[]))
RETURNING edge.record_id;

-- name: insert_lineage
INSERT INTO prism_memory_lineageedge AS edge (tenant, record_id, source_ref, position)
SELECT %(tenant)s::text, given.record_id, given.source_ref, given.position
  FROM unnest(%(edge_record_ids)s::uuid[], %(source_refs)s::text[],
              %(positions)s::smallint[]) AS given(record_id, source_ref, position)
ON CONFLICT (tenant, record_id, source_ref) DO UPDATE
   SET position = excluded.position
 WHERE edge.position <> excluded.position
RETURNING edge.record_id;
