-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in, but
-- {visible} of access.sql, and the parts below.

-- name: instant
-- A moment of the database's clock, after each that some facts know. Their rows are
-- locked, so that no other change comes between.
SELECT greatest(clock_timestamp(),
                max(version.recorded_from) + interval '1 microsecond') AS instant
  FROM prism_memory_factversion AS version
 WHERE version.tenant = %(tenant)s::text
   AND version.fact_id = ANY(%(fact_ids)s::uuid[]);

-- name: columns
       fact.id, fact.key, fact.subject, fact.predicate, fact.value, fact.confidence,
       fact.provenance, fact.principal, fact.sensitivity, fact.supersedes,
       fact.superseded_by, fact.pending_supersedes, fact.closing, fact.closing_reason,
       fact.archived_at IS NOT NULL AS archived,
       version.id AS version_id, version.acceptance, version.gate, version.valid_from,
       version.valid_to, version.recorded_from, version.recorded_to, version.cause,
       version.actor, version.reason,
       record.text, record.version, record.trust, record.writer, record.importance,
       record.metadata -> 'tags' AS tags, record.gate AS gate_now, record.gate_reason,
       place.owner, place.agent, place.thread,
       ARRAY(SELECT substr(edge.source_ref, 8)::uuid
               FROM prism_memory_evidence AS cited
               JOIN prism_memory_lineageedge AS edge
                 ON edge.tenant = cited.tenant AND edge.record_id = cited.fact_id
                AND edge.source_ref = 'record:' || cited.record_id::text
              WHERE cited.tenant = fact.tenant AND cited.fact_id = fact.id
              ORDER BY edge.position) AS evidence

-- name: joined
  FROM prism_memory_fact AS fact
  JOIN prism_memory_factversion AS version
    ON version.tenant = fact.tenant AND version.fact_id = fact.id
  JOIN prism_memory_record AS record
    ON record.tenant = fact.tenant AND record.id = fact.id
  JOIN prism_memory_scope AS place
    ON place.tenant = fact.tenant AND place.id = fact.scope_id

-- name: held_at
-- Versions that memory held at one moment of what holds in the world at another. What is
-- not in sight now is not shown, however it was then.
SELECT {columns}
{joined}
 WHERE fact.tenant = %(tenant)s::text
   AND fact.scope_id = ANY(%(scope_ids)s::uuid[])
   AND (%(subject)s::text IS NULL OR fact.folded_subject = %(subject)s::text)
   AND (%(predicate)s::text IS NULL OR fact.predicate = %(predicate)s::text)
   AND (%(principals)s::text[] IS NULL OR fact.principal = ANY(%(principals)s::text[]))
   AND fact.archived_at IS NULL
   AND fact.closing <> 'forgotten'
   AND version.acceptance = ANY(%(acceptances)s::text[])
   AND (version.gate = 'open' OR %(include_quarantined)s::boolean)
   AND version.valid_from <= %(valid_at)s::timestamptz
   AND (version.valid_to IS NULL OR version.valid_to > %(valid_at)s::timestamptz)
   AND (version.recorded_to IS NULL
        OR version.recorded_to > %(held_at)s::timestamptz)
   AND (%(held_at)s::timestamptz IS NULL
        OR version.recorded_from <= %(held_at)s::timestamptz)
   AND (%(after)s::uuid IS NULL
        OR (version.valid_from, fact.id)
           > (%(after_time)s::timestamptz, %(after)s::uuid))
   AND {visible}
 ORDER BY version.valid_from, fact.id
 LIMIT %(rows)s::bigint;

-- name: timeline
-- Every version about a subject, the oldest in the world first.
SELECT {columns}
{joined}
 WHERE fact.tenant = %(tenant)s::text
   AND fact.scope_id = ANY(%(scope_ids)s::uuid[])
   AND fact.folded_subject = %(subject)s::text
   AND (%(predicate)s::text IS NULL OR fact.predicate = %(predicate)s::text)
   AND (%(after)s::uuid IS NULL
        OR (version.valid_from, version.recorded_from, version.id)
           > (%(after_time)s::timestamptz, %(after_recorded)s::timestamptz,
              %(after)s::uuid))
   AND {visible}
 ORDER BY version.valid_from, version.recorded_from, version.id
 LIMIT %(rows)s::bigint;

-- name: latest
-- The newest version of each of some facts, open or not. Of forgotten ones, where asked,
-- only that they were.
SELECT DISTINCT ON (fact.id) {columns}
{joined}
 WHERE fact.tenant = %(tenant)s::text
   AND fact.id = ANY(%(fact_ids)s::uuid[])
   AND ({visible}
        OR (%(forgotten)s::boolean AND fact.closing = 'forgotten' AND {placed}
            AND {accessible}))
 ORDER BY fact.id, version.recorded_from DESC;

