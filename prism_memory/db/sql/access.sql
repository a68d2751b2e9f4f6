-- Parameters are %(name)s and are bound by the driver; nothing is ever formatted in.

-- name: visible
-- Whether the reader may see the row called "record". The only such rule there is.
{placed}
AND {unwithheld}

-- name: placed
-- Whether it is of the reader's scopes: a part of the rule, and never all of it.
    record.tenant = %(tenant)s::text
AND record.scope_id = ANY(ARRAY(
      -- The names decide, not the hash.
      SELECT place.id
        FROM prism_memory_scope AS place
       WHERE place.tenant = %(tenant)s::text
         AND place.id = ANY(%(scope_ids)s::uuid[])
         AND (place.id, place.owner, place.agent, place.thread) IN (
               SELECT * FROM unnest(%(scope_ids)s::uuid[], %(owners)s::text[],
                                    %(agents)s::text[], %(threads)s::text[]))))

-- name: unwithheld
-- What a row called "record" and its lineage say of it. The words of rows that do not pass
-- weigh nothing: else a score would tell whether a withheld text holds a word.
    (record.generation IS NULL
     OR record.generation = coalesce(
          (SELECT place.current_generation
             FROM prism_memory_scope AS place
            WHERE place.tenant = record.tenant AND place.id = record.scope_id),
          record.generation))
AND record.revoked_at IS NULL
AND (record.visible IS TRUE OR (record.visible IS NULL AND NOT %(strict)s::boolean))
AND (record.gate = 'open' OR %(include_quarantined)s::boolean)
AND (record.retired_at IS NULL OR %(include_retired)s::boolean)
AND (record.expires_at IS NULL OR record.expires_at > %(at)s::timestamptz)
AND (%(include_superseded)s::boolean
     OR ((record.valid_from IS NULL OR record.valid_from <= %(as_of)s::timestamptz)
         AND (record.valid_to IS NULL OR record.valid_to > %(as_of)s::timestamptz)))
-- A correction does not block the record whose words it put right, nor does the gate by
-- more than itself what it holds back, not even where that derives from itself in a
-- circle. IS TRUE keeps this a look-up per row; pulled up into a join, it would make the
-- planner think longer than the statement runs.
AND (NOT EXISTS (
      SELECT FROM prism_memory_tombstone AS stone
       WHERE stone.tenant = record.tenant
         AND stone.target_ref = 'record:' || record.id::text
         AND NOT (stone.reason IN ('corrected', 'quarantined')
                  AND stone.root_ref = stone.target_ref)
         AND stone.cleared_at IS NULL)) IS TRUE
AND (NOT EXISTS (
      SELECT FROM prism_memory_lineageedge AS edge
        JOIN prism_memory_tombstone AS stone
          ON stone.tenant = edge.tenant
         AND stone.target_ref = edge.source_ref
         AND stone.cleared_at IS NULL
       WHERE edge.tenant = record.tenant
         AND edge.record_id = record.id
         AND edge.source_ref <> 'record:' || record.id::text
         AND NOT (stone.reason IN ('corrected', 'quarantined')
                  AND stone.root_ref = 'record:' || record.id::text))) IS TRUE
AND {accessible}

-- name: everything
-- For readers who govern: restricted documents too.
TRUE

-- name: restricts
-- Whether the tenant restricts any document, or has what outlived one: asked once in a
-- statement, of indexes in which most have nothing there.
(SELECT EXISTS (
   SELECT FROM prism_memory_source AS source
    WHERE source.tenant = %(tenant)s::text AND source.restricted)
 OR EXISTS (
   SELECT FROM prism_memory_lineageedge AS edge
    WHERE edge.tenant = %(tenant)s::text
      AND edge.source_ref >= 'source:' AND edge.source_ref < 'source;'))

-- name: guarded
-- For the same readers where it is taken that the tenant restricts nothing: nothing at
-- all where it does. Even to plan the walk below costs more than to ask this.
NOT {restricts}

-- name: unrestricted
-- For readers without an authorization: no restricted document, and nothing that draws
-- upon one.
(NOT {restricts} OR {undrawn_at_all})

-- name: authorized
-- For readers with one: nothing that is, or draws upon, a restricted document without a
-- grant to them.
{undrawn_beyond_grants}

-- name: closed_to_all
source.restricted

