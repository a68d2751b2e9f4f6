-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.
-- Asked again and again, for each tenant: each count walks an index and stops at a
-- bound, in the order of that index, so that no planner ever reads the table instead.

-- name: state_of_tenant
SELECT
  (SELECT jsonb_agg(to_jsonb(queue))
     FROM (SELECT space.id AS space_id,
                  (SELECT count(*)
                     FROM (SELECT
                             FROM prism_memory_embedding AS waiting
                            WHERE waiting.tenant = %(tenant)s::text
                              AND waiting.space_id = space.id
                              AND waiting.vector IS NULL AND waiting.failed_at IS NULL
                            ORDER BY waiting.failed_at, waiting.next_try_at
                            LIMIT %(most)s::integer) AS counted) AS pending,
                  (SELECT count(*)
                     FROM (SELECT
                             FROM prism_memory_embedding AS given_up
                            WHERE given_up.tenant = %(tenant)s::text
                              AND given_up.space_id = space.id
                              AND given_up.vector IS NULL
                              AND given_up.failed_at IS NOT NULL
                            ORDER BY given_up.failed_at
                            LIMIT %(most)s::integer) AS counted) AS failed,
                  (SELECT extract(epoch FROM statement_timestamp()
                                             - min(first.created_at))
                     FROM (SELECT waiting.created_at
                             FROM prism_memory_embedding AS waiting
                            WHERE waiting.tenant = %(tenant)s::text
                              AND waiting.space_id = space.id
                              AND waiting.vector IS NULL AND waiting.failed_at IS NULL
                            ORDER BY waiting.failed_at, waiting.next_try_at
                            LIMIT 1000) AS first) AS oldest_seconds
             FROM unnest(%(space_ids)s::integer[]) AS space(id)) AS queue) AS queues,
  (SELECT jsonb_agg(to_jsonb(going))
     FROM (SELECT run.kind, count(*) AS runs,
                  -- As runs.progress reads them.
                  sum(CASE WHEN jsonb_typeof(known.done) = 'number'
                            AND jsonb_typeof(known.total) = 'number'
                           THEN least((known.done #>> '{}')::numeric,
                                      (known.total #>> '{}')::numeric) END) AS done,
                  sum(CASE WHEN jsonb_typeof(known.done) = 'number'
                            AND jsonb_typeof(known.total) = 'number'
                           THEN (known.total #>> '{}')::numeric END) AS total,
                  extract(epoch FROM statement_timestamp() - min(run.heartbeat_at))
                    AS silent_seconds
             FROM prism_memory_run AS run
            CROSS JOIN LATERAL (
                  SELECT coalesce(run.counts -> 'done',
                                  run.counts -> (%(done_of)s::jsonb ->> run.kind),
                                  '0'::jsonb) AS done,
                         coalesce(run.counts -> 'total', run.cursor -> 'total')
                         AS total) AS known
            WHERE run.tenant = %(tenant)s::text AND run.state = 'running'
            GROUP BY run.kind) AS going) AS running,
  (SELECT jsonb_agg(to_jsonb(ended))
     FROM (SELECT recent.kind, recent.state, count(*) AS runs
             FROM (SELECT run.kind, run.state
                     FROM prism_memory_run AS run
                    WHERE run.tenant = %(tenant)s::text
                      AND run.started_at > statement_timestamp() - interval '1 day'
                      AND run.state <> 'running'
                    ORDER BY run.started_at DESC
                    LIMIT 1000) AS recent
            GROUP BY recent.kind, recent.state) AS ended) AS ended,
  (SELECT jsonb_agg(to_jsonb(asked))
     FROM (SELECT reason.why,
                  (SELECT count(*)
                     FROM (SELECT
                             FROM prism_memory_review AS review
                            WHERE review.tenant = %(tenant)s::text
                              AND review.why = reason.why
                              AND review.decided_at IS NULL
                            ORDER BY review.opened_at
                            LIMIT %(most)s::integer) AS counted) AS waiting,
                  (SELECT extract(epoch FROM statement_timestamp() - review.opened_at)
                     FROM prism_memory_review AS review
                    WHERE review.tenant = %(tenant)s::text
                      AND review.why = reason.why AND review.decided_at IS NULL
                    ORDER BY review.opened_at LIMIT 1) AS oldest_seconds
             FROM unnest(%(whys)s::text[]) AS reason(why)) AS asked) AS reviews;

-- name: sizes
-- As PostgreSQL last counted; -1 where it never did. With indexes and TOAST.
SELECT class.relname::text AS name, class.reltuples::bigint AS rows,
       pg_total_relation_size(class.oid) AS bytes
  FROM pg_class AS class
 WHERE class.oid IN ('prism_memory_record'::regclass,
                     'prism_memory_embedding'::regclass,
                     'prism_memory_tenant'::regclass)
 ORDER BY class.relname;

-- name: index_states
SELECT class.relname::text AS name, index.indisvalid AS valid,
       pg_relation_size(class.oid) AS bytes
  FROM pg_class AS class
  JOIN pg_index AS index ON index.indexrelid = class.oid
 WHERE class.relname = ANY(%(names)s::text[])
   AND class.relnamespace = (SELECT relnamespace FROM pg_class
                              WHERE oid = 'prism_memory_embedding'::regclass);

-- name: keep_reading
-- Of each hour, the most of each count. One row; who reads it later sees peaks.
INSERT INTO prism_memory_reading AS reading (tenant, id, hour, counts, worst, at)
VALUES (%(tenant)s::text, %(id)s::uuid, %(hour)s::timestamptz, %(counts)s::jsonb,
        %(worst)s::jsonb, %(at)s::timestamptz)
ON CONFLICT (tenant, hour) DO UPDATE
   SET counts = (SELECT jsonb_object_agg(
                          given.key,
                          greatest(given.value::bigint,
                                   coalesce((reading.counts ->> given.key)::bigint, 0)))
                   FROM jsonb_each_text(excluded.counts) AS given),
       worst = excluded.worst, at = excluded.at
 WHERE reading.tenant = %(tenant)s::text;

-- name: drop_readings
DELETE FROM prism_memory_reading AS reading
 WHERE reading.tenant = %(tenant)s::text AND reading.hour < %(before)s::timestamptz;

-- name: day_of_readings
SELECT reading.hour, reading.counts, reading.worst, reading.at
  FROM prism_memory_reading AS reading
 WHERE reading.tenant = %(tenant)s::text AND reading.hour >= %(since)s::timestamptz
 ORDER BY reading.hour;

-- name: day_of_recalls
-- Recalls of which a trace was kept, by the hour.
SELECT date_trunc('hour', recent.at) AS hour, count(*) AS count
  FROM (SELECT trace.at FROM prism_memory_recalltrace AS trace
         WHERE trace.tenant = %(tenant)s::text AND trace.at >= %(since)s::timestamptz
         ORDER BY trace.at DESC LIMIT %(most)s::integer) AS recent
 GROUP BY 1 ORDER BY 1;

-- name: day_of_acts
-- Governing acts, by the hour.
SELECT date_trunc('hour', recent.at) AS hour, count(*) AS count
  FROM (SELECT event.at FROM prism_memory_auditevent AS event
         WHERE event.tenant = %(tenant)s::text AND event.at >= %(since)s::timestamptz
         ORDER BY event.at DESC LIMIT %(most)s::integer) AS recent
 GROUP BY 1 ORDER BY 1;
