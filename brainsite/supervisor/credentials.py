"""The installation's secrets, made once and kept in `secrets.json` in the data folder (0600)."""

import json
import secrets
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from brainsite.supervisor.errors import StartError
from brainsite.supervisor.folders import write_private

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that reads like something else


def new_secret() -> str:
    return secrets.token_urlsafe(36)


def new_login_password() -> str:
    """Four groups of five letters, about 99 bits: easy to read from one screen and type on another."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(5)) for _ in range(4))


@dataclass(frozen=True)
class Secrets:
    secret_key: str = field(default_factory=new_secret)
    key_pepper: str = field(default_factory=new_secret)
    postgres_password: str = field(default_factory=new_secret)
    app_password: str = field(default_factory=new_secret)
    agent_password: str = field(default_factory=new_secret)
    migrator_password: str = field(default_factory=new_secret)
    dump_password: str = field(default_factory=new_secret)
    valkey_password: str = field(default_factory=new_secret)
    owner_password: str = field(default_factory=new_login_password)
    person_key: str = ""  # known once `manage.py prepare` has made it

    def with_person_key(self, path: Path, person_key: str) -> "Secrets":
        changed = replace(self, person_key=person_key)
        if changed != self:
            write_private(path, json.dumps(asdict(changed), indent=1) + "\n")
        return changed


def load_or_make_secrets(path: Path, *, cluster: Path) -> Secrets:
    """What a newer version needs and an older one did not make is added. Raises StartError."""
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        if cluster.exists():
            raise StartError(
                f"{path} is missing, and the database beside it does not open without it. Put it back from a backup."
            ) from None
        stored = {}
    except ValueError:
        raise StartError(f"{path} is damaged. Put it back from a backup.") from None
    known = {name: value for name, value in stored.items() if name in Secrets.__dataclass_fields__}
    made = Secrets(**known)
    if asdict(made) != known:
        write_private(path, json.dumps(asdict(made), indent=1) + "\n")
    return made
