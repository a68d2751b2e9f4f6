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
         record.line_start, record.line_end, record.offset_start, record.offset_end,
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

-- name: lock_entities
-- Entities of exactly one scope, whose names decide, not the hash. In the order of the
-- names, as by all who lock several. Who links a fact to one need not wait.
SELECT entity.id, entity.name, entity.merged_into
  FROM prism_memory_entity AS entity
  JOIN prism_memory_scope AS place
    ON place.tenant = entity.tenant AND place.id = entity.scope_id
 WHERE entity.tenant = %(tenant)s::text
   AND entity.scope_id = %(scope_id)s::uuid
   AND entity.id = ANY(%(entity_ids)s::uuid[])
   AND place.owner = %(owner)s::text
   AND place.agent = %(agent)s::text
   AND place.thread = %(thread)s::text
 ORDER BY entity.name
   FOR NO KEY UPDATE OF entity;

-- name: merges_below
-- How many merges lead in a row to an entity; one more than there may be is enough.
WITH RECURSIVE below(id, step) AS (
  SELECT %(entity_id)s::uuid, 0
  UNION ALL
  SELECT entity.id, below.step + 1
    FROM below
   CROSS JOIN LATERAL (
         SELECT entity.id
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text AND entity.merged_into = below.id
         OFFSET 0) AS entity
   WHERE below.step <= {depth})
SELECT max(step) AS steps FROM below;

-- name: merge
UPDATE prism_memory_entity AS entity
   SET merged_into = %(into_id)s::uuid
 WHERE entity.tenant = %(tenant)s::text AND entity.id = %(entity_id)s::uuid;

-- name: unmerge
UPDATE prism_memory_entity AS entity
   SET merged_into = NULL
 WHERE entity.tenant = %(tenant)s::text AND entity.id = %(entity_id)s::uuid;

-- name: listed
-- A page of entities that are merged into no other, with what is merged into them, and
-- the visible facts that speak of each: a name that only hidden facts bear is not told.
-- Of an entity only the newest facts are looked at; one more tells that there are more.
WITH RECURSIVE page AS MATERIALIZED (
  SELECT root.id, root.scope_id, root.name, root.label
    FROM unnest(%(scope_ids)s::uuid[]) AS one(scope_id)
   CROSS JOIN LATERAL (
         SELECT entity.id, entity.scope_id, entity.name, entity.label
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.scope_id = one.scope_id
            AND entity.merged_into IS NULL
            AND entity.id > %(after)s::uuid
            AND (%(entity_id)s::uuid IS NULL OR entity.id = %(entity_id)s::uuid)
          ORDER BY entity.id
          LIMIT %(rows)s::integer) AS root
   ORDER BY root.id
   LIMIT %(rows)s::integer),
member(root_id, id, name, label, into_id, step) AS (
  SELECT page.id, page.id, page.name, page.label, NULL::uuid, 0 FROM page
  UNION ALL
  SELECT member.root_id, entity.id, entity.name, entity.label, member.id,
         member.step + 1
    FROM member
   CROSS JOIN LATERAL (
         SELECT entity.id, entity.name, entity.label
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text AND entity.merged_into = member.id
         OFFSET 0) AS entity
   WHERE member.step < {depth}),
told AS MATERIALIZED (
  SELECT * FROM member LIMIT {members} + 1),
looked AS MATERIALIZED (
  SELECT told.root_id, told.id, newest.fact_id,
         row_number() OVER (PARTITION BY told.id) > {per_entity} AS beyond
    FROM told
   CROSS JOIN LATERAL (
         SELECT DISTINCT mention.fact_id
           FROM (SELECT mention.fact_id
                   FROM prism_memory_mention AS mention
                  WHERE mention.tenant = %(tenant)s::text
                    AND mention.entity_id = told.id
                  ORDER BY mention.fact_id DESC
                  LIMIT {per_entity} + 1) AS mention) AS newest),
seen AS MATERIALIZED (
  SELECT looked.root_id, looked.id, looked.fact_id
    FROM looked
   WHERE NOT looked.beyond
     AND (EXISTS (
           SELECT FROM prism_memory_record AS record
            WHERE record.id = looked.fact_id AND {visible}
           OFFSET 0)) IS TRUE)
SELECT page.id AS root_id, told.id, told.name, told.label, told.into_id,
       scope.owner, scope.agent, scope.thread,
       (SELECT count(DISTINCT seen.fact_id)
          FROM seen WHERE seen.root_id = page.id) AS facts,
       EXISTS (SELECT FROM seen WHERE seen.id = told.id) AS shown,
       (EXISTS (SELECT FROM looked
                 WHERE looked.root_id = page.id AND looked.beyond)
        OR (SELECT count(*) FROM told) > {members}) AS bounded
  FROM page
  JOIN told ON told.root_id = page.id
  JOIN prism_memory_scope AS scope
    ON scope.tenant = %(tenant)s::text AND scope.id = page.scope_id
 ORDER BY page.id, told.step, told.name;

