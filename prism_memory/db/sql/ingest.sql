-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {placed}, a part of the rule of access.sql, and {lock}: FOR NO KEY UPDATE, or nothing.

-- name: ensure_document
INSERT INTO prism_memory_source
       (id, tenant, scope_id, key, kind, uri, trust, writer, state, ingestion, bytes,
        chunks, error, chunker, language, metadata, created_at)
VALUES (%(id)s::uuid, %(tenant)s::text, %(scope_id)s::uuid, %(key)s::text, 'document',
        %(uri)s::text, %(trust)s::text, %(writer)s::text, 'active', 'indexed', 0, 0, '',
        %(chunker)s::text, %(language)s::text, '{}'::jsonb, %(at)s::timestamptz)
ON CONFLICT (tenant, scope_id, key) DO NOTHING;

-- name: document
-- Before its records, as by all who lock both. Two who ingest the same wait for each
-- other, and who removes it, or holds it, for them.
SELECT id, kind, state, uri, trust, writer, sha256, ingestion, bytes, chunks, chunker,
       language, metadata, retired_at, restricted
  FROM prism_memory_source
 WHERE tenant = %(tenant)s::text
   AND scope_id = %(scope_id)s::uuid
   AND key = %(key)s::text
   {lock};

-- name: chunks
-- The chunks of one generation that are in force, and those that had left and are wanted
-- again. In the order of their keys, as by all who lock several records, where {lock}.
SELECT record.id, record.key, record.ordinal, record.line_start, record.line_end,
       record.offset_start, record.offset_end, record.language, record.metadata,
       record.trust, record.writer, record.sha256, record.retired_at, record.gate,
       CASE WHEN record.retired_at IS NOT NULL
            THEN sha256(convert_to(coalesce(record.embed_text, record.text), 'UTF8'))
       END AS embed_sha256,
       EXISTS (SELECT FROM prism_memory_evidence AS cited
                WHERE cited.tenant = record.tenant
                  AND cited.record_id = record.id) AS cited
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.source_id = %(source_id)s::uuid
   AND record.generation IS NOT DISTINCT FROM %(generation)s::integer
   AND (record.ordinal IS NOT NULL OR record.key = ANY(%(keys)s::text[]))
 ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
          record.partition COLLATE "C", record.key COLLATE "C"
   {lock};

-- name: taken_out
-- Refs that a person, or retention, took out of memory for good.
SELECT DISTINCT stone.target_ref
  FROM prism_memory_tombstone AS stone
 WHERE stone.tenant = %(tenant)s::text
   AND stone.target_ref = ANY(%(refs)s::text[])
   AND stone.reason NOT IN ('corrected', 'quarantined')
   AND stone.cleared_at IS NULL;

-- name: hidden_words
-- Which words of a document are out of sight, or corrected, at one of the places where it
-- says them: by what the keys of these chunks begin with.
SELECT given.words
  FROM unnest(%(words)s::text[]) AS given(words)
 WHERE EXISTS (
   SELECT FROM prism_memory_record AS twin
    WHERE twin.tenant = %(tenant)s::text
      AND twin.scope_id = %(scope_id)s::uuid
      AND twin.key > given.words || ':' AND twin.key < given.words || ';'
      AND twin.kind = 'chunk'
      AND twin.source_id = %(source_id)s::uuid
      AND (twin.revoked_at IS NOT NULL
           OR twin.visible IS FALSE
           OR twin.gate <> 'open'
           OR encode(twin.sha256, 'hex') <> split_part(given.words, ':', 2)
           OR EXISTS (SELECT FROM prism_memory_tombstone AS stone
                       WHERE stone.tenant = twin.tenant
                         AND stone.target_ref = 'record:' || twin.id::text
                         AND stone.reason <> 'corrected'
                         AND stone.cleared_at IS NULL))
   OFFSET 0);

-- name: insert_chunks
-- In the document's order, which their sequence follows.
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, lexical_text,
        embed_text, language, sha256, uses, metadata, trust, writer, consent_source,
        consent_scope, visible, granted_at, gate, gate_reason, gate_markers, generation, source_id, ordinal,
        line_start, line_end, offset_start, offset_end, created_at, version)
