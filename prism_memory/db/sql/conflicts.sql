-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {visible} of access.sql.

-- name: standing
-- Open facts of exactly one scope that a claim meets: those that are near it, and those
-- of the same words, wherever their time. What left search meets nothing.
WITH met AS (
  SELECT fact.id
    FROM prism_memory_fact AS fact
   WHERE fact.tenant = %(tenant)s::text
     AND fact.scope_id = %(scope_id)s::uuid
     AND fact.folded_sha256 = %(words)s::bytea
     AND fact.closed_at IS NULL
  UNION
  SELECT near.id FROM unnest(%(near_ids)s::uuid[]) AS near(id))
SELECT fact.id, record.text, fact.subject, fact.predicate, fact.value,
       version.acceptance, version.valid_from, version.valid_to, record.version,
       record.gate = 'open' AS is_open
  FROM met
  JOIN prism_memory_fact AS fact
    ON fact.tenant = %(tenant)s::text AND fact.id = met.id
  JOIN prism_memory_factversion AS version
    ON version.tenant = %(tenant)s::text AND version.fact_id = fact.id
   AND version.recorded_to IS NULL
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = fact.id
 WHERE fact.scope_id = %(scope_id)s::uuid
   AND fact.closed_at IS NULL
   AND fact.archived_at IS NULL
   AND fact.principal = %(principal)s::text
   AND {visible}
 ORDER BY fact.id;

-- name: waiting
-- A page of conflicts that wait, of facts in sight, the oldest first.
SELECT decision.id, decision.fact_id, decision.others, decision.stage, decision.zone,
       decision.similarity, decision.reason, decision.at, decision.attempts
  FROM prism_memory_conflictdecision AS decision
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = decision.fact_id
 WHERE decision.tenant = %(tenant)s::text
   AND decision.scope_id = ANY(%(scope_ids)s::uuid[])
   AND decision.verdict = 'pending'
   AND decision.settled_at IS NULL
   AND decision.id > %(after)s::uuid
   AND {visible}
 ORDER BY decision.id
 LIMIT %(rows)s::bigint;

-- name: claim
-- Take conflicts that are due for a judge. next_try_at moves to the claim's own end, so
-- that what a killed worker held comes back by itself.
WITH due AS (
  SELECT decision.id
    FROM prism_memory_conflictdecision AS decision
   WHERE decision.tenant = %(tenant)s::text
     AND decision.verdict = 'pending'
     AND decision.settled_at IS NULL
     AND decision.next_try_at <= clock_timestamp()
   ORDER BY decision.next_try_at, decision.id
   LIMIT %(rows)s::integer
     FOR UPDATE SKIP LOCKED)
UPDATE prism_memory_conflictdecision AS decision
   SET attempts = decision.attempts + 1,
       next_try_at = clock_timestamp() + %(claim_seconds)s * interval '1 second'
  FROM prism_memory_scope AS place
 WHERE decision.tenant = %(tenant)s::text
   AND decision.id = ANY(ARRAY(SELECT due.id FROM due))
   AND place.tenant = %(tenant)s::text AND place.id = decision.scope_id
RETURNING decision.id, decision.fact_id, decision.others, decision.attempts,
          decision.next_try_at, place.owner, place.agent, place.thread;

-- name: put_back
-- Let a conflict rest; one whose claim another worker took over meanwhile is left alone.
UPDATE prism_memory_conflictdecision AS decision
   SET next_try_at = CASE WHEN %(seconds)s::double precision IS NOT NULL
                     THEN clock_timestamp() + %(seconds)s * interval '1 second' END
 WHERE decision.tenant = %(tenant)s::text
   AND decision.id = %(decision_id)s::uuid
   AND decision.next_try_at = %(claimed_until)s::timestamptz
   AND decision.settled_at IS NULL;

-- name: lapse
-- Conflicts that nobody settled in time: both facts stay.
WITH old AS (
  SELECT decision.id
    FROM prism_memory_conflictdecision AS decision
   WHERE decision.tenant = %(tenant)s::text
     AND decision.verdict = 'pending'
     AND decision.settled_at IS NULL
     AND decision.at <= %(before)s::timestamptz
   ORDER BY decision.at, decision.id
   LIMIT %(rows)s::integer
     FOR UPDATE SKIP LOCKED)
UPDATE prism_memory_conflictdecision AS decision
   SET settled_at = %(at)s::timestamptz, settled_by = %(actor)s::text,
       settled_as = 'admit', next_try_at = NULL
 WHERE decision.tenant = %(tenant)s::text
   AND decision.id = ANY(ARRAY(SELECT old.id FROM old))
RETURNING decision.id, decision.fact_id;
