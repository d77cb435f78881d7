"""The second wall as data: which role may do what to which table. Applied in one transaction after every migrate.

A table named nowhere here is closed to every login. Policies AND their conditions in one policy per role and verb:
never RESTRICTIVE and never a sub-select, because a distributed Postgres ships the first as permissive and refuses the
second (docs/decisions/0004-two-walls.md).
"""

from dataclasses import dataclass
from typing import Any

from django.db import connections, transaction

LOGINS = ("brain_app", "brain_agent_app")
ROLES = ("brain_person", "brain_agent", "brain_worker", "brain_curator")

READ = "brain_id = ANY (current_setting('brain.readable')::uuid[])"
WRITE = "brain_id = ANY (current_setting('brain.writable')::uuid[])"
SHARED = "scope <> 'personal'"  # in the agents' and curators' own policies: no list of brains can lift it
ANY_BRAIN = "true"  # only for the worker's claim of jobs, which hold ids and no content

VERBS = {
    "S": ("SELECT", "USING ({read})"),
    "I": ("INSERT", "WITH CHECK ({write})"),
    "U": ("UPDATE", "USING ({write}) WITH CHECK ({write})"),
    "D": ("DELETE", "USING ({write})"),
}
NEVER_UPDATED = ("id", "brain_id", "scope")


@dataclass(frozen=True, slots=True)
class Table:
    """Verbs per role, as letters of SIUD. `claimable`: the worker reads and updates it whatever brains it named."""

    name: str
    person: str = ""
    agent: str = ""
    worker: str = ""
    curator: str = ""
    claimable: bool = False

    def verbs(self, role: str) -> str:
        return str(getattr(self, role.removeprefix("brain_")))

    def condition(self, role: str, verb: str, names: str) -> str:
        if self.claimable and role == "brain_worker" and verb in "SU":
            return ANY_BRAIN
        return f"{names} AND {SHARED}" if role in ("brain_agent", "brain_curator") else names


TENANT_TABLES = (
    Table("accounts_operation", person="SI", agent="I", worker="SI", curator="SI"),
    Table("accounts_operationpayload", person="SID", agent="I", worker="SID", curator="SI"),
    Table("graph_node", person="SIUD", agent="S", worker="SIUD", curator="S"),
    Table("graph_nodememory", person="SIUD", agent="S", worker="SIUD", curator="S"),
    Table("graph_noderelationship", person="SIUD", agent="S", worker="SIUD", curator="S"),
    Table("graph_nodeindex", person="SIUD", agent="S", worker="SIUD", curator="S"),
    Table("memory_recallfile", person="SIUD", agent="SI", worker="SIUD", curator="S"),
    Table("memory_message", person="SIUD", agent="SI", worker="SIUD", curator="S"),
    Table("memory_revision", person="SID", agent="", worker="SID", curator="S"),
    Table("memory_ragentry", person="SIUD", agent="SI", worker="SIUD", curator="S"),
    Table("memory_ragembedding", person="SUD", agent="S", worker="SIUD", curator="S"),
    Table("memory_corpusversion", person="SIU", agent="S", worker="SIU"),
    Table("memory_removedentry", person="SID", agent="S", worker="SID"),
    Table("memory_job", person="SIU", agent="I", worker="SIU", curator="S", claimable=True),
    Table("memory_idempotencykey", person="SI", agent="SI", worker="SID"),
)

# Global tables: what the people's login may do by itself, outside any session.
GLOBAL_TABLES = {
    "accounts_organization": "SIU",
    "accounts_user": "SIUD",
    "accounts_user_groups": "SIUD",
    "accounts_user_user_permissions": "SIUD",
    "accounts_membership": "SIUD",
    "accounts_agent": "SIU",
    "accounts_brain": "SI",
    "accounts_brainkey": "SIUD",
    "memory_embeddingmodel": "SIU",
    "auth_group": "SIUD",
    "auth_group_permissions": "SIUD",
    "auth_permission": "S",
    "django_admin_log": "SI",
    "django_content_type": "S",
    "django_migrations": "S",
    "django_session": "SIUD",
}
# Global tables that are touched inside a session, by role.
IN_SESSION = {
    "brain_person": {"memory_embeddingmodel": "S"},
    "brain_agent": {"memory_embeddingmodel": "S"},
    "brain_worker": {"memory_embeddingmodel": "S"},
    "brain_curator": {
        "django_admin_log": "SI",
        "django_content_type": "S",
        "auth_permission": "S",
        "auth_group": "S",
        "auth_group_permissions": "S",
        "accounts_user": "S",
        "accounts_user_groups": "S",
        "accounts_user_user_permissions": "S",
        "accounts_brain": "S",
        "accounts_organization": "S",
    },
}


def apply_walls(using: str = "migrator") -> None:
    """Close every table, then open what is named above. Tables that are not there (migrating backwards) are skipped."""
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        present = {name for (name,) in cursor.fetchall()}
        everyone = ", ".join((*LOGINS, *ROLES))
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {everyone}")
        for name in sorted(present):
            cursor.execute(f'REVOKE ALL ON "{name}" FROM PUBLIC, {everyone}')
        cursor.execute(f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, {everyone}")
        for name, verbs in GLOBAL_TABLES.items():
            if name in present:
                _grant(cursor, name, verbs, "brain_app")
        for role, tables in IN_SESSION.items():
            for name, verbs in tables.items():
                if name in present:
                    _grant(cursor, name, verbs, role)
        for table in TENANT_TABLES:
            if table.name in present:
                _wall(cursor, table)


def _columns(cursor: Any, table: str) -> list[str]:
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s"
        " AND is_generated = 'NEVER' ORDER BY ordinal_position",
        [table],
    )
    return [name for (name,) in cursor.fetchall()]


