"""The check at start: a process refuses to serve with a database login that the walls would not stop."""

from django.db import connections

from accounts.walls import TENANT_TABLES

_QUERY = r"""
WITH me AS (SELECT oid, rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb
           FROM pg_roles WHERE rolname = session_user),
reach AS (SELECT r.* FROM pg_roles r, me WHERE pg_has_role(me.oid, r.oid, 'MEMBER') AND r.oid <> me.oid),
tenant AS (SELECT c.oid, c.relname, c.relowner, c.relrowsecurity, c.relforcerowsecurity
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
             AND EXISTS (SELECT FROM pg_attribute a
                         WHERE a.attrelid = c.oid AND a.attname = 'brain_id' AND NOT a.attisdropped))
SELECT format('%%s is superuser, BYPASSRLS, CREATEROLE or CREATEDB', rolname) FROM me
  WHERE rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb
UNION ALL SELECT format('the login can become %%s', rolname) FROM reach WHERE rolsuper OR rolbypassrls OR rolcreaterole
UNION ALL SELECT format('the login or a role it can become owns %%s', relname) FROM tenant, me
  WHERE relowner = me.oid OR relowner IN (SELECT oid FROM reach)
UNION ALL SELECT format('the login itself has rights on %%s', relname) FROM tenant
  WHERE has_table_privilege(session_user, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
     OR has_any_column_privilege(session_user, oid, 'SELECT, INSERT, UPDATE')
UNION ALL SELECT format('%%s has no forced row level security', relname) FROM tenant
  WHERE NOT (relrowsecurity AND relforcerowsecurity)
UNION ALL SELECT format('view %%s runs with its owner''s rights', c.relname)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind IN ('v', 'm')
    AND c.relowner IN (SELECT oid FROM pg_roles WHERE rolname LIKE 'brain\_%%')
    AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false)
UNION ALL SELECT format('table %%s is missing', name) FROM unnest(%s::text[]) AS name
  WHERE name NOT IN (SELECT relname FROM tenant)
"""


def unsafe_login(using: str) -> list[str]:
    """What makes this connection's login unfit to serve; empty when it is safe. One query."""
    with connections[using].cursor() as cursor:
        cursor.execute(_QUERY, [[table.name for table in TENANT_TABLES]])
        return [line for (line,) in cursor.fetchall()]
