-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: count_records
-- Records of each scope, counted up to a bound.
SELECT place.id, (
         SELECT count(*)
           FROM (SELECT FROM prism_memory_record AS record
                  WHERE record.tenant = %(tenant)s::text AND record.scope_id = place.id
                  LIMIT %(most)s::integer) AS counted) AS records
  FROM unnest(%(scope_ids)s::uuid[]) AS place(id);

-- name: count_records_of_sources
-- Records of each source, counted up to a bound.
SELECT origin.id, (
         SELECT count(*)
           FROM (SELECT FROM prism_memory_record AS record
                  WHERE record.tenant = %(tenant)s::text
                    AND record.source_id = origin.id
                  LIMIT %(most)s::integer) AS counted) AS records
  FROM unnest(%(source_ids)s::uuid[]) AS origin(id);

-- name: count_queues
-- What waits and what was given up in each space, for one tenant.
SELECT space_id,
       count(*) FILTER (WHERE failed_at IS NULL) AS pending,
       count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed
  FROM prism_memory_embedding
 WHERE tenant = %(tenant)s::text AND vector IS NULL
   AND space_id = ANY(%(space_ids)s::integer[])
 GROUP BY space_id;

-- name: index_states
SELECT class.relname AS name, index.indisvalid AS valid,
       pg_relation_size(class.oid) AS bytes
  FROM pg_class AS class
  JOIN pg_index AS index ON index.indexrelid = class.oid
 WHERE class.relname = ANY(%(names)s::text[])
   AND class.relnamespace = (SELECT relnamespace FROM pg_class
                              WHERE oid = 'prism_memory_embedding'::regclass);

-- name: count_reviews
-- What waits for a person, by reason, each counted up to a bound.
SELECT reason.why, (
         SELECT count(*)
           FROM (SELECT FROM prism_memory_review AS review
                  WHERE review.tenant = %(tenant)s::text
                    AND review.why = reason.why
                    AND review.decided_at IS NULL
                  LIMIT %(most)s::integer) AS counted) AS waiting
  FROM unnest(%(whys)s::text[]) AS reason(why);
