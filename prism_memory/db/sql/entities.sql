-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in,
-- but {visible} of access.sql, parts of recall.sql, the parts below, and integers that are
-- constants.

-- name: find_names
-- The entities of some names, merged or not. Held, so that none is swept before the links
-- to it stand; in the order of the names, as by all who lock several.
SELECT entity.id, entity.name
  FROM prism_memory_entity AS entity
 WHERE entity.tenant = %(tenant)s::text
   AND entity.scope_id = %(scope_id)s::uuid
   AND entity.name = ANY(%(names)s::text[])
 ORDER BY entity.name
   FOR KEY SHARE;

-- name: insert_names
-- In the order of the names: of two writers of the same ones the second waits, and finds
-- those of the first.
INSERT INTO prism_memory_entity (tenant, id, scope_id, name, label, created_at)
SELECT %(tenant)s::text, given.id, %(scope_id)s::uuid, given.name, given.label,
       %(at)s::timestamptz
  FROM unnest(%(ids)s::uuid[], %(names)s::text[], %(labels)s::text[])
         AS given(id, name, label)
 ORDER BY given.name COLLATE "C"
    ON CONFLICT (tenant, scope_id, name) DO NOTHING;

-- name: insert_mentions
INSERT INTO prism_memory_mention (tenant, fact_id, role, entity_id)
SELECT %(tenant)s::text, %(fact_id)s::uuid, given.role, given.entity_id
  FROM unnest(%(roles)s::text[], %(entity_ids)s::uuid[]) AS given(role, entity_id)
    ON CONFLICT (tenant, fact_id, role) DO NOTHING;

-- name: reach
-- Visible facts that speak of some entities, with what is merged into these, the newest
-- of each entity. What a fact speaks of is known by its name, in each scope in sight: so
-- scopes share what they call alike, and a merge holds where it was made. Every step is
-- a look-up by an index (OFFSET 0), and every list is bounded: an entity of which all
-- speak costs as much as one of which few do.
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT %(vector)s::halfvec AS vector),
{keys},
climbed(id, merged_into, place, step) AS (
  SELECT entity.id, entity.merged_into, keys.place, 0
    FROM keys
   CROSS JOIN unnest(%(scope_ids)s::uuid[]) AS one(scope_id)
   CROSS JOIN LATERAL (
         SELECT entity.id, entity.merged_into
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.scope_id = one.scope_id
            AND entity.name = keys.name
         OFFSET 0) AS entity
  UNION ALL
  SELECT entity.id, entity.merged_into, climbed.place, climbed.step + 1
    FROM climbed
   CROSS JOIN LATERAL (
         SELECT entity.id, entity.merged_into
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.id = climbed.merged_into
         OFFSET 0) AS entity
   WHERE climbed.step < {depth}),
member(id, place, step) AS (
  SELECT climbed.id, min(climbed.place), 0
    FROM climbed
   WHERE climbed.merged_into IS NULL
   GROUP BY climbed.id
  UNION ALL
  SELECT entity.id, member.place, member.step + 1
    FROM member
   CROSS JOIN LATERAL (
         SELECT entity.id
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.merged_into = member.id
         OFFSET 0) AS entity
   WHERE member.step < {depth}),
spoken AS MATERIALIZED (
  SELECT member.id, member.place FROM member LIMIT {members} + 1),
looked AS MATERIALIZED (
  -- Ids grow with time. One more than is looked at tells that there are more.
  SELECT spoken.id AS entity_id, spoken.place, newest.fact_id
    FROM (SELECT * FROM spoken ORDER BY place, id LIMIT {members}) AS spoken
   CROSS JOIN LATERAL (
         SELECT mention.fact_id
           FROM prism_memory_mention AS mention
          WHERE mention.tenant = %(tenant)s::text AND mention.entity_id = spoken.id
          ORDER BY mention.fact_id DESC
          LIMIT {per_entity} + 1) AS newest
   LIMIT {looks} + 1),
