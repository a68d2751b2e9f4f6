-- Parameters are %(name)s and are bound by the driver; {table}, {policy} and {role} are
-- quoted names.

-- name: enable
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- name: create_policy
-- Where nothing is set, nothing is equal to it: a connection that was used before has ''
-- there, which must not stand for the rows of the installation, whose tenant is ''.
CREATE POLICY {policy} ON {table}
 USING (tenant = nullif(current_setting('prism_memory.tenant', true), '')
        OR (tenant = '' AND current_setting('prism_memory.tenant', true) = {nobody}))
 WITH CHECK (tenant = nullif(current_setting('prism_memory.tenant', true), '')
        OR (tenant = '' AND current_setting('prism_memory.tenant', true) = {nobody}));

-- name: disable
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;

-- name: drop_policy
DROP POLICY IF EXISTS {policy} ON {table};

-- name: grant
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {role};

-- name: grant_reading
GRANT SELECT ON {table} TO {role};

-- name: sequences
-- Those that number the rows of tables.
SELECT sequence.relname AS name
  FROM pg_depend AS depends
  JOIN pg_class AS sequence ON sequence.oid = depends.objid AND sequence.relkind = 'S'
 WHERE depends.classid = 'pg_class'::regclass
   AND depends.refclassid = 'pg_class'::regclass
   AND depends.deptype IN ('a', 'i')
   AND depends.refobjid = ANY(SELECT to_regclass(name)
                                FROM unnest(%(tables)s::text[]) AS name);

-- name: grant_sequence
GRANT USAGE, SELECT ON SEQUENCE {table} TO {role};

-- name: states
SELECT class.relname AS table, class.relrowsecurity AS enabled,
       class.relforcerowsecurity AS forced,
       policy.oid IS NOT NULL AS policy,
       pg_get_userbyid(class.relowner) AS owner,
       pg_has_role(current_user, class.relowner, 'USAGE') AS is_owner
  FROM pg_class AS class
  LEFT JOIN pg_policy AS policy
    ON policy.polrelid = class.oid AND policy.polname = %(policy)s::text
 WHERE class.oid = ANY(SELECT to_regclass(name)
                         FROM unnest(%(tables)s::text[]) AS name)
 ORDER BY class.relname;

-- name: role
SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses,
       EXISTS (SELECT FROM unnest(%(owners)s::text[]) AS owner
                WHERE pg_has_role(rolname, owner, 'MEMBER')) AS owns
  FROM pg_roles WHERE rolname = %(role)s::text;

-- name: current_role
SELECT rolname AS name, rolsuper AS superuser, rolbypassrls AS bypasses
  FROM pg_roles WHERE rolname = current_user;

-- name: leakproof
-- Whether the operator of full text may be asked before the policies are. It is not, as
-- PostgreSQL comes: then its index serves no statement under a policy.
SELECT proleakproof AS leakproof FROM pg_proc
 WHERE oid = 'ts_match_vq(tsvector, tsquery)'::regprocedure;

-- name: make_leakproof
ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF;