-- name: closed_to_reader
source.restricted AND NOT {granted}

-- name: undrawn
-- Whether the row called "record" neither is of a closed document nor draws upon one. One
-- that is gone is closed. Most rows were derived from nothing: they are spared the walk.
((record.source_id IS NULL
  OR (NOT EXISTS (
        SELECT FROM prism_memory_source AS source
         WHERE source.tenant = %(tenant)s::text AND source.id = record.source_id
           AND {closed}
        OFFSET 0)) IS TRUE)
 AND ((NOT EXISTS (
         SELECT FROM prism_memory_lineageedge AS edge
          WHERE edge.tenant = %(tenant)s::text AND edge.record_id = record.id
            AND NOT starts_with(edge.source_ref, 'ext:')
         OFFSET 0)) IS TRUE
      OR (NOT EXISTS (
            {drawn}
            SELECT FROM drawn
             WHERE drawn.source_id IS NOT NULL
               AND (NOT EXISTS (
                     SELECT FROM prism_memory_source AS source
                      WHERE source.tenant = %(tenant)s::text
                        AND source.id = drawn.source_id
                        AND NOT ({closed})
                     OFFSET 0)) IS TRUE)) IS TRUE))

-- name: closed_at_all
-- Whether the row called "record" is, or draws upon, a restricted document without a
-- grant to who asks; whatever else they may read.
({restricts} AND NOT {undrawn_beyond_grants})

-- name: granted_alone
-- Beside it, for who shall see only what a grant speaks of: what is of no source, or of
-- one that is not restricted, has none.
(EXISTS (
   SELECT FROM prism_memory_source AS source
    WHERE source.tenant = %(tenant)s::text AND source.id = record.source_id
      AND source.restricted AND {granted}
   OFFSET 0)) IS TRUE

-- name: source_everything
-- What follows says the same of documents themselves: of the row called "source".
TRUE

-- name: source_unrestricted
NOT source.restricted

-- name: source_authorized
(NOT source.restricted OR {granted})

-- name: source_granted_alone
source.restricted

-- name: granted
-- Whether a grant lets the reader read the row called "source".
EXISTS (
  SELECT FROM prism_memory_sourceaccess AS given
   WHERE given.tenant = source.tenant
     AND given.source_id = source.id
     AND (given.principal, given.group_name) IN (
           SELECT * FROM unnest(%(reads_as)s::text[], %(reads_in)s::text[]))
     AND given.access_version = coalesce(%(reads_version)s::integer,
                                        given.access_version)
  OFFSET 0)

-- name: granted_once
-- The same, whatever version was asked for.
EXISTS (
  SELECT FROM prism_memory_sourceaccess AS given
   WHERE given.tenant = source.tenant
     AND given.source_id = source.id
     AND (given.principal, given.group_name) IN (
           SELECT * FROM unnest(%(reads_as)s::text[], %(reads_in)s::text[]))
  OFFSET 0)

-- name: denied
-- The restricted sources that some records draw upon and that the reader may not read,
-- and whether they might if the version were another; and those that are gone. Ids only.
SELECT DISTINCT upon.source_id AS id, {granted_once} AS granted_once
  FROM unnest(%(record_ids)s::uuid[]) AS given(id)
 CROSS JOIN LATERAL (
       SELECT record.id, record.source_id
         FROM prism_memory_record AS record
        WHERE record.tenant = %(tenant)s::text AND record.id = given.id
       OFFSET 0) AS record
 CROSS JOIN LATERAL ({drawn} SELECT drawn.source_id FROM drawn OFFSET 0) AS upon
  LEFT JOIN prism_memory_source AS source
    ON source.tenant = %(tenant)s::text AND source.id = upon.source_id
 WHERE upon.source_id IS NOT NULL
   AND (source.id IS NULL OR (source.restricted AND NOT {granted}))

