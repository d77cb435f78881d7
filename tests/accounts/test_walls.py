"""The second wall, cell by cell: what each door's role can do to each table of each kind of brain, own or foreign."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import ProgrammingError, connections, transaction
from django.db.utils import DataError, IntegrityError
from psycopg.types.json import Jsonb

from accounts.actor import DOOR_ROLES, Actor, BrainRef, Door, Scope
from accounts.models import Brain
from accounts.startup import unsafe_login
from accounts.walls import ROLES, TENANT_TABLES, Table, apply_walls, catalogue
from tests.accounts.rows import CANARY, fill, stored, tenant_models
from tests.cast import Cast

PINNED = Path(__file__).parent / "walls.txt"
DOOR_OF = {
    "brain_person": Door.PERSON,
    "brain_agent": Door.AGENT,
    "brain_worker": Door.JOB,
    "brain_curator": Door.ADMIN,
}
SHARED_ONLY = ("brain_agent", "brain_curator")


class Undo(Exception):
    """Rolls a probe back."""


@pytest.fixture
def brains(cast: Cast) -> dict[str, Brain]:
    found = {
        "personal": Brain.objects.get(owner=cast.ann.user),
        "corporate": Brain.objects.get(organization=cast.acme, scope="corporate"),
        "agent": Brain.objects.get(organization=cast.acme, scope="agent"),
    }
    for brain in found.values():
        fill(brain)
    return found


def actor_as(role: str, brains: list[Brain]) -> Actor:
    refs = tuple(BrainRef(brain.id, Scope(brain.scope)) for brain in brains)
    return Actor(door=DOOR_OF[role], readable=refs, writable=refs)


def probe(actor: Actor, table: str, verb: str, brain: Brain) -> str:
    """What the database says: denied, or whether the statement reached the brain's row. Nothing stays changed."""
    row = stored(table, brain)
    column = next(name for name in row if name not in ("id", "brain_id", "scope"))
    one = [brain.id, row["id"]]
    statements: dict[str, tuple[str, list[Any]]] = {
        "S": (f"SELECT * FROM {table} WHERE brain_id = %s AND id = %s", one),
        "U": (f"UPDATE {table} SET {column} = {column} WHERE brain_id = %s AND id = %s", one),
        "D": (f"DELETE FROM {table} WHERE brain_id = %s AND id = %s", one),
        "I": (
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})",
            [Jsonb(value) if isinstance(value, dict) else value for value in row.values()],
        ),
    }
    outcome = "denied"
    try:
        with actor.session(), connections[actor.alias].cursor() as cursor:
            cursor.execute(*statements[verb])
            outcome = f"{cursor.rowcount} rows"
            raise Undo
    except Undo:
        return outcome
    except IntegrityError:
        return "1 rows"  # the policy let it in: it met the row that is there already
    except ProgrammingError:
        return "denied"


def expected(table: Table, role: str, verb: str, brain: Brain, *, named: bool) -> str:
    if verb not in table.verbs(role):
        return "denied"
    open_to_role = brain.scope != "personal" or role not in SHARED_ONLY
    reached = (named and open_to_role) or (table.claimable and role == "brain_worker" and verb in "SU")
    return "1 rows" if reached else ("denied" if verb == "I" else "0 rows")


@pytest.mark.parametrize("role", ROLES)
def test_every_cell_of_the_database(brains: dict[str, Brain], role: str) -> None:
    seen, wanted = {}, {}
    for table in TENANT_TABLES:
        for scope, brain in brains.items():
            others = [other for other in brains.values() if other is not brain]
            for verb in "SIUD":
                for named, actor in ((True, actor_as(role, [brain])), (False, actor_as(role, others))):
                    cell = (table.name, scope, verb, named)
                    seen[cell] = probe(actor, table.name, verb, brain)
                    wanted[cell] = expected(table, role, verb, brain, named=named)
    assert seen == wanted
    assert "1 rows" in seen.values()


def test_every_tenant_model_is_walled() -> None:
    assert sorted(model._meta.db_table for model in tenant_models()) == sorted(table.name for table in TENANT_TABLES)


