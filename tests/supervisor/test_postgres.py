import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from brainsite.supervisor.child import is_running
from brainsite.supervisor.errors import StartError
from brainsite.supervisor.postgres import EmbeddedPostgres


def answer(server: EmbeddedPostgres, statement: str) -> object:
    with psycopg.connect(server.admin_url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
    assert row
    return row[0]


def show(server: EmbeddedPostgres, *names: str) -> list[object]:
    return [answer(server, f"SHOW {name}") for name in names]


def test_it_asks_for_the_password_and_listens_on_loopback_alone(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    assert show(postgres, "listen_addresses", "unix_socket_directories", "data_checksums", "server_encoding") == [
        *("127.0.0.1", "", "on", "UTF8")
    ]
    assert answer(postgres, "SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules") == "scram-sha-256"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(f"postgresql://postgres:wrong@127.0.0.1:{postgres.port}/postgres")


def test_the_log_holds_no_values(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (word text PRIMARY KEY)")
        connection.execute("INSERT INTO kept VALUES (%s)", ["canary"])
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO kept VALUES (%s)", ["canary"])
    log = postgres.log_file.read_text()
    assert "duplicate key" in log
    assert "canary" not in log


def test_killed_with_a_busy_connection_it_comes_back_with_the_data_on_the_same_port(
    postgres: EmbeddedPostgres,
) -> None:
    postgres.start()
    port = postgres.port
    with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT 1 AS n")
    assert postgres.process
    backend = psycopg.connect(postgres.admin_url)
    os.kill(postgres.process.pid, signal.SIGKILL)
    postgres.process.wait()
    postgres.start()
    assert (answer(postgres, "SELECT n FROM numbers"), postgres.port) == (1, port)
    with pytest.raises(psycopg.OperationalError):
        backend.execute("SELECT 1")
    backend.close()


def test_children_that_outlive_the_first_process_are_ended(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    assert postgres.process
    orphans = [process for process in postgres.processes() if process.pid != postgres.process.pid]
    os.kill(orphans[0].pid, signal.SIGSTOP)  # this one cannot see that the first process is gone
    os.kill(postgres.process.pid, signal.SIGKILL)
    postgres.process.wait()
    postgres.start()
    assert [process.pid for process in orphans if is_running(process)] == []


def test_a_stale_pid_file_does_not_block(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    postgres.stop()
    pid_file = postgres.cluster / "postmaster.pid"
    zombie = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)  # ended, not reaped
    for number in (zombie.pid, os.getpid()):
        pid_file.write_text(f"{number}\n{postgres.cluster}\n1\n{postgres.port}\n\n127.0.0.1\n        0         0\n")
        postgres.start()
        assert answer(postgres, "SELECT 1") == 1
        postgres.stop()
    zombie.wait()


def test_its_port_is_remembered_and_a_busy_one_replaced(postgres: EmbeddedPostgres, data_dir: Path) -> None:
    postgres.start()
    again = EmbeddedPostgres(data_dir, password=postgres.password)
    again.start()  # ends the one before: only one may use a data folder, which the lock of `up` sees to
    assert (again.port, postgres.is_alive()) == (postgres.port, False)
    again.stop()
    with socket.create_server(("127.0.0.1", postgres.port)):
        other = EmbeddedPostgres(data_dir, password=postgres.password)
        other.start()
        assert other.port != postgres.port
        assert answer(other, "SELECT 1") == 1
        other.stop()


def test_another_major_version_is_refused(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    postgres.stop()
    version = postgres.cluster / "PG_VERSION"
    right = version.read_text()
    version.write_text("12\n")
    with pytest.raises(StartError, match="made by Postgres 12; this Brain brings Postgres 18"):
        postgres.start()
    version.write_text(right)


def test_an_interrupted_first_start_is_done_over(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    postgres.stop()
    part = postgres.cluster.rename(postgres.cluster.with_name("cluster.part"))
    postgres.start()
    assert (answer(postgres, "SELECT 1"), part.exists()) == (1, False)
