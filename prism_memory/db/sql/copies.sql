-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.
-- What external indexes of vectors hold, and what they are still to be told. Who locks
-- several copies does so in the order of their records. ANY keeps a change to its own
-- rows, coalesce() keeps the planner from an index that finds all of a tenant's, and what
-- is claimed is ordered as its partial index is: so it is right before any ANALYZE, too.

-- name: want_copies
-- Of vectors that were just written: again, where there was another.
INSERT INTO prism_memory_vectorcopy AS copied
       (tenant, record_id, space_id, index, scope_id, state, version)
SELECT embedding.tenant, embedding.record_id, embedding.space_id, %(index)s::text,
       embedding.scope_id, 'wanted', 1
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(%(record_ids)s::uuid[])
   AND coalesce(embedding.vector IS NOT NULL, FALSE)
 ORDER BY embedding.record_id
ON CONFLICT (tenant, record_id, space_id, index) DO UPDATE
   SET state = 'wanted', version = copied.version + 1, scope_id = excluded.scope_id;

-- name: enlist_copies
-- One page of vectors that the index does not know of, in the order of their records.
-- One that is written or deleted meanwhile is waited for.
WITH page AS MATERIALIZED (
  SELECT embedding.record_id, embedding.scope_id
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND embedding.record_id > %(after)s::uuid
     AND coalesce(embedding.vector IS NOT NULL, FALSE)
   ORDER BY embedding.record_id
   LIMIT %(rows)s::integer),
there AS MATERIALIZED (
  SELECT embedding.record_id, embedding.scope_id
    FROM prism_memory_embedding AS embedding
   WHERE embedding.tenant = %(tenant)s::text
     AND embedding.space_id = %(space_id)s::integer
     AND embedding.record_id = ANY(ARRAY(SELECT page.record_id FROM page))
   ORDER BY embedding.record_id
     FOR KEY SHARE),
made AS (
  INSERT INTO prism_memory_vectorcopy AS copied
         (tenant, record_id, space_id, index, scope_id, state, version)
  SELECT %(tenant)s::text, there.record_id, %(space_id)s::integer, %(index)s::text,
         there.scope_id, 'wanted', 1
    FROM there
   ORDER BY there.record_id
  ON CONFLICT (tenant, record_id, space_id, index) DO UPDATE
     SET state = 'wanted', version = copied.version + 1, scope_id = excluded.scope_id
   WHERE copied.state = 'gone'
  RETURNING record_id)
SELECT (SELECT record_id FROM page ORDER BY record_id DESC LIMIT 1) AS last,
       (SELECT count(*) FROM made) AS made;

-- name: drop_copies
-- One page of what the index holds, or was to hold, and no vector stands behind any more,
-- whoever took it: the index is to be told. The version tells what was written meanwhile.
WITH page AS MATERIALIZED (
  SELECT copied.record_id, copied.space_id, copied.version
    FROM prism_memory_vectorcopy AS copied
   WHERE copied.tenant = %(tenant)s::text
     AND copied.index = %(index)s::text
     AND (copied.record_id, copied.space_id)
         > (%(after)s::uuid, %(after_space)s::integer)
     AND copied.state IN ('wanted', 'held')
   ORDER BY copied.record_id, copied.space_id
   LIMIT %(rows)s::integer),
bare AS MATERIALIZED (
  SELECT page.record_id, page.space_id, page.version
    FROM page
   WHERE (NOT EXISTS (
           SELECT FROM prism_memory_embedding AS embedding
            WHERE embedding.tenant = %(tenant)s::text
              AND embedding.record_id = page.record_id
              AND embedding.space_id = page.space_id
              AND coalesce(embedding.vector IS NOT NULL, FALSE)
           OFFSET 0)) IS TRUE),
locked AS MATERIALIZED (
  SELECT copied.record_id, copied.space_id
    FROM prism_memory_vectorcopy AS copied
    JOIN bare
      ON bare.record_id = copied.record_id AND bare.space_id = copied.space_id
     AND bare.version = copied.version
   WHERE copied.tenant = %(tenant)s::text
     AND copied.index = %(index)s::text
     AND copied.record_id = ANY(ARRAY(SELECT bare.record_id FROM bare))
   ORDER BY copied.record_id, copied.space_id
     FOR UPDATE OF copied),
dropped AS (
  UPDATE prism_memory_vectorcopy AS copied
     SET state = 'gone', version = copied.version + 1
    FROM locked
   WHERE copied.tenant = %(tenant)s::text
     AND copied.index = %(index)s::text
     AND copied.record_id = ANY(ARRAY(SELECT locked.record_id FROM locked))
     AND copied.record_id = locked.record_id
     AND copied.space_id = locked.space_id
  RETURNING copied.record_id)
SELECT last.record_id AS last, last.space_id AS last_space,
       (SELECT count(*) FROM dropped) AS dropped
  FROM (SELECT NULL) AS one
  LEFT JOIN (SELECT record_id, space_id FROM page
              ORDER BY record_id DESC, space_id DESC LIMIT 1) AS last ON TRUE;