def test_without_a_session_everything_is_denied(brains: dict[str, Brain]) -> None:
    for alias in ("default", "agent"):
        for table in TENANT_TABLES:
            with pytest.raises(ProgrammingError, match="permission denied"), connections[alias].cursor() as cursor:
                cursor.execute(f"SELECT 1 FROM {table.name}")


def test_a_role_without_brains_is_an_error_not_an_empty_list(brains: dict[str, Brain]) -> None:
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute("SET LOCAL ROLE brain_person")
        with pytest.raises((ProgrammingError, DataError)):
            cursor.execute("SELECT 1 FROM memory_message")


def test_the_agents_login_can_become_no_other_role(cast: Cast) -> None:
    for role in ("brain_person", "brain_worker", "brain_curator", "brain_migrator"):
        with pytest.raises(ProgrammingError, match="permission denied to set role"), transaction.atomic(using="agent"):
            connections["agent"].cursor().execute(f"SET LOCAL ROLE {role}")


def test_a_forged_list_shows_an_agent_no_personal_row(brains: dict[str, Brain]) -> None:
    actor = actor_as("brain_agent", list(brains.values()))
    with actor.session(), connections["agent"].cursor() as cursor:
        cursor.execute("SELECT scope FROM memory_message ORDER BY 1")
        assert cursor.fetchall() == [("agent",), ("corporate",)]


def test_brain_and_scope_never_change_even_by_raw_sql(brains: dict[str, Brain]) -> None:
    actor = actor_as("brain_worker", list(brains.values()))
    for column in ("brain_id", "scope", "id"):
        with pytest.raises(ProgrammingError, match="permission denied"), actor.session():
            connections["default"].cursor().execute(f"UPDATE memory_message SET {column} = {column}")


def test_a_row_cannot_lie_about_its_scope(brains: dict[str, Brain]) -> None:
    actor = actor_as("brain_person", [brains["personal"]])
    lie: dict[str, Any] = {"id": uuid4(), "brain": brains["personal"].id, "scope": "corporate"}
    with pytest.raises(IntegrityError, match="brain_scope"), actor.session():
        connections["default"].cursor().execute(
            "INSERT INTO memory_removedentry (id, brain_id, scope, entry_id, revision)"
            " VALUES (%(id)s, %(brain)s, %(scope)s, %(id)s, 1)",
            lie,
        )


def test_a_child_cannot_hang_on_another_brains_parent(brains: dict[str, Brain]) -> None:
    foreign = stored("memory_recallfile", brains["personal"])["id"]
    actor = actor_as("brain_person", [brains["corporate"]])
    values: dict[str, Any] = {"id": uuid4(), "brain": brains["corporate"].id, "file": foreign}
    columns = "id, brain_id, scope, recall_file_id, position, role, speaker, content, details"
    row = "%(id)s, %(brain)s, 'corporate', %(file)s, 9, 'user', '', 'x', '{}'"
    with pytest.raises(IntegrityError, match="recall_file_id"), actor.session():
        connections["default"].cursor().execute(f"INSERT INTO memory_message ({columns}) VALUES ({row})", values)


def test_operations_are_append_only(brains: dict[str, Brain]) -> None:
    for verb in ("UPDATE accounts_operation SET verb = 'x'", "DELETE FROM accounts_operation"):
        for role in ROLES:
            actor = actor_as(role, [brains["corporate"]])
            with pytest.raises(ProgrammingError, match="permission denied"), actor.session():
                connections[actor.alias].cursor().execute(verb)


def test_nobody_truncates_or_copies(brains: dict[str, Brain]) -> None:
    for role in ROLES:
        actor = actor_as(role, [brains["corporate"]])
        for statement in ("TRUNCATE memory_message", "COPY memory_message FROM PROGRAM 'true'"):
            with pytest.raises(ProgrammingError), actor.session():
                connections[actor.alias].cursor().execute(statement)