-- name: chain
-- A fact, what it replaced or is to replace, and what replaced it, both ways to the end.
-- UNION ends where a circle closes. More than can be shown is not walked.
WITH RECURSIVE chain(id) AS (
  SELECT fact.id
    FROM prism_memory_fact AS fact
   WHERE fact.tenant = %(tenant)s::text
     AND fact.scope_id = ANY(%(scope_ids)s::uuid[])
     AND fact.id = %(fact_id)s::uuid
  UNION
  SELECT next.id
    FROM chain
    JOIN prism_memory_fact AS member
      ON member.tenant = %(tenant)s::text AND member.id = chain.id
   CROSS JOIN LATERAL (
         SELECT older.id
           FROM prism_memory_fact AS older
          WHERE older.tenant = member.tenant
            AND older.id IN (member.supersedes, member.superseded_by,
                             member.pending_supersedes)
         UNION ALL
         SELECT newer.id
           FROM prism_memory_fact AS newer
          WHERE newer.tenant = member.tenant AND newer.supersedes = member.id
         UNION ALL
         SELECT waiting.id
           FROM prism_memory_fact AS waiting
          WHERE waiting.tenant = member.tenant
            AND waiting.pending_supersedes = member.id
         UNION ALL
         SELECT former.id
           FROM prism_memory_fact AS former
          WHERE former.tenant = member.tenant
            AND former.superseded_by = member.id) AS next)
SELECT id FROM chain LIMIT %(rows)s::bigint;

-- name: next_scope
-- The next scope with facts that are open and not put aside.
SELECT fact.scope_id
  FROM prism_memory_fact AS fact
 WHERE fact.tenant = %(tenant)s::text
   AND fact.scope_id > %(after)s::uuid
   AND fact.closed_at IS NULL AND fact.archived_at IS NULL
 ORDER BY fact.scope_id
 LIMIT 1;

-- name: standings
-- What a fact's salience is made of, page by page. No words. Taking it back, as each
-- decision about it, counts as a recall.
SELECT fact.id, fact.provenance, record.importance, record.gate, {held} AS held,
       extract(epoch FROM %(at)s::timestamptz
               - greatest(coalesce(recalled.last_recalled_at, record.created_at),
                          record.changed_at)) / 86400 AS days,
       coalesce(recalled.strength, 1) AS strength,
       coalesce(recalled.recalls, 0) AS recalls
  FROM prism_memory_fact AS fact
  JOIN prism_memory_record AS record
    ON record.tenant = fact.tenant AND record.id = fact.id
  LEFT JOIN prism_memory_reinforcement AS recalled
    ON recalled.tenant = fact.tenant AND recalled.record_id = fact.id
 WHERE fact.tenant = %(tenant)s::text
   AND fact.scope_id = %(scope_id)s::uuid
   AND fact.id > %(after)s::uuid
   AND fact.closed_at IS NULL AND fact.archived_at IS NULL
 ORDER BY fact.id
 LIMIT %(rows)s::bigint;

-- name: promotable
-- Facts that a model made and that wait behind the gate for that alone, and that people
-- who asked for such recalled often enough. Ids and scopes only.
SELECT fact.id, place.owner, place.agent, place.thread
  FROM prism_memory_review AS waiting
  JOIN prism_memory_fact AS fact
    ON fact.tenant = waiting.tenant AND fact.id = waiting.record_id
  JOIN prism_memory_record AS record
    ON record.tenant = fact.tenant AND record.id = fact.id
  JOIN prism_memory_reinforcement AS recalled
    ON recalled.tenant = fact.tenant AND recalled.record_id = fact.id
  JOIN prism_memory_scope AS place
    ON place.tenant = fact.tenant AND place.id = fact.scope_id
 WHERE waiting.tenant = %(tenant)s::text
   AND waiting.why = 'quarantined' AND waiting.decided_at IS NULL
   AND fact.closed_at IS NULL AND fact.archived_at IS NULL
   AND fact.provenance = ANY(%(provenances)s::text[])
   AND record.gate = 'quarantined' AND record.gate_reason = %(reason)s::text
   AND record.created_at <= %(written_before)s::timestamptz
   AND recalled.recalls >= %(recalls)s::integer
   AND (SELECT count(*)
          FROM prism_memory_reinforcedquery AS asked
         WHERE asked.tenant = fact.tenant AND asked.record_id = fact.id)
       >= %(questions)s::integer
 ORDER BY waiting.opened_at, waiting.id
 LIMIT %(rows)s::integer;
