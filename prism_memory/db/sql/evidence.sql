-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {held} of access.sql, and {wait}: nothing or NOWAIT.

-- name: cited
-- What those of some records cite that are facts under no hold. One under a hold keeps
-- what it cites, and is blocked as any other record is.
SELECT evidence.fact_id, evidence.record_id
  FROM unnest(%(record_ids)s::uuid[]) AS given(id)
 CROSS JOIN LATERAL (
       SELECT evidence.fact_id, evidence.record_id
         FROM prism_memory_evidence AS evidence
        WHERE evidence.tenant = %(tenant)s::text AND evidence.fact_id = given.id
       OFFSET 0) AS evidence
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = evidence.fact_id
 WHERE NOT {held};

-- name: lock_facts
-- In the order of their ids, after the records, as by all who lock several.
SELECT fact.id
  FROM prism_memory_fact AS fact
 WHERE fact.tenant = %(tenant)s::text AND fact.id = ANY(%(fact_ids)s::uuid[])
 ORDER BY fact.id
   FOR UPDATE OF fact {wait};

-- name: unlink_evidence
DELETE FROM prism_memory_evidence AS evidence
 USING unnest(%(fact_ids)s::uuid[], %(record_ids)s::uuid[]) AS given(fact_id, record_id)
 WHERE evidence.tenant = %(tenant)s::text
   AND evidence.fact_id = given.fact_id AND evidence.record_id = given.record_id;

-- name: unlink_lineage
DELETE FROM prism_memory_lineageedge AS edge
 USING unnest(%(fact_ids)s::uuid[], %(record_ids)s::uuid[]) AS given(fact_id, record_id)
 WHERE edge.tenant = %(tenant)s::text
   AND edge.record_id = given.fact_id
   AND edge.source_ref = 'record:' || given.record_id::text;

-- name: held_versions
-- What is held of some facts now, with the trust of all that each cites.
SELECT fact.id, fact.scope_id, version.acceptance,
       ARRAY(SELECT record.trust
               FROM prism_memory_evidence AS evidence
               JOIN prism_memory_record AS record
                 ON record.tenant = evidence.tenant AND record.id = evidence.record_id
              WHERE evidence.tenant = fact.tenant AND evidence.fact_id = fact.id
              ORDER BY record.trust) AS trusts
  FROM prism_memory_fact AS fact
  JOIN prism_memory_factversion AS version
    ON version.tenant = fact.tenant AND version.fact_id = fact.id
   AND version.recorded_to IS NULL
 WHERE fact.tenant = %(tenant)s::text AND fact.id = ANY(%(fact_ids)s::uuid[])
 ORDER BY fact.id;

-- name: close_versions
UPDATE prism_memory_factversion AS version
   SET recorded_to = %(instant)s::timestamptz
 WHERE version.tenant = %(tenant)s::text
   AND version.fact_id = ANY(%(fact_ids)s::uuid[])
   AND version.recorded_to IS NULL;

-- name: begin_judged
-- As the versions that were closed at this instant, but for their acceptance.
INSERT INTO prism_memory_factversion
       (id, tenant, fact_id, acceptance, gate, valid_from, valid_to, recorded_from,
        cause, actor, reason)
SELECT gen_random_uuid(), version.tenant, version.fact_id, given.acceptance,
       version.gate, version.valid_from, version.valid_to, version.recorded_to,
       'rejudged', %(actor)s::text, ''
  FROM unnest(%(fact_ids)s::uuid[], %(acceptances)s::text[])
       AS given(fact_id, acceptance)
  JOIN prism_memory_factversion AS version
    ON version.fact_id = given.fact_id
   AND version.recorded_to = %(instant)s::timestamptz
 WHERE version.tenant = %(tenant)s::text;