-- name: drawn
-- The sources that the row called "record" draws upon: its own, those of what it was
-- derived from, however far, and those whose words it outlived. UNION ends where a circle
-- closes. No other row is called "record" here: Django's name for it takes that one's
-- place.
WITH RECURSIVE drawn(source_id, id) AS (
  SELECT record.source_id, record.id
  UNION
  SELECT ancestor.source_id, ancestor.id
    FROM drawn
   CROSS JOIN LATERAL (
         SELECT CASE WHEN starts_with(edge.source_ref, 'source:')
                     THEN substr(edge.source_ref, 8)::uuid
                     ELSE above.source_id END AS source_id, above.id
           FROM prism_memory_lineageedge AS edge
           LEFT JOIN LATERAL (
                SELECT above.source_id, above.id
                  FROM prism_memory_record AS above
                 WHERE above.tenant = %(tenant)s::text
                   AND above.id = CASE WHEN starts_with(edge.source_ref, 'record:')
                                       THEN substr(edge.source_ref, 8)::uuid END
                OFFSET 0) AS above ON TRUE
          WHERE edge.tenant = %(tenant)s::text AND edge.record_id = drawn.id
         OFFSET 0) AS ancestor)

-- name: kinds
-- This and what follows belongs to the rule where a reader narrows what they see.
    record.kind = ANY(%(kinds)s::text[])

-- name: tiers
    record.tier = ANY(%(tiers)s::text[])

-- name: namespaces
    record.namespace = ANY(%(namespaces)s::text[])

-- name: partition
    record.partition = %(partition)s::text

-- name: ids
    record.id = ANY(%(ids)s::uuid[])

-- name: tags
-- Whether the row called "record" has one of the tags. A tag alone may be a plain text.
    jsonb_typeof(record.metadata -> 'tags') IN ('array', 'string')
AND jsonb_exists_any(record.metadata -> 'tags', %(tags)s::text[])

-- name: shared_with
-- Whether a grant in force shares the row called "record" with a child thread. The names
-- decide here too.
(EXISTS (
   SELECT FROM prism_memory_sharegrant AS share
     JOIN prism_memory_sharegrantitem AS item
       ON item.tenant = share.tenant AND item.grant_id = share.id
     JOIN prism_memory_scope AS child
       ON child.tenant = share.tenant AND child.id = share.child_id
    WHERE share.tenant = record.tenant
      AND share.parent_id = record.scope_id
      AND share.child_id = %(child_id)s::uuid
      AND (share.expires_at IS NULL OR share.expires_at > %(at)s::timestamptz)
      AND item.record_id = record.id
      AND child.owner = %(child_owner)s::text
      AND child.agent = %(child_agent)s::text
      AND child.thread = %(child_thread)s::text)) IS TRUE

-- name: known_at
-- Whether the row called "record", which is in sight now, was there and in sight at an
-- earlier moment too, and before the gate, of whose past its own tombstone tells. What blocks it now has been asked; what was lifted since may have
-- blocked it then.
    record.created_at <= %(known_at)s::timestamptz
AND (record.granted_at IS NULL OR record.granted_at <= %(known_at)s::timestamptz)
AND (NOT EXISTS (
      SELECT FROM prism_memory_tombstone AS stone
       WHERE stone.tenant = record.tenant
         AND stone.target_ref = 'record:' || record.id::text
         AND NOT (stone.reason = 'corrected' AND stone.root_ref = stone.target_ref)
         AND stone.at <= %(known_at)s::timestamptz
         AND stone.cleared_at > %(known_at)s::timestamptz)) IS TRUE
AND (NOT EXISTS (
      SELECT FROM prism_memory_lineageedge AS edge
        JOIN prism_memory_tombstone AS stone
          ON stone.tenant = edge.tenant
         AND stone.target_ref = edge.source_ref
         AND stone.at <= %(known_at)s::timestamptz
         AND stone.cleared_at > %(known_at)s::timestamptz
       WHERE edge.tenant = record.tenant
         AND edge.record_id = record.id
         AND edge.source_ref <> 'record:' || record.id::text
         AND NOT (stone.reason IN ('corrected', 'quarantined')
                  AND stone.root_ref = 'record:' || record.id::text))) IS TRUE

-- name: changed
-- Whether the words, gate or consent of the row called "record" changed since it was
-- known; never without such a moment.
coalesce(record.changed_at > %(known_at)s::timestamptz, FALSE)