def test_the_owner_sees_rows_only_while_migrating(brains: dict[str, Brain]) -> None:
    with transaction.atomic(using="migrator"), connections["migrator"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_message WHERE content = %s", [CANARY])
        assert cursor.fetchone() == (3,)
        cursor.execute("SET LOCAL brain.migrating = off")
        cursor.execute("SELECT count(*) FROM memory_message")
        assert cursor.fetchone() == (0,)


def test_logins_are_safe_to_serve_with(cast: Cast) -> None:
    assert unsafe_login("default") == []
    assert unsafe_login("agent") == []
    assert "memory_message" in " ".join(unsafe_login("migrator"))


def test_the_catalogue_is_the_pinned_one(cast: Cast) -> None:
    """A change of roles, policies or grants is made on purpose: replace walls.txt by walls.actual, read the diff."""
    actual = PINNED.with_suffix(".actual")
    actual.write_text(catalogue())
    assert actual.read_text() == PINNED.read_text()
    actual.unlink()
    assert catalogue("agent") == catalogue()


MUTATIONS = [
    "ALTER TABLE memory_message NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE memory_message DISABLE ROW LEVEL SECURITY",
    "DROP POLICY brain_person_select ON memory_message",
    "ALTER POLICY brain_agent_select ON memory_message USING (true)",
    "ALTER POLICY brain_curator_select ON memory_message"
    " USING (brain_id = ANY (current_setting('brain.readable')::uuid[]))",
    "ALTER POLICY brain_person_update ON memory_message WITH CHECK (true)",
    "CREATE POLICY extra ON memory_message FOR SELECT TO brain_person USING (true)",
    "GRANT SELECT ON memory_message TO brain_app",
    "GRANT UPDATE (brain_id) ON memory_message TO brain_person",
    "GRANT DELETE ON accounts_operation TO brain_person",
    "GRANT INSERT ON memory_message TO PUBLIC",
    "GRANT SELECT (content) ON memory_message TO brain_agent_app",
    "CREATE VIEW everything AS SELECT * FROM memory_message",
    "CREATE FUNCTION peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM memory_message'",
    "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO brain_person",
    "CREATE TABLE memory_secret (brain_id uuid)",
]
SEEN_AT_START = [*MUTATIONS[:2], MUTATIONS[7], MUTATIONS[11], MUTATIONS[12], MUTATIONS[15]]


@pytest.fixture
def mutated(cast: Cast, request: pytest.FixtureRequest) -> Iterator[None]:
    with transaction.atomic(using="migrator"):
        connections["migrator"].cursor().execute(request.param)
        yield
        transaction.set_rollback(True, using="migrator")


@pytest.mark.parametrize("mutated", MUTATIONS, indirect=True, ids=range(len(MUTATIONS)))
def test_every_change_to_the_walls_is_noticed(mutated: None) -> None:
    assert catalogue("migrator") != PINNED.read_text()


@pytest.mark.parametrize("mutation", SEEN_AT_START, ids=range(len(SEEN_AT_START)))
def test_a_process_refuses_to_serve_behind_a_broken_wall(cast: Cast, mutation: str) -> None:
    connections["migrator"].cursor().execute(mutation)
    broken = unsafe_login("default") + unsafe_login("agent")
    connections["migrator"].cursor().execute("DROP VIEW IF EXISTS everything; DROP TABLE IF EXISTS memory_secret")
    apply_walls()
    assert broken != []
    assert unsafe_login("default") + unsafe_login("agent") == []


def test_walls_can_be_applied_again(cast: Cast) -> None:
    apply_walls()
    assert catalogue() == PINNED.read_text()


def test_each_door_has_a_role_and_a_login() -> None:
    assert {role for role, _ in DOOR_ROLES.values()} == set(ROLES)
    assert {door for door, (_, alias) in DOOR_ROLES.items() if alias == "agent"} == {
        Door.AGENT,
        Door.CONTEXT,
        Door.INTENT,
    }


def test_every_login_may_enter_the_database_and_nobody_else(cast: Cast) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT rolname FROM pg_roles WHERE has_database_privilege(oid, 'brain', 'CONNECT') AND NOT rolsuper"
        )
        may = {name for (name,) in cursor.fetchall()}
    assert may == {"brain_migrator", "brain_app", "brain_agent_app", "brain_dump"}
