"""The whole product, started as a person starts it, on a data folder of its own."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from brainsite.supervisor.ports import listen
from tests.supervisor.test_healing import wait_until

CHECKOUT = Path(__file__).resolve().parents[2]
PARTS = ("web", "worker", "beat", "valkey", "postgres")
START_SECONDS = 60.0  # a bound for a machine that is busy with other things, not a promise
HEAL_SECONDS = 5.0


class Product:
    """`manage.py up` on a data folder of its own, and a port that is taken."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir = data_dir
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("BRAIN_")}
        for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"):
            inherited.pop(name, None)
        self.environment = {**inherited, "BRAIN_DATA_DIR": str(data_dir), "BRAIN_PORT": str(port)}
        self.terminal = data_dir.with_name("terminal")
        self.process = self.up()

    def up(self) -> subprocess.Popen[bytes]:
        with self.terminal.open("ab") as terminal:
            return subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=CHECKOUT,
                env=self.environment,
                stdout=terminal,
                stderr=terminal,
            )

    def said(self) -> str:
        return self.terminal.read_text()

    def wait(self) -> None:
        ready_file = self.data_dir / "ready.json"
        assert wait_until(lambda: ready_file.exists() or self.process.poll() is not None, START_SECONDS)
        assert ready_file.exists(), self.said()

    def ready(self) -> dict[str, str]:
        answer: dict[str, str] = json.loads((self.data_dir / "ready.json").read_text())
        return answer

    def pid(self, part: str) -> int:
        try:
            return int(json.loads((self.data_dir / "run" / f"{part}.json").read_text())["pid"])
        except FileNotFoundError:
            return 0

    def answers(self) -> bool:
        connection = http.client.HTTPConnection(urlsplit(self.ready()["url"]).netloc, timeout=HEAL_SECONDS)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def seconds_to_heal(self, part: str) -> float:
        before, began = self.pid(part), time.monotonic()
        os.kill(before, signal.SIGKILL)
        assert wait_until(lambda: self.pid(part) not in (0, before), HEAL_SECONDS), f"{part} was not started again"
        ready_file = self.data_dir / "run" / f"{part}.ready"
        asked: dict[str, Any] = {"worker": ready_file.exists, "beat": ready_file.exists}
        assert wait_until(asked.get(part, self.answers), HEAL_SECONDS), f"{part} does not answer again"
        return time.monotonic() - began

    def processes(self) -> list[psutil.Process]:
        supervisor = psutil.Process(self.process.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


@contextmanager
def started_product() -> Iterator[Product]:
    folder = Path(tempfile.mkdtemp(prefix="brain up "))
    taken = listen("127.0.0.1", range(24_000, 24_500))
    assert taken
    with taken:
        product = Product(folder / "data", taken.getsockname()[1])
        try:
            folder.chmod(0o711)  # the database's own user passes through
            yield product
        finally:
            product.end(signal.SIGINT)
            shutil.rmtree(folder)