-- name: held
-- Whether a hold keeps the row called "record" from being deleted, or a fact that rests on
-- it, however far: a held fact keeps its evidence. Never a part of the rule above: a hold
-- keeps, and hides nothing. The recursion costs much even where it finds nothing, so only
-- what a fact rests on that others rest on pays for it.
({held_itself}
 OR EXISTS (
   SELECT FROM (SELECT evidence.fact_id
                  FROM prism_memory_evidence AS evidence
                 WHERE evidence.tenant = record.tenant AND evidence.record_id = record.id
                OFFSET 0) AS resting
    CROSS JOIN LATERAL (
          SELECT claim.tenant, claim.id, claim.source_id, claim.scope_id
            FROM prism_memory_record AS claim
           WHERE claim.tenant = record.tenant AND claim.id = resting.fact_id
          OFFSET 0) AS record
    WHERE {held_itself}
   OFFSET 0)
 OR (EXISTS (
       SELECT FROM (SELECT evidence.fact_id
                      FROM prism_memory_evidence AS evidence
                     WHERE evidence.tenant = record.tenant
                       AND evidence.record_id = record.id
                    OFFSET 0) AS resting
        CROSS JOIN LATERAL (
              SELECT FROM prism_memory_evidence AS evidence
               WHERE evidence.tenant = record.tenant
                 AND evidence.record_id = resting.fact_id
              OFFSET 0) AS upon
       OFFSET 0)
     AND EXISTS (
       WITH RECURSIVE resting(tenant, fact_id) AS (
         SELECT evidence.tenant, evidence.fact_id
           FROM prism_memory_evidence AS evidence
          WHERE evidence.tenant = record.tenant AND evidence.record_id = record.id
         UNION
         SELECT resting.tenant, evidence.fact_id
           FROM resting
          CROSS JOIN LATERAL (
                SELECT evidence.fact_id
                  FROM prism_memory_evidence AS evidence
                 WHERE evidence.tenant = resting.tenant
                   AND evidence.record_id = resting.fact_id
                OFFSET 0) AS evidence)
       SELECT FROM resting
        CROSS JOIN LATERAL (
              SELECT claim.tenant, claim.id, claim.source_id, claim.scope_id
                FROM prism_memory_record AS claim
               WHERE claim.tenant = resting.tenant AND claim.id = resting.fact_id
              OFFSET 0) AS record
        WHERE {held_itself})))

-- name: held_itself
-- Whether a hold keeps that row itself: one on the record, on its source, or on a scope
-- at or above its own; or one that a forgetting placed. OFFSET 0 keeps each a look-up per
-- row: for a few dozen rows the planner would read a whole table into a hash.
(EXISTS (
   SELECT FROM prism_memory_legalhold AS kept
    WHERE kept.tenant = record.tenant
      AND kept.released_at IS NULL
      AND kept.target_ref IN ('record:' || record.id::text,
                              'source:' || record.source_id::text)
   OFFSET 0)
 OR EXISTS (
   SELECT FROM (SELECT place.owner, place.agent, place.thread
                  FROM prism_memory_scope AS place
                 WHERE place.tenant = record.tenant AND place.id = record.scope_id
                OFFSET 0) AS home
    CROSS JOIN LATERAL (
          SELECT FROM prism_memory_legalhold AS kept
           WHERE kept.tenant = record.tenant
             AND kept.level = 'scope'
             AND kept.released_at IS NULL
             AND kept.owner = ANY(ARRAY['', home.owner])
             AND (kept.owner, kept.agent, kept.thread) IN (
                   ('', '', ''),
                   (home.owner, '', ''),
                   (home.owner, home.agent, ''),
                   (home.owner, home.agent, home.thread))
          OFFSET 0) AS over_it
   OFFSET 0)
 OR EXISTS (
   SELECT FROM prism_memory_tombstone AS stone
    WHERE stone.tenant = record.tenant
      AND stone.target_ref = 'record:' || record.id::text
      AND stone.hold
      AND stone.cleared_at IS NULL
   OFFSET 0))

-- name: source_placed
-- Whether the source called "source" is of the reader's scopes: that it is there, and
-- what it is called, but none of its words.
    source.tenant = %(tenant)s::text
AND source.scope_id = ANY(ARRAY(
      -- The names decide, not the hash.
      SELECT place.id
        FROM prism_memory_scope AS place
       WHERE place.tenant = %(tenant)s::text
         AND place.id = ANY(%(scope_ids)s::uuid[])
         AND (place.id, place.owner, place.agent, place.thread) IN (
               SELECT * FROM unnest(%(scope_ids)s::uuid[], %(owners)s::text[],
                                    %(agents)s::text[], %(threads)s::text[]))))
