"""The data folder: nothing in it is readable by anyone else, and what lies above it is left as it is."""

import os
import shlex
import subprocess
from pathlib import Path

from brainsite.supervisor.account import Account
from brainsite.supervisor.errors import StartError

OURS = {"version", "lock", "secrets.json", "logs", "run", "postgres", "valkey", "servers"}


def make_data_folder(path: Path, account: Account) -> None:
    """0700; as root 0710 with the service account's group, so that the servers may pass through. Raises StartError."""
    try:
        refuse_closed(path, account)
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir()
                folder.chmod(0o700 if account.is_self else 0o711)
        path.mkdir(mode=0o700, exist_ok=True)
        present = {entry.name for entry in path.iterdir()} - {"lost+found"}
    except OSError as error:
        raise StartError(f"The data folder {path} cannot be used: {error.strerror}. Set BRAIN_DATA_DIR.") from None
    if present and not present & OURS:
        raise StartError(f"The folder {path} holds other files. Set BRAIN_DATA_DIR to an empty or a new folder.")
    if path.stat().st_uid != os.geteuid():
        raise StartError(f"The data folder {path} belongs to another user. Set BRAIN_DATA_DIR to one of your own.")
    if account.is_self:
        path.chmod(0o700)
    else:
        os.chown(path, -1, account.gid)
        path.chmod(0o710)


def refuse_closed(path: Path, account: Account) -> None:
    """What lies above the data folder is not ours to open; where it is closed to the servers, the person decides."""
    if account.is_self:
        return
    for folder in reversed(path.resolve().parents):
        enter = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1"', "sh", folder],
            stderr=subprocess.DEVNULL,
            check=False,
            **account.popen_arguments,
        )
        if folder.exists() and enter.returncode:
            raise StartError(
                f"The database runs as the system user {account.name}, which may not enter {folder}.\n"
                f"Either set BRAIN_DATA_DIR to a folder elsewhere, such as /var/lib/brain, or let that user through:\n"
                f"    chmod o+x {shlex.quote(str(folder))}"
            )


def make_folder(path: Path, account: Account | None = None) -> Path:
    """A 0700 folder, of the service account where one is given."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    if account and not account.is_self:
        os.chown(path, account.uid, account.gid)
    return path


def write_private(path: Path, text: str) -> None:
    """0600 and whole: a reader sees the old text or the new one, also after a power cut."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
