"""Who the embedded servers run as. Postgres refuses root, so root lends them an unprivileged system user."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

from brainsite.supervisor.errors import StartError

NAME = "brain"


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int

    @property
    def is_self(self) -> bool:
        return self.uid == os.geteuid()

    @property
    def popen_arguments(self) -> dict[str, Any]:
        """How subprocess becomes this account."""
        return {} if self.is_self else {"user": self.uid, "group": self.gid, "extra_groups": []}


def own_account() -> Account:
    return Account("me", os.geteuid(), os.getegid())


def service_account() -> Account:
    """The current user; for root the system user `brain`, made when it is missing. Raises StartError."""
    if os.geteuid() != 0:
        return own_account()
    found = find_account(NAME)
    if found is None:
        useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if useradd is None:
            raise StartError(
                f"The database does not run as root. Start Brain as an ordinary user, or make a system user {NAME}."
            )
        flags = ("--system", "--user-group", "--no-create-home", "--home-dir=/nonexistent", "--shell=/usr/sbin/nologin")
        made = subprocess.run([useradd, *flags, NAME], capture_output=True, text=True, check=False)
        found = find_account(NAME)  # whatever useradd says: another start may have been a moment faster
        if found is None:
            raise StartError(
                f"The database does not run as root, and the system user {NAME} could not be made "
                f"({made.stderr.strip()}). Make it, or start Brain as an ordinary user."
            )
    if found.uid == 0:
        raise StartError(f"The system user {NAME} is root itself; the database needs an unprivileged one.")
    return found


def find_account(name: str) -> Account | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