-- name: drop_space
-- Nothing of the space is left here; every index that holds some of it is to be told.
WITH incomplete AS (
  DELETE FROM prism_memory_vectorcopy AS copied
   WHERE copied.tenant = %(tenant)s::text
     AND copied.record_id = '00000000-0000-0000-0000-000000000000'
     AND copied.space_id = %(space_id)s::integer)
UPDATE prism_memory_vectorcopy AS copied
   SET state = 'gone', version = copied.version + 1
 WHERE copied.tenant = %(tenant)s::text
   AND copied.space_id = %(space_id)s::integer
   AND copied.state IN ('wanted', 'held');

-- name: complete_copies
-- All vectors of the space are enlisted: from now on, what is written adds itself.
INSERT INTO prism_memory_vectorcopy
       (tenant, record_id, space_id, index, scope_id, state, version)
VALUES (%(tenant)s::text, '00000000-0000-0000-0000-000000000000',
        %(space_id)s::integer, %(index)s::text,
        '00000000-0000-0000-0000-000000000000', 'complete', 1)
ON CONFLICT (tenant, record_id, space_id, index) DO NOTHING;

-- name: are_copies_complete
SELECT EXISTS (
         SELECT FROM prism_memory_vectorcopy AS copied
          WHERE copied.tenant = %(tenant)s::text
            AND copied.record_id = '00000000-0000-0000-0000-000000000000'
            AND copied.space_id = %(space_id)s::integer
            AND copied.index = %(index)s::text
            AND copied.state = 'complete') AS complete;

-- name: claim_wanted
-- Take some for a while: what one worker told the index, no other undoes meanwhile.
WITH due AS MATERIALIZED (
  SELECT copied.record_id
    FROM prism_memory_vectorcopy AS copied
   WHERE copied.tenant = %(tenant)s::text
     AND copied.space_id = %(space_id)s::integer
     AND copied.index = %(index)s::text
     AND copied.state = 'wanted'
     AND coalesce(copied.claimed_until <= clock_timestamp(), TRUE)
   ORDER BY copied.scope_id, copied.record_id
   LIMIT %(rows)s::integer
     FOR UPDATE SKIP LOCKED)
UPDATE prism_memory_vectorcopy AS copied
   SET claimed_until = clock_timestamp() + %(claim_seconds)s * interval '1 second'
 WHERE copied.tenant = %(tenant)s::text
   AND copied.space_id = %(space_id)s::integer
   AND copied.index = %(index)s::text
   AND copied.record_id = ANY(ARRAY(SELECT due.record_id FROM due))
RETURNING copied.record_id, copied.space_id, copied.version, copied.claimed_until;

-- name: vectors_of_copies
-- After the claim, in a statement of its own: this one sees what the version stands for.
SELECT embedding.record_id, embedding.scope_id, embedding.vector::text AS vector
  FROM prism_memory_embedding AS embedding
 WHERE embedding.tenant = %(tenant)s::text
   AND embedding.space_id = %(space_id)s::integer
   AND embedding.record_id = ANY(%(record_ids)s::uuid[])
   AND coalesce(embedding.vector IS NOT NULL, FALSE);

-- name: claim_gone
WITH due AS MATERIALIZED (
  SELECT copied.record_id, copied.space_id
    FROM prism_memory_vectorcopy AS copied
   WHERE copied.tenant = %(tenant)s::text
     AND copied.index = %(index)s::text
     AND copied.state = 'gone'
     AND coalesce(copied.claimed_until <= clock_timestamp(), TRUE)
   ORDER BY copied.space_id, copied.record_id
   LIMIT %(rows)s::integer
     FOR UPDATE SKIP LOCKED)
UPDATE prism_memory_vectorcopy AS copied
   SET claimed_until = clock_timestamp() + %(claim_seconds)s * interval '1 second'
  FROM due
 WHERE copied.tenant = %(tenant)s::text
   AND copied.index = %(index)s::text
   AND copied.record_id = ANY(ARRAY(SELECT due.record_id FROM due))
   AND copied.record_id = due.record_id
   AND copied.space_id = due.space_id
RETURNING copied.record_id, copied.space_id, copied.version, copied.claimed_until;

-- name: settle_copies
-- The index was told, or not: then they are given back. What changed meanwhile stays to
-- be told, and who lost the claim settles nothing.
WITH given AS MATERIALIZED (
  SELECT listed.record_id, listed.space_id, listed.version, listed.claimed_until
    FROM unnest(%(record_ids)s::uuid[], %(space_ids)s::integer[],
                %(versions)s::bigint[], %(claims)s::timestamptz[])
         AS listed(record_id, space_id, version, claimed_until)),
locked AS MATERIALIZED (
  SELECT copied.record_id, copied.space_id,
         copied.version = given.version AND %(told)s::boolean AS told
    FROM prism_memory_vectorcopy AS copied
    JOIN given
      ON given.record_id = copied.record_id AND given.space_id = copied.space_id
     AND given.claimed_until = copied.claimed_until
   WHERE copied.tenant = %(tenant)s::text
     AND copied.index = %(index)s::text
     AND copied.record_id = ANY(%(record_ids)s::uuid[])
   ORDER BY copied.record_id, copied.space_id
     FOR UPDATE OF copied)
