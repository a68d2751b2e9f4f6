-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: note_decisions
-- The consent of records as it stands after a decision. Each is later than the one
-- before of its record, whatever the clocks of two writers say: they come in the order
-- in which the row was locked.
INSERT INTO prism_memory_consentgrant
       (id, tenant, record_id, source, label, visible, granted_at, revoked_at, actor,
        at)
SELECT given.id, record.tenant, record.id, record.consent_source,
       record.consent_scope, record.visible, record.granted_at, record.revoked_at,
       %(actor)s::text,
       greatest(%(at)s::timestamptz,
                (SELECT max(earlier.at) + interval '1 microsecond'
                   FROM prism_memory_consentgrant AS earlier
                  WHERE earlier.tenant = %(tenant)s::text
                    AND earlier.record_id = given.record_id))
  FROM unnest(%(ids)s::uuid[], %(record_ids)s::uuid[]) AS given(id, record_id)
  JOIN prism_memory_record AS record
    ON record.tenant = %(tenant)s::text AND record.id = given.record_id;