cut AS MATERIALIZED (
  SELECT (SELECT count(*) FROM spoken) > {members}
         OR (SELECT count(*) FROM looked) > {looks}
         OR EXISTS (SELECT FROM looked
                     GROUP BY looked.entity_id HAVING count(*) > {per_entity}) AS bounded),
found AS MATERIALIZED (
  SELECT one.fact_id AS record_id, one.place
    FROM (SELECT looked.fact_id, min(looked.place) AS place
            FROM looked
           WHERE looked.fact_id <> ALL(%(without)s::uuid[])
           GROUP BY looked.fact_id) AS one
   WHERE (EXISTS (
           SELECT FROM prism_memory_record AS record
            WHERE record.id = one.fact_id AND {visible}
           OFFSET 0)) IS TRUE),
best AS MATERIALIZED (
  SELECT found.record_id, found.place, {cosine} AS cosine
    FROM found
   ORDER BY cosine DESC NULLS LAST, found.place, found.record_id DESC
   LIMIT {rows}),
fetched AS MATERIALIZED (
  SELECT best.record_id::text, best.place, NULL::bigint AS vector_rank,
         NULL::bigint AS text_rank, NULL::bigint AS recency_rank, best.cosine,
         NULL::float8 AS bm25, record.key, record.text, record.kind, record.tier,
         record.namespace, record.partition, record.ordinal, record.trust,
         record.writer, record.metadata::text, record.sequence, record.importance,
         record.created_at::text, record.happened_at::text, record.valid_from::text,
         record.valid_to::text, record.version, record.gate, record.gate_reason,
         {changed} AS changed, record.scope_id, record.source_id,
         scope.owner, scope.agent, scope.thread, source.key AS source
    FROM best
   CROSS JOIN LATERAL (
         SELECT * FROM prism_memory_record AS record
          WHERE record.tenant = %(tenant)s::text AND record.id = best.record_id
         OFFSET 0) AS record
    JOIN prism_memory_scope AS scope
      ON scope.tenant = %(tenant)s::text AND scope.id = record.scope_id
    LEFT JOIN prism_memory_source AS source
      ON source.tenant = %(tenant)s::text AND source.id = record.source_id)
SELECT cut.bounded, fetched.*
  FROM cut LEFT JOIN fetched ON TRUE
 ORDER BY fetched.cosine DESC NULLS LAST, fetched.place, fetched.record_id DESC;

-- name: keys_of_facts
-- The names of what some facts speak of, and of all that these are merged into. Only what
-- is visible itself leads anywhere: a fact may have been withdrawn since it was found.
bridging AS MATERIALIZED (
  SELECT given.id, given.place
    FROM unnest(%(seeds)s::uuid[]) WITH ORDINALITY AS given(id, place)
   WHERE (EXISTS (
           SELECT FROM prism_memory_record AS record
            WHERE record.id = given.id AND {visible}
           OFFSET 0)) IS TRUE),
above(name, merged_into, place, step) AS (
  SELECT entity.name, entity.merged_into, bridging.place, 0
    FROM bridging
   CROSS JOIN LATERAL (
         SELECT mention.entity_id
           FROM prism_memory_mention AS mention
          WHERE mention.tenant = %(tenant)s::text AND mention.fact_id = bridging.id
         OFFSET 0) AS mention
   CROSS JOIN LATERAL (
         SELECT entity.name, entity.merged_into
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text AND entity.id = mention.entity_id
         OFFSET 0) AS entity
  UNION ALL
  SELECT entity.name, entity.merged_into, above.place, above.step + 1
    FROM above
   CROSS JOIN LATERAL (
         SELECT entity.name, entity.merged_into
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text AND entity.id = above.merged_into
         OFFSET 0) AS entity
   WHERE above.step < {depth}),
keys AS MATERIALIZED (
  SELECT above.name, min(above.place) AS place FROM above GROUP BY above.name)

-- name: keys_of_names
keys AS MATERIALIZED (
  SELECT given.name, min(given.place) AS place
    FROM unnest(%(names)s::text[]) WITH ORDINALITY AS given(name, place)
   GROUP BY given.name)
