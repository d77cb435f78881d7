"""What the data folder says about the whole: who uses it now, and which version of Brain made it."""

import fcntl
import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brainsite.environment import CHECKOUT
from brainsite.supervisor.errors import AlreadyRunningError, StartError
from brainsite.supervisor.folders import write_private

READY_FILE = "ready.json"
SECRETS_FILE = "secrets.json"


@contextmanager
def only_one(data_dir: Path) -> Iterator[None]:
    """Holds the data folder. The kernel lets go when the process ends, however it ends, so no file is ever stale."""
    with (data_dir / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(already_running(data_dir)) from None
        except OSError as error:
            raise StartError(
                f"The data folder {data_dir} cannot be locked ({error.strerror}). Set BRAIN_DATA_DIR to a local disk."
            ) from None
        yield


def already_running(data_dir: Path) -> str:
    try:
        url = json.loads((data_dir / READY_FILE).read_text())["url"]
    except (OSError, ValueError, KeyError):
        return f"Brain is already running on {data_dir} (it is starting or stopping just now)."
    return f"Brain is already running at {url} (data folder {data_dir})."


def product_version() -> str:
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def check_version(data_dir: Path) -> None:
    """Refuses data of a newer Brain: its tables are not the ones that this code knows."""
    try:
        made_by = (data_dir / "version").read_text().strip()
    except FileNotFoundError:
        return
    if as_numbers(made_by) > as_numbers(product_version()):
        raise StartError(
            f"The data folder {data_dir} belongs to Brain {made_by}; this is Brain {product_version()}. "
            f"Start Brain {made_by} or newer, or set BRAIN_DATA_DIR to another folder."
        )


def record_version(data_dir: Path) -> None:
    write_private(data_dir / "version", product_version() + "\n")


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
