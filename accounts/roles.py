"""The database's roles, logins and extension: the one thing that needs a superuser, once.

Roles belong to the cluster, not to the database. `brain_app` and `brain_agent_app` hold nothing on tenant tables by
themselves; they may only SET ROLE to the door roles, and the agents' login only to the agents' role.
"""

from dataclasses import dataclass

import psycopg
from psycopg import sql

from accounts.walls import ROLES

TEMPLATE = "brain_template"  # for tests: `vector` is not a trusted extension, so the owner cannot create it


@dataclass(frozen=True, slots=True)
class Passwords:
    app: str
    agent: str
    migrator: str
    dump: str


def prepare_cluster(admin_url: str, passwords: Passwords, *, for_tests: bool = False) -> None:
    """Make or refresh roles, database and extension. Safe to run again. `admin_url` names the database to make.

    for_tests: the owner may create databases, from a template that has the extension.
    """
    database = str(psycopg.conninfo.conninfo_to_dict(admin_url).get("dbname") or "brain")
    maintenance = psycopg.conninfo.make_conninfo(admin_url, dbname="postgres")
    with psycopg.connect(maintenance, autocommit=True, connect_timeout=5) as connection:
        for role in ROLES:
            _role(connection, role, "NOLOGIN")
        _role(connection, "brain_migrator", "LOGIN CREATEDB" if for_tests else "LOGIN NOCREATEDB", passwords.migrator)
        _role(connection, "brain_app", "LOGIN NOINHERIT", passwords.app)
        _role(connection, "brain_agent_app", "LOGIN NOINHERIT", passwords.agent)
        for role in ROLES:
            _member(connection, role, "brain_app")
        _member(connection, "brain_agent", "brain_agent_app")
        _backup_login(connection, passwords.dump)
        for name in (database, *([TEMPLATE] if for_tests else [])):
            _database(connection, name)
            with psycopg.connect(psycopg.conninfo.make_conninfo(admin_url, dbname=name), autocommit=True) as inside:
                _extension(inside)


def _role(connection: psycopg.Connection, name: str, attributes: str, password: str | None = None) -> None:
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone()
    statement = sql.SQL("{} ROLE {} WITH " + attributes).format(
        sql.SQL("ALTER" if known else "CREATE"), sql.Identifier(name)
    )
    if password is not None:
        statement += sql.SQL(" PASSWORD {}").format(sql.Literal(password))
    connection.execute(statement)


def _member(connection: psycopg.Connection, role: str, login: str) -> None:
    connection.execute(
        sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE, ADMIN FALSE").format(
            sql.Identifier(role), sql.Identifier(login)
        )
    )


def _backup_login(connection: psycopg.Connection, password: str) -> None:
    try:
        _role(connection, "brain_dump", "LOGIN BYPASSRLS", password)
        connection.execute("GRANT pg_read_all_data TO brain_dump")
        connection.execute("ALTER ROLE brain_dump SET default_transaction_read_only = on")
    except psycopg.errors.InsufficientPrivilege:
        # a managed Postgres keeps BYPASSRLS to itself and brings backups of its own
        connection.execute("DROP ROLE IF EXISTS brain_dump")


def _database(connection: psycopg.Connection, name: str) -> None:
    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    connection.execute(sql.SQL("GRANT brain_migrator TO CURRENT_USER WITH INHERIT TRUE, SET TRUE"))
    connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO brain_migrator").format(sql.Identifier(name)))
    connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(name)))
    for login in ("brain_app", "brain_agent_app", "brain_dump"):
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [login]).fetchone():
            connection.execute(
                sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(name), sql.Identifier(login))
            )


def _extension(connection: psycopg.Connection) -> None:
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise RuntimeError(
            "DATABASE_URL: this login may not create the extension `vector`; ask the server's administrator to run "
            "CREATE EXTENSION vector in this database"
        ) from error
