-- Who may read which document. Parameters are %(name)s and are bound by the driver;
-- nothing is ever formatted in, but {granted} of access.sql.

-- name: lock
-- Sources of exactly one scope, in the order of their keys, as by all who lock several.
-- Who writes records of one need not wait.
SELECT source.id, source.key
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
 WHERE source.tenant = %(tenant)s::text
   AND source.scope_id = %(scope_id)s::uuid
   AND source.key = ANY(%(keys)s::text[])
   AND (place.owner, place.agent, place.thread)
     = (%(owner)s::text, %(agent)s::text, %(thread)s::text)
 ORDER BY source.key
   FOR NO KEY UPDATE OF source;

-- name: revoke
-- Every grant of some sources that is not among those that are given.
DELETE FROM prism_memory_sourceaccess AS given
 WHERE given.tenant = %(tenant)s::text
   AND given.source_id = ANY(%(source_ids)s::uuid[])
   AND (given.source_id, given.principal, given.group_name, given.access_version)
       NOT IN (SELECT * FROM unnest(%(of)s::uuid[], %(principals)s::text[],
                                    %(groups)s::text[], %(versions)s::integer[]))
RETURNING given.source_id;

-- name: grant
INSERT INTO prism_memory_sourceaccess
       (tenant, id, source_id, principal, group_name, access_version)
SELECT %(tenant)s::text, wanted.id, wanted.source_id, wanted.principal,
       wanted.group_name, wanted.access_version
  FROM unnest(%(ids)s::uuid[], %(of)s::uuid[], %(principals)s::text[],
              %(groups)s::text[], %(versions)s::integer[])
       AS wanted(id, source_id, principal, group_name, access_version)
ON CONFLICT (tenant, source_id, principal, group_name) DO NOTHING
RETURNING source_id;

-- name: restrict
UPDATE prism_memory_source AS source
   SET restricted = TRUE
 WHERE source.tenant = %(tenant)s::text
   AND source.id = ANY(%(source_ids)s::uuid[])
   AND NOT source.restricted;

-- name: listed
-- Whether a source is restricted, and the grants of it: principals, then groups.
SELECT source.restricted, given.principal, given.group_name, given.access_version
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
  LEFT JOIN prism_memory_sourceaccess AS given
    ON given.tenant = source.tenant AND given.source_id = source.id
 WHERE source.tenant = %(tenant)s::text
   AND source.scope_id = %(scope_id)s::uuid
   AND source.key = %(key)s::text
   AND (place.owner, place.agent, place.thread)
     = (%(owner)s::text, %(agent)s::text, %(thread)s::text)
   AND {readable}
 ORDER BY given.group_name, given.principal;

-- name: closed
-- Whether a source of exactly one scope is restricted without a grant to who asks.
SELECT source.id, source.restricted AND NOT {granted} AS closed
  FROM prism_memory_source AS source
  JOIN prism_memory_scope AS place
    ON place.tenant = source.tenant AND place.id = source.scope_id
 WHERE source.tenant = %(tenant)s::text
   AND source.scope_id = %(scope_id)s::uuid
   AND source.key = %(key)s::text
   AND (place.owner, place.agent, place.thread)
     = (%(owner)s::text, %(agent)s::text, %(thread)s::text);

-- name: move
-- Its id stays, and so does all that names it: records, edges, grants, holds.
UPDATE prism_memory_source AS source
   SET key = %(to_key)s::text
 WHERE source.tenant = %(tenant)s::text AND source.id = %(source_id)s::uuid;

-- name: cited
-- How many records are cited by a source's key.
SELECT count(*) AS records
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s::text AND record.source_id = %(source_id)s::uuid;
