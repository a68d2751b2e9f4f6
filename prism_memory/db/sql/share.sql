-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {visible} of access.sql and parts of recall.sql.

-- name: hold_shareable
-- Those of the ids that may be shared; none of them goes before the share stands.
SELECT record.id
  FROM prism_memory_record AS record
 WHERE record.id = ANY(%(shared_ids)s::uuid[]) AND {visible}
 ORDER BY record.id
   FOR KEY SHARE OF record;

-- name: grant
-- The one share of two threads, new or not. Its row is locked until the transaction ends.
INSERT INTO prism_memory_sharegrant AS share
       (tenant, id, owner, parent_id, child_id, expires_at, actor, created_at,
        changed_at)
VALUES (%(tenant)s::text, %(id)s::uuid, %(owner)s::text, %(parent_id)s::uuid,
        %(child_id)s::uuid, %(expires_at)s::timestamptz, %(actor)s::text,
        %(at)s::timestamptz, %(at)s::timestamptz)
ON CONFLICT (tenant, parent_id, child_id) DO UPDATE
   SET expires_at = excluded.expires_at,
       actor = excluded.actor,
       changed_at = excluded.changed_at
RETURNING share.id;

-- name: clear_items
DELETE FROM prism_memory_sharegrantitem AS item
 WHERE item.tenant = %(tenant)s::text AND item.grant_id = %(grant_id)s::uuid;

-- name: insert_items
INSERT INTO prism_memory_sharegrantitem (tenant, grant_id, record_id, position)
SELECT %(tenant)s::text, %(grant_id)s::uuid, given.record_id, given.place - 1
  FROM unnest(%(shared_ids)s::uuid[]) WITH ORDINALITY AS given(record_id, place);

-- name: revoke
-- Its items go with it.
DELETE FROM prism_memory_sharegrant AS share
 WHERE share.tenant = %(tenant)s::text
   AND share.parent_id = %(parent_id)s::uuid
   AND share.child_id = %(child_id)s::uuid
RETURNING share.id;

-- name: shared
-- What a grant shares and its child may see, scored as the records of recall are: the
-- cosine alike, and each word by the weight that it has among the reader's own rows,
-- which {weighed} of recall.sql tells. At most 32 rows, so all of them are read.
WITH asked AS MATERIALIZED (
  SELECT %(vector)s::halfvec AS vector, %(weighed)s::jsonb AS weighed),
{words},
found AS MATERIALIZED (
  SELECT seen.id AS record_id, seen.search
    FROM prism_memory_sharegrant AS share
    JOIN prism_memory_sharegrantitem AS item
      ON item.tenant = share.tenant AND item.grant_id = share.id
   CROSS JOIN LATERAL (
         SELECT record.id, record.search
           FROM prism_memory_record AS record
          WHERE record.id = item.record_id AND {visible}
         OFFSET 0) AS seen
   WHERE share.tenant = %(tenant)s::text
     AND share.parent_id = ANY(%(scope_ids)s::uuid[])
     AND share.child_id = %(child_id)s::uuid)
SELECT found.record_id::text, NULL::bigint AS vector_rank, NULL::bigint AS text_rank,
       NULL::bigint AS recency_rank, {cosine} AS cosine, {bm25} AS bm25,
       record.key, record.text, record.kind, record.tier,
       record.namespace, record.partition, record.ordinal, record.trust,
       record.writer, record.metadata::text, record.sequence, record.importance,
       record.created_at::text, record.happened_at::text, record.valid_from::text,
       record.valid_to::text, record.version, record.gate, record.gate_reason,
       record.line_start, record.line_end, record.offset_start, record.offset_end,
       {changed} AS changed, record.scope_id, record.source_id,
       place.owner, place.agent, place.thread, source.key AS source
  FROM found
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = found.record_id
  JOIN prism_memory_scope AS place
    ON place.tenant = %(tenant)s::text AND place.id = record.scope_id
  LEFT JOIN prism_memory_source AS source
    ON source.tenant = %(tenant)s::text AND source.id = record.source_id;

-- name: shared_bm25
-- The sum of "scored" in recall.sql, of one row.
(SELECT sum(word.weight * word.frequency * (%(k1)s::float8 + 1)
            / (word.frequency + %(k1)s::float8
               * (1 - %(b)s::float8 + %(b)s::float8 * word.length / word.mean)))
   FROM (SELECT coalesce(asked.weighed -> 'weights' ->> terms.lexeme,
                         asked.weighed ->> 'unseen')::float8 AS weight,
                ts_rank(found.search, terms.query) / 0.0607927 AS frequency,
                length(found.search) AS length,
                coalesce((asked.weighed ->> 'mean')::float8,
                         (SELECT avg(length(every.search)) FROM found AS every),
                         1) AS mean
           FROM terms CROSS JOIN asked
          WHERE found.search @@ terms.query) AS word)
