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