def _grant(cursor: Any, table: str, verbs: str, role: str) -> None:
    named = ", ".join(VERBS[verb][0] for verb in verbs)
    cursor.execute(f'GRANT {named} ON "{table}" TO {role}')
    if "I" in verbs:
        cursor.execute(
            "SELECT pg_get_serial_sequence(%s, 'id') WHERE EXISTS (SELECT FROM information_schema.columns"
            " WHERE table_schema = 'public' AND table_name = %s AND column_name = 'id')",
            [table, table],
        )
        row = cursor.fetchone()
        if row and row[0]:
            cursor.execute(f"GRANT USAGE ON SEQUENCE {row[0]} TO {role}")


def _wall(cursor: Any, table: Table) -> None:
    cursor.execute(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    cursor.execute("SELECT policyname FROM pg_policies WHERE schemaname = 'public' AND tablename = %s", [table.name])
    for (policy,) in cursor.fetchall():
        cursor.execute(f'DROP POLICY "{policy}" ON {table.name}')
    # data migrations see rows only through the login that says it is migrating
    cursor.execute(
        f"CREATE POLICY migrator ON {table.name} TO brain_migrator"
        " USING (current_setting('brain.migrating')::bool) WITH CHECK (current_setting('brain.migrating')::bool)"
    )
    updatable = ", ".join(name for name in _columns(cursor, table.name) if name not in NEVER_UPDATED)
    for role in ROLES:
        for letter in table.verbs(role):
            verb, template = VERBS[letter]
            cursor.execute(f"GRANT {verb}{f' ({updatable})' if letter == 'U' else ''} ON {table.name} TO {role}")
            rule = template.format(read=table.condition(role, letter, READ), write=table.condition(role, letter, WRITE))
            cursor.execute(f"CREATE POLICY {role}_{verb.lower()} ON {table.name} FOR {verb} TO {role} {rule}")


def catalogue(using: str = "default") -> str:
    """Roles, memberships, table flags, policies, grants and functions as one sorted text, equal for every login.

    Read from pg_catalog: information_schema hides what the asking role may not see.
    """
    with connections[using].cursor() as cursor:
        cursor.execute(_CATALOGUE)
        return "\n".join(sorted(line for (line,) in cursor.fetchall())) + "\n"


_CATALOGUE = """
WITH names AS (SELECT oid, rolname FROM pg_roles WHERE rolname LIKE 'brain\\_%'),
ours AS (SELECT c.oid, c.relname, c.relkind, c.relacl, c.relrowsecurity, c.relforcerowsecurity, c.relowner, c.reloptions
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v', 'm', 'S'))
SELECT format('role %s super=%s bypass=%s createrole=%s createdb=%s login=%s inherit=%s config=%s', rolname,
       rolsuper,
       rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin, rolinherit, rolconfig)
  FROM pg_roles WHERE rolname LIKE 'brain\\_%'
UNION ALL SELECT format('member %s of %s admin=%s inherit=%s set=%s', m.rolname, g.rolname, a.admin_option,
       a.inherit_option, a.set_option) FROM pg_auth_members a JOIN names m ON m.oid = a.member
  JOIN pg_roles g ON g.oid = a.roleid
UNION ALL SELECT format('table %s kind=%s owner=%s rls=%s force=%s options=%s', relname, relkind,
       (SELECT rolname FROM pg_roles WHERE oid = relowner), relrowsecurity, relforcerowsecurity, reloptions)
  FROM ours
UNION ALL SELECT format('policy %s %s %s permissive=%s using=%s check=%s roles=%s', o.relname, p.polname, p.polcmd,
       p.polpermissive,
       pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid),
       ARRAY(SELECT rolname FROM pg_roles WHERE oid = ANY (p.polroles) ORDER BY 1))
  FROM pg_policy p JOIN ours o ON o.oid = p.polrelid
UNION ALL SELECT format('grant %s %s to %s grantable=%s', o.relname, a.privilege_type,
       coalesce(r.rolname, 'PUBLIC'), a.is_grantable)
  FROM ours o CROSS JOIN LATERAL aclexplode(o.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee
  WHERE a.grantee <> o.relowner
UNION ALL SELECT format('grant %s.%s %s to %s grantable=%s', o.relname, t.attname, a.privilege_type,
       coalesce(r.rolname, 'PUBLIC'), a.is_grantable)
  FROM ours o JOIN pg_attribute t ON t.attrelid = o.oid CROSS JOIN LATERAL aclexplode(t.attacl) a
  LEFT JOIN pg_roles r ON r.oid = a.grantee
UNION ALL SELECT format('function %s definer=%s owner=%s acl=%s', p.proname, p.prosecdef,
       (SELECT rolname FROM pg_roles WHERE oid = p.proowner), p.proacl)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname = 'public' AND p.proowner IN (SELECT oid FROM names)
UNION ALL SELECT format('default privileges %s %s %s', (SELECT rolname FROM pg_roles WHERE oid = defaclrole),
       defaclobjtype, defaclacl)
  FROM pg_default_acl
"""
