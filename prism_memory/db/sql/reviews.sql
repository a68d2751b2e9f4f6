-- What waits for a person. Parameters are %(name)s and are bound by the driver.

-- name: waiting
SELECT review.id, review.why, review.opened_at, review.record_id, record.gate_markers
  FROM prism_memory_review AS review
  JOIN prism_memory_record AS record
    ON record.tenant = review.tenant AND record.id = review.record_id
 WHERE review.tenant = %(tenant)s::text
   AND review.scope_id = ANY(%(scope_ids)s::uuid[])
   AND review.decided_at IS NULL
   AND (%(why)s::text IS NULL OR review.why = %(why)s::text)
   AND (%(after)s::uuid IS NULL
        OR (review.opened_at, review.id)
           > (%(after_time)s::timestamptz, %(after)s::uuid))
   AND {visible}
 ORDER BY review.opened_at, review.id
 LIMIT %(rows)s::bigint;
