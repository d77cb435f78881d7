"""A process of ours: in a session of its own, with a log file, ended when the supervisor ends."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import psutil

from brainsite.supervisor.account import Account
from brainsite.supervisor.errors import ProgramError
from brainsite.supervisor.folders import make_folder, write_private

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LOG_BYTES = 5 * 2**20
LOG_COUNT = 3
POLL_SECONDS = 0.02
LEFTOVER_SECONDS = 3.0
CLOCK_SECONDS = 2.0  # how far two readings of one process' start time may lie apart when the clock is set


class Child:
    """Subclasses say which command, and when it answers. `launch` starts it; `start` waits for the answer, too."""

    name: str
    death_signal = signal.SIGKILL  # sent by the kernel (Linux) when the supervisor itself dies
    stop_signal = signal.SIGTERM
    stop_seconds = 8.0
    start_seconds = 60.0

    def __init__(self, data_dir: Path, account: Account) -> None:
        self.data_dir = data_dir
        self.account = account
        self.process: subprocess.Popen[bytes] | None = None

    # what a subclass fills in

    def command(self) -> list[str]:
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """Nothing of the caller's by default: PGPORT and the like would change what a server does."""
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}

    def folder(self) -> Path:
        """The working directory."""
        return self.data_dir

    def stdin(self) -> bytes:
        return b""

    def handles(self) -> Sequence[int]:
        """Open files that the process inherits."""
        return ()

    def before_launch(self) -> None:
        """Whatever must be true first; called again before every restart."""

    def is_ready(self) -> bool:
        raise NotImplementedError

    # what everybody calls

    @property
    def log_file(self) -> Path:
        return self.data_dir / "logs" / f"{self.name}.log"

    @property
    def output_file(self) -> Path:
        return self.log_file

    @property
    def record_file(self) -> Path:
        return self.data_dir / "run" / f"{self.name}.json"

    def start(self) -> None:
        """Raises ChildError when it ends or does not answer in time."""
        self.launch()
        deadline = time.monotonic() + self.start_seconds
        while not self.is_ready():
            if not self.is_alive():
                raise ChildError(self, "ended while starting")
            if time.monotonic() > deadline:
                raise ChildError(self, f"did not answer within {self.start_seconds:.0f} s")
            time.sleep(POLL_SECONDS)

    def launch(self) -> None:
        """One that runs already, or what is left of it, is stopped first."""
        make_folder(self.record_file.parent)
        make_folder(self.log_file.parent)
        self.stop()
        self.before_launch()
        rotate(self.log_file)
        with open_to_append(self.log_file) as log, open_to_append(self.output_file) as output:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.folder(),
                env=dict(self.environment()),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=log,
                pass_fds=self.handles(),
                start_new_session=True,  # the terminal's Ctrl-C is for the supervisor, which stops things in order
                umask=0o077,
                preexec_fn=die_with_parent(self.death_signal),  # runs after the change of user, which would undo it
                **self.account.popen_arguments,
            )
        if self.process.stdin:
            with suppress(BrokenPipeError):  # it is dead already, which is_alive tells
                self.process.stdin.write(self.stdin())
                self.process.stdin.close()
        with suppress(psutil.NoSuchProcess, OSError):  # a full disk is no reason to give up a process that runs
            started = psutil.Process(self.process.pid).create_time()
            write_private(self.record_file, json.dumps({"pid": self.process.pid, "started": started}))

    def end_leftover(self) -> None:
        """Ends what a killed supervisor, or a killed process of ours, left running."""
        end_session(self.record_file)

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ask_to_stop(self) -> None:
        if self.process and self.is_alive():
            self.process.send_signal(self.stop_signal)

    def stop(self, in_a_hurry: Callable[[], bool] = lambda: False) -> None:
        """Politely for `stop_seconds` or until somebody is in a hurry, then with SIGKILL; with all that it started."""
        self.ask_to_stop()
        deadline = time.monotonic() + self.stop_seconds
        while self.is_alive() and time.monotonic() < deadline and not in_a_hurry():
            time.sleep(POLL_SECONDS)
        if self.process and self.is_alive():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None
        self.end_leftover()  # what it had started

    def last_words(self, lines: int = 8) -> str:
        try:
            return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""


class ChildError(ProgramError):
    def __init__(self, child: Child, what: str) -> None:
        super().__init__(f"{child.name} {what}. The end of {child.log_file}:\n{child.last_words()}")


def die_with_parent(signal_number: int) -> Callable[[], None] | None:
    """The kernel ends the child when we are killed. For the `preexec_fn` of subprocess; elsewhere than on Linux the
    next start ends it."""
    if sys.platform != "linux":
        return None
    libc, parent = ctypes.CDLL(None), os.getpid()

    def in_child() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal_number)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    return in_child


def adopt_orphans() -> None:
    """What our children leave behind becomes ours: in many containers the first process of all reaps nobody."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def reap_adopted(ours: Sequence[Child]) -> None:
    """One dead process a call, unless it is one of `ours`, which Popen reaps."""
    known = {child.process.pid for child in ours if child.process}
    with suppress(ChildProcessError):
        dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if dead and dead.si_pid not in known:
            os.waitpid(dead.si_pid, os.WNOHANG)


def end_session(record_file: Path) -> None:
    """Ends the recorded process and its children; a stranger that merely got the same number is left alone."""
    try:
        record = json.loads(record_file.read_text())
        pid, started = int(record["pid"]), float(record["started"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return
    if not is_recycled(pid, started):
        end([process for process in psutil.process_iter() if session_of(process.pid) == pid])
    record_file.unlink(missing_ok=True)


def is_recycled(pid: int, started: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - started) > CLOCK_SECONDS
    except psutil.NoSuchProcess:
        return False  # a session keeps its number from being given out again while one process is left in it


def session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def end(processes: list[psutil.Process], stop_signal: int = signal.SIGTERM) -> None:
    """Politely, then with SIGKILL. What is dead and only waits for its parent is left out: it holds nothing."""
    for number, seconds in ((stop_signal, LEFTOVER_SECONDS), (signal.SIGKILL, LEFTOVER_SECONDS)):
        processes = [process for process in processes if is_running(process)]
        for process in processes:
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                process.send_signal(number)
        deadline = time.monotonic() + seconds
        while any(is_running(process) for process in processes) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def open_to_append(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")


def rotate(log: Path) -> None:
    """Copies and empties, so that a process that is writing goes on in the same file."""
    if not log.exists() or log.stat().st_size < LOG_BYTES:
        return
    for number in range(LOG_COUNT - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    shutil.copy2(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)