-- name: names_waiting
-- Entities that are merged into no other and have no vector of a space, the oldest
-- first, with their scope. Three walks of the index on the space, which "other than"
-- would not use.
SELECT waiting.id, waiting.name, waiting.scope_id, place.owner, place.agent,
       place.thread
  FROM ((SELECT entity.id, entity.name, entity.scope_id
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.merged_into IS NULL
            AND entity.space_id IS NULL
            AND entity.id > %(after)s::uuid
          ORDER BY entity.id
          LIMIT %(rows)s::integer)
        UNION ALL
        (SELECT entity.id, entity.name, entity.scope_id
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.merged_into IS NULL
            AND entity.space_id < %(space_id)s::integer
            AND entity.id > %(after)s::uuid
          ORDER BY entity.id
          LIMIT %(rows)s::integer)
        UNION ALL
        (SELECT entity.id, entity.name, entity.scope_id
           FROM prism_memory_entity AS entity
          WHERE entity.tenant = %(tenant)s::text
            AND entity.merged_into IS NULL
            AND entity.space_id > %(space_id)s::integer
            AND entity.id > %(after)s::uuid
          ORDER BY entity.id
          LIMIT %(rows)s::integer)) AS waiting
  JOIN prism_memory_scope AS place
    ON place.tenant = %(tenant)s::text AND place.id = waiting.scope_id
 ORDER BY waiting.id
 LIMIT %(rows)s::integer;

-- name: nearest_names
-- The nearest of the newest entities of a scope, by the vectors of one space. Not those
-- that a person has set apart from this one.
SELECT newest.id, newest.name,
       1 - (newest.vector <=> %(vector)s::halfvec) AS cosine
  FROM (SELECT entity.id, entity.name, entity.vector
          FROM prism_memory_entity AS entity
         WHERE entity.tenant = %(tenant)s::text
           AND entity.scope_id = %(scope_id)s::uuid
           AND entity.merged_into IS NULL
           AND entity.space_id = %(space_id)s::integer
           AND entity.id <> %(entity_id)s::uuid
         ORDER BY entity.id DESC
         LIMIT %(newest)s::integer) AS newest
 WHERE NOT EXISTS (
         SELECT FROM prism_memory_entitymerge AS undone
          WHERE undone.tenant = %(tenant)s::text
            AND undone.entity_id IN (newest.id, %(entity_id)s::uuid)
            AND undone.into_id IN (newest.id, %(entity_id)s::uuid)
            AND undone.undone_at IS NOT NULL)
 ORDER BY newest.vector <=> %(vector)s::halfvec, newest.id
 LIMIT %(rows)s::integer;

-- name: write_vector
UPDATE prism_memory_entity AS entity
   SET vector = %(vector)s::halfvec, space_id = %(space_id)s::integer
 WHERE entity.tenant = %(tenant)s::text
   AND entity.id = %(entity_id)s::uuid
   AND entity.merged_into IS NULL;

-- name: lock_unspoken
-- Those of some entities that no mention and no merge speaks of, against who links a fact
-- to one. What somebody has in hand is left to the next time.
SELECT entity.id
  FROM prism_memory_entity AS entity
 WHERE entity.tenant = %(tenant)s::text
   AND entity.id = ANY(%(entity_ids)s::uuid[])
   AND {unspoken}
   FOR UPDATE OF entity SKIP LOCKED;

-- name: drop_unspoken
DELETE FROM prism_memory_entity AS entity
 WHERE entity.tenant = %(tenant)s::text
   AND entity.id = ANY(%(entity_ids)s::uuid[])
   AND {unspoken};

-- name: unspoken
entity.merged_into IS NULL
   AND NOT EXISTS (
         SELECT FROM prism_memory_mention AS mention
          WHERE mention.tenant = entity.tenant AND mention.entity_id = entity.id
         OFFSET 0)
   AND NOT EXISTS (
         SELECT FROM prism_memory_entity AS merged
          WHERE merged.tenant = entity.tenant AND merged.merged_into = entity.id
         OFFSET 0)
   AND NOT EXISTS (
         SELECT FROM prism_memory_entitymerge AS merge
          WHERE merge.tenant = entity.tenant
            AND merge.entity_id = entity.id
         OFFSET 0)
   AND NOT EXISTS (
         SELECT FROM prism_memory_entitymerge AS merge
          WHERE merge.tenant = entity.tenant
            AND merge.into_id = entity.id
         OFFSET 0)