SELECT given.id, %(tenant)s::text, %(scope_id)s::uuid, 'chunk', '', '', '', given.key,
       given.text, given.lexical_text, given.embed_text, given.language, given.sha256, 1,
       given.metadata, given.trust, given.writer, coalesce(given.consent_source, ''),
       coalesce(given.consent_scope, ''), given.visible,
       CASE WHEN given.visible
            THEN coalesce(given.granted_at, %(at)s::timestamptz) END,
       given.gate, given.gate_reason,
       given.gate_markers, %(generation)s::integer, %(source_id)s::uuid, given.ordinal,
       given.line_start, given.line_end, given.offset_start, given.offset_end,
       %(at)s::timestamptz, 1
  FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(texts)s::text[],
              %(lexical_texts)s::text[], %(embed_texts)s::text[], %(languages)s::text[],
              %(sha256s)s::bytea[], %(metadatas)s::jsonb[], %(trusts)s::text[],
              %(writers)s::text[], %(consent_sources)s::text[],
              %(consent_scopes)s::text[], %(visibles)s::boolean[],
              %(granted_ats)s::timestamptz[], %(gates)s::text[],
              %(gate_reasons)s::text[],
              %(gate_markers)s::jsonb[], %(ordinals)s::integer[],
              %(line_starts)s::integer[], %(line_ends)s::integer[],
              %(offset_starts)s::integer[], %(offset_ends)s::integer[])
       AS given(id, key, text, lexical_text, embed_text, language, sha256, metadata,
                trust, writer, consent_source, consent_scope, visible, granted_at, gate, gate_reason, gate_markers, ordinal, line_start,
                line_end, offset_start, offset_end)
 ORDER BY given.ordinal;

-- name: move_chunks
-- Where chunks stand now, and what is said of them; never their words. One that comes
-- back was known otherwise meanwhile. What gives orders in the metadata closes the gate,
-- and nothing here opens it.
UPDATE prism_memory_record AS record
   SET ordinal = given.ordinal,
       line_start = given.line_start,
       line_end = given.line_end,
       offset_start = given.offset_start,
       offset_end = given.offset_end,
       language = given.language,
       metadata = given.metadata,
       trust = given.trust,
       writer = given.writer,
       lexical_text = CASE WHEN record.sha256 = given.sha256
                           THEN given.lexical_text ELSE record.lexical_text END,
       embed_text = CASE WHEN record.sha256 = given.sha256
                         THEN given.embed_text ELSE record.embed_text END,
       gate = CASE WHEN given.closes THEN 'quarantined' ELSE record.gate END,
       gate_reason = CASE WHEN given.closes THEN given.gate_reason
                          ELSE record.gate_reason END,
       gate_markers = CASE WHEN given.closes THEN given.gate_markers
                           ELSE record.gate_markers END,
       changed_at = CASE WHEN record.retired_at IS NOT NULL OR given.closes
                         THEN %(at)s::timestamptz ELSE record.changed_at END,
       retired_at = NULL,
       version = record.version + 1
  FROM unnest(%(ids)s::uuid[], %(lexical_texts)s::text[], %(embed_texts)s::text[],
              %(languages)s::text[], %(sha256s)s::bytea[], %(metadatas)s::jsonb[],
              %(trusts)s::text[], %(writers)s::text[], %(gate_reasons)s::text[],
              %(gate_markers)s::jsonb[], %(ordinals)s::integer[],
              %(line_starts)s::integer[], %(line_ends)s::integer[],
              %(offset_starts)s::integer[], %(offset_ends)s::integer[],
              %(closes)s::boolean[])
       AS given(id, lexical_text, embed_text, language, sha256, metadata, trust, writer,
                gate_reason, gate_markers, ordinal, line_start, line_end, offset_start,
                offset_end, closes)
 WHERE record.tenant = %(tenant)s::text
   AND record.id = ANY(%(ids)s::uuid[]) AND record.id = given.id;

-- name: retire_chunks
-- The document holds them no longer, so they have no place in it.
UPDATE prism_memory_record AS record
   SET retired_at = %(at)s::timestamptz, ordinal = NULL, line_start = NULL,
       line_end = NULL, offset_start = NULL, offset_end = NULL,
       version = record.version + 1
 WHERE record.tenant = %(tenant)s::text AND record.id = ANY(%(ids)s::uuid[]);

-- name: reuse_vectors
-- Of the same text in another generation of the same document. Locked in the order in
-- which a drain locks those of its space.
WITH known AS MATERIALIZED (
  SELECT DISTINCT ON (embedding.space_id, embedding.sha256)
         embedding.space_id, embedding.sha256, embedding.vector
    FROM prism_memory_record AS record
    JOIN prism_memory_embedding AS embedding
      ON embedding.tenant = record.tenant AND embedding.record_id = record.id
   WHERE record.tenant = %(tenant)s::text
     AND record.source_id = %(source_id)s::uuid
     AND record.generation IS DISTINCT FROM %(generation)s::integer
     AND embedding.vector IS NOT NULL),
held AS (
  SELECT waiting.record_id, waiting.space_id, known.vector, waiting.counted
    FROM prism_memory_embedding AS waiting
    JOIN known ON known.space_id = waiting.space_id AND known.sha256 = waiting.sha256
   WHERE waiting.tenant = %(tenant)s::text
     AND waiting.record_id = ANY(%(record_ids)s::uuid[])
     AND waiting.vector IS NULL
   ORDER BY waiting.record_id, waiting.space_id
     FOR UPDATE OF waiting)
UPDATE prism_memory_embedding AS embedding
   SET vector = held.vector, counted = TRUE, claimed_until = NULL, failed_at = NULL,
       error = ''
  FROM held
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.record_id = held.record_id AND embedding.space_id = held.space_id
   AND embedding.record_id = ANY(%(record_ids)s::uuid[])
