"""Brain's own processes: the web server, the worker, the clock (beat), and the one that prepares the database."""

import http.client
import json
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from brainsite.environment import CHECKOUT
from brainsite.supervisor.account import own_account
from brainsite.supervisor.child import Child, ChildError

POOL_CONNECTIONS = "10"
GRACE_SECONDS = 8
ANSWER_SECONDS = 0.5


class Program(Child):
    """A Python process of the checkout. Its environment holds the logins that it needs, and no others."""

    def __init__(self, data_dir: Path, variables: Mapping[str, str]) -> None:
        super().__init__(data_dir, own_account())
        self.variables = variables

    def environment(self) -> Mapping[str, str]:
        return {**self.variables, "PYTHONUNBUFFERED": "1"}

    def folder(self) -> Path:
        return CHECKOUT


class Web(Program):
    """Takes its listening socket from the supervisor: the port stays ours, and who calls during a restart waits a
    moment instead of being refused."""

    name = "web"
    stop_seconds = GRACE_SECONDS + 1.0

    def __init__(self, data_dir: Path, variables: Mapping[str, str], listener: socket.socket) -> None:
        super().__init__(data_dir, variables)
        self.listener = listener

    def command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "uvicorn", "brainsite.asgi:application"),
            *("--fd", str(self.listener.fileno())),
            *("--timeout-graceful-shutdown", str(GRACE_SECONDS)),
            *("--log-level", "warning", "--no-access-log", "--no-server-header"),
            # only where a proxy is known to stand in front may a header say who is calling
            "--proxy-headers" if self.variables.get("BRAIN_PUBLIC_URL") else "--no-proxy-headers",
        ]

    def environment(self) -> Mapping[str, str]:
        return {"BRAIN_DB_POOL": POOL_CONNECTIONS, **super().environment()}

    def handles(self) -> Sequence[int]:
        return [self.listener.fileno()]

    def is_ready(self) -> bool:
        host, port = self.listener.getsockname()[:2]
        connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/readyz", headers={"Host": f"localhost:{port}"})
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class CeleryProgram(Program):
    """Ready once it has touched the file that BRAIN_READY_FILE names."""

    @property
    def ready_file(self) -> Path:
        return self.data_dir / "run" / f"{self.name}.ready"

    def environment(self) -> Mapping[str, str]:
        return {**super().environment(), "BRAIN_READY_FILE": str(self.ready_file)}

    def before_launch(self) -> None:
        self.ready_file.unlink(missing_ok=True)

    def is_ready(self) -> bool:
        return self.ready_file.exists()


class Worker(CeleryProgram):
    name = "worker"

    def __init__(self, data_dir: Path, variables: Mapping[str, str], concurrency: int) -> None:
        super().__init__(data_dir, variables)
        self.concurrency = concurrency

    def command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "celery", "-A", "brainsite", "worker"),
            *("--pool", "prefork", "--concurrency", str(self.concurrency), "-Ofair"),
            *("--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
        ]


class Beat(CeleryProgram):
    name = "beat"
    stop_seconds = 3.0

    def command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "celery", "-A", "brainsite", "beat"),
            *("-s", str(self.data_dir / "run" / "beat-schedule"), "--pidfile=", "--loglevel", "WARNING"),
        ]


class Prepare(Program):
    """Runs once: roles, database, migrations, the first organization and its owner. Its answer is one line of JSON."""

    name = "prepare"
    stop_seconds = 3.0

    @property
    def output_file(self) -> Path:
        return self.data_dir / "run" / "prepare.answer"  # apart from the log: it holds a password and a key

    def command(self) -> list[str]:
        return [sys.executable, "manage.py", "prepare", "--json"]

    def before_launch(self) -> None:
        self.output_file.unlink(missing_ok=True)

    def take_answer(self) -> dict[str, str | None]:
        """What it printed, which is then removed. Raises ChildError when it ended badly."""
        lines = self.output_file.read_text().splitlines()
        self.output_file.unlink()
        self.record_file.unlink(missing_ok=True)
        status = self.process.poll() if self.process else None
        if status != 0:
            raise ChildError(self, f"ended with status {status}")
        try:
            answer: dict[str, str | None] = json.loads(lines[-1])
            return {name: answer[name] for name in ("login", "password", "person_key")}
        except (IndexError, KeyError, ValueError):
            raise ChildError(self, "did not answer") from None
