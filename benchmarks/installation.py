"""A benchmark with an installation under it: `python -m benchmarks.installation benchmarks.everything --data DIR`.

The one that runs is used; without one, another is started in a temporary folder, and stopped and removed afterwards.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from brainsite.environment import CHECKOUT, data_dir_from

START_SECONDS, STOP_SECONDS, POLL_SECONDS, ANSWER_SECONDS = 180.0, 60.0, 0.1, 5.0
ELSEWHERE = ("DATABASE_URL", "REDIS_URL")  # would lead to a person's own servers
KEPT = "BRAIN_MODEL_DIR"


class NotStarted(Exception):
    """The installation did not come up; the message holds its own words."""


def answers(data_dir: Path) -> bool:
    """Whether an installation runs on this data folder."""
    try:
        url = json.loads((data_dir / "ready.json").read_text())["url"]
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_SECONDS)  # past any proxy
        with closing(connection):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.client.OK
    except (OSError, ValueError, KeyError, http.client.HTTPException):
        return False


@contextmanager
def installation() -> Iterator[dict[str, str]]:
    """The environment in which commands act on an installation: the one that runs, or a temporary one of our own."""
    running = data_dir_from(os.environ)
    if answers(running):
        yield {**os.environ, "BRAIN_DATA_DIR": str(running)}
        return
    folder = Path(tempfile.mkdtemp(prefix="brain-bench-"))
    folder.chmod(0o711)  # the database of an installation of root runs as another user, who passes through
    environment = own_environment(os.environ, folder / "data", free_port())
    print(f"Starting an installation for this benchmark in {folder} …", file=sys.stderr)
    try:
        with (folder / "up.log").open("wb") as log:
            # a session of its own: the terminal's Ctrl-C stops the benchmark, which stops this one afterwards
            process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=CHECKOUT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            wait_until_ready(process, folder)
            yield environment
        finally:
            stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def own_environment(environ: Mapping[str, str], data_dir: Path, port: int) -> dict[str, str]:
    """Nothing of a person's own installation but where the embedding model lies."""
    plain = {
        name: value
        for name, value in environ.items()
        if name == KEPT or not (name.startswith("BRAIN_") or name.removesuffix("_FILE") in ELSEWHERE)
    }
    return {**plain, "BRAIN_DATA_DIR": str(data_dir), "BRAIN_PORT": str(port)}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(folder / "data"):
        if process.poll() is not None or time.monotonic() > deadline:
            said = (folder / "up.log").read_text(errors="replace")
            raise NotStarted(f"The installation did not start:\n{said}")
        time.sleep(POLL_SECONDS)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    module, *rest = arguments
    if {"-h", "--help"} & set(rest):
        return subprocess.run([sys.executable, "-m", module, *rest], check=False).returncode
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # what was started is stopped first
    try:
        with installation() as environment:
            return subprocess.run([sys.executable, "-m", module, *rest], env=environment, check=False).returncode
    except NotStarted as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