RETURNING embedding.record_id, embedding.space_id, held.counted;

-- name: write_document
UPDATE prism_memory_source AS source
   SET uri = %(uri)s::text, trust = %(trust)s::text, writer = %(writer)s::text,
       sha256 = %(sha256)s::bytea, bytes = %(bytes)s::bigint,
       chunks = %(chunks)s::integer, chunker = %(chunker)s::text,
       language = %(language)s::text, metadata = %(metadata)s::jsonb,
       ingestion = %(ingestion)s::text, error = '', ingested_at = %(at)s::timestamptz
 WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid;

-- name: grow_document
-- What it was made of is not known, so the next ingest looks at all of it.
UPDATE prism_memory_source AS source
   SET chunks = source.chunks + %(chunks)s::integer, ingested_at = %(at)s::timestamptz,
       ingestion = CASE WHEN %(waits)s::boolean THEN 'pending'
                        ELSE source.ingestion END
 WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid;

-- name: own_records
-- Those of a source that are in force, or those that it took along when it was retired.
SELECT record.id, coalesce(record.embed_text, record.text) AS embedded
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text
   AND record.source_id = %(source_id)s::uuid
   AND record.ordinal IS NOT NULL
   AND record.retired_at IS NOT DISTINCT FROM %(retired_at)s::timestamptz
 ORDER BY record.scope_id, record.kind COLLATE "C", record.namespace COLLATE "C",
          record.partition COLLATE "C", record.key COLLATE "C"
   FOR NO KEY UPDATE;

-- name: set_retired
UPDATE prism_memory_record AS record
   SET retired_at = %(retired_at)s::timestamptz,
       changed_at = CASE WHEN %(retired_at)s::timestamptz IS NULL
                         THEN %(at)s::timestamptz ELSE record.changed_at END,
       version = record.version + 1
 WHERE record.tenant = %(tenant)s::text AND record.id = ANY(%(ids)s::uuid[]);

-- name: set_source_state
UPDATE prism_memory_source AS source
   SET state = %(state)s::text, retired_at = %(retired_at)s::timestamptz,
       ingestion = CASE WHEN %(waits)s::boolean THEN 'pending' ELSE ingestion END
 WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid;

-- name: ids_of_source
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.source_id = %(source_id)s::uuid;

-- name: list_sources
SELECT source.id, source.key, source.uri, source.kind, source.trust, source.writer,
       source.state, source.ingestion, source.bytes, source.chunks, source.error,
       source.chunker, source.language, source.metadata, source.created_at,
       source.ingested_at, source.retired_at, place.owner, place.agent, place.thread
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
 WHERE {placed}
   AND source.id > %(after)s::uuid
 ORDER BY source.id
 LIMIT %(rows)s::integer;

-- name: get_source
-- The narrowest scope's, where several have one of that key.
SELECT source.id, source.key, source.uri, source.kind, source.trust, source.writer,
       source.state, source.ingestion, source.bytes, source.chunks, source.error,
       source.chunker, source.language, source.metadata, source.created_at,
       source.ingested_at, source.retired_at, place.owner, place.agent, place.thread
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
 WHERE {placed}
   AND source.key = %(key)s::text
 ORDER BY array_position(%(scope_ids)s::uuid[], source.scope_id)
 LIMIT 1;

-- name: states_of_sources
-- How far the vectors of some sources are. A retired record has none, and needs none.
SELECT given.id, counted.pending, counted.failed, counted.indexed, counted.error
  FROM unnest(%(source_ids)s::uuid[]) AS given(id)
 CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE embedding.vector IS NULL
                                 AND embedding.failed_at IS NULL) AS pending,
              count(*) FILTER (WHERE embedding.vector IS NULL
                                 AND embedding.failed_at IS NOT NULL) AS failed,
              count(*) FILTER (WHERE embedding.vector IS NOT NULL) AS indexed,
              coalesce(max(embedding.error) FILTER (
                         WHERE embedding.failed_at IS NOT NULL), '') AS error
         FROM prism_memory_record AS record
         JOIN prism_memory_embedding AS embedding
           ON embedding.tenant = record.tenant AND embedding.record_id = record.id
          AND embedding.space_id = %(space_id)s::integer
        WHERE record.tenant = %(tenant)s::text
          AND record.source_id = given.id
          AND record.retired_at IS NULL
       OFFSET 0) AS counted;

-- name: waiting_of_source
SELECT DISTINCT waiting.record_id
  FROM prism_memory_record AS record
  JOIN prism_memory_embedding AS waiting
    ON waiting.tenant = record.tenant AND waiting.record_id = record.id
  JOIN prism_memory_embeddingspace AS space
    ON space.id = waiting.space_id AND space.alias = %(alias)s::text
   AND space.state IN ('active', 'building')
 WHERE record.tenant = %(tenant)s::text
   AND record.source_id = %(source_id)s::uuid
   AND waiting.vector IS NULL AND waiting.failed_at IS NULL;