UPDATE prism_memory_vectorcopy AS copied
   SET claimed_until = NULL,
       state = CASE WHEN locked.told THEN %(state)s::text ELSE copied.state END
  FROM locked
 WHERE copied.tenant = %(tenant)s::text
   AND copied.index = %(index)s::text
   AND copied.record_id = ANY(%(record_ids)s::uuid[])
   AND copied.record_id = locked.record_id
   AND copied.space_id = locked.space_id
RETURNING copied.record_id;

-- name: doubt_stored
-- The index was told of these by one who had lost the claim: it may hold what was deleted
-- meanwhile, or an older vector than it should.
WITH given AS MATERIALIZED (
  SELECT listed.record_id, listed.scope_id
    FROM unnest(%(record_ids)s::uuid[], %(scope_ids)s::uuid[])
         AS listed(record_id, scope_id))
INSERT INTO prism_memory_vectorcopy AS copied
       (tenant, record_id, space_id, index, scope_id, state, version)
SELECT %(tenant)s::text, given.record_id, %(space_id)s::integer, %(index)s::text,
       given.scope_id, 'gone', 1
  FROM given
 ORDER BY given.record_id
ON CONFLICT (tenant, record_id, space_id, index) DO UPDATE
   SET state = CASE copied.state WHEN 'gone' THEN 'gone' ELSE 'wanted' END,
       version = copied.version + 1;

-- name: doubt_removed
-- The index was told to delete what is wanted again by now: it may lack that.
WITH given AS MATERIALIZED (
  SELECT listed.record_id, listed.space_id
    FROM unnest(%(record_ids)s::uuid[], %(space_ids)s::integer[])
         AS listed(record_id, space_id)),
locked AS MATERIALIZED (
  SELECT copied.record_id, copied.space_id
    FROM prism_memory_vectorcopy AS copied
    JOIN given
      ON given.record_id = copied.record_id AND given.space_id = copied.space_id
   WHERE copied.tenant = %(tenant)s::text
     AND copied.index = %(index)s::text
     AND copied.record_id = ANY(%(record_ids)s::uuid[])
     AND copied.state IN ('wanted', 'held')
   ORDER BY copied.record_id, copied.space_id
     FOR UPDATE OF copied)
UPDATE prism_memory_vectorcopy AS copied
   SET state = 'wanted', version = copied.version + 1
  FROM locked
 WHERE copied.tenant = %(tenant)s::text
   AND copied.index = %(index)s::text
   AND copied.record_id = ANY(%(record_ids)s::uuid[])
   AND copied.record_id = locked.record_id
   AND copied.space_id = locked.space_id;

-- name: clear_copies
-- The index was told that they are gone, and nobody wanted them back meanwhile.
DELETE FROM prism_memory_vectorcopy AS copied
 USING unnest(%(record_ids)s::uuid[], %(space_ids)s::integer[],
              %(versions)s::bigint[]) AS given(record_id, space_id, version)
 WHERE copied.tenant = %(tenant)s::text
   AND copied.index = %(index)s::text
   AND copied.record_id = ANY(%(record_ids)s::uuid[])
   AND copied.record_id = given.record_id
   AND copied.space_id = given.space_id
   AND copied.version = given.version
   AND coalesce(copied.state = 'gone', FALSE);

-- name: has_copies_to_tell
-- Ordered as the partial indexes are: an EXISTS might read all of the tenant's.
SELECT coalesce((
         SELECT TRUE FROM prism_memory_vectorcopy AS copied
          WHERE copied.tenant = %(tenant)s::text
            AND copied.space_id = %(space_id)s::integer
            AND copied.index = %(index)s::text
            AND copied.state = 'wanted'
            AND coalesce(copied.claimed_until <= clock_timestamp(), TRUE)
          ORDER BY copied.scope_id, copied.record_id
          LIMIT 1), (
         SELECT TRUE FROM prism_memory_vectorcopy AS copied
          WHERE copied.tenant = %(tenant)s::text
            AND copied.index = %(index)s::text
            AND copied.state = 'gone'
            AND coalesce(copied.claimed_until <= clock_timestamp(), TRUE)
          ORDER BY copied.space_id, copied.record_id
          LIMIT 1), FALSE) AS waiting;

-- name: count_copies
-- By index and state; one tenant's.
SELECT copied.index, copied.state, count(*) AS copies
  FROM prism_memory_vectorcopy AS copied
 WHERE copied.tenant = %(tenant)s::text AND copied.state <> 'complete'
 GROUP BY copied.index, copied.state
 ORDER BY copied.index, copied.state;

-- name: count_gone
-- What external indexes are still to be told to delete, whichever they are.
SELECT count(*) AS gone
  FROM prism_memory_vectorcopy AS copied
 WHERE copied.tenant = %(tenant)s::text AND copied.state = 'gone';

-- name: forget_copies
-- An index that is thrown away holds nothing any more.
DELETE FROM prism_memory_vectorcopy AS copied
 WHERE copied.tenant = %(tenant)s::text AND copied.index = %(index)s::text;
