import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from brainsite.supervisor import healing
from brainsite.supervisor.account import own_account
from brainsite.supervisor.child import Child, end_session, is_running, rotate
from brainsite.supervisor.healing import Watched

CHECKOUT = Path(__file__).resolve().parents[2]


class Shell(Child):
    name = "shell"
    answers = True

    def __init__(self, data_dir: Path, script: str) -> None:
        super().__init__(data_dir, own_account())
        self.script = script

    def command(self) -> list[str]:
        return ["/bin/sh", "-c", self.script]

    def is_ready(self) -> bool:
        return self.answers


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(healing, "time", clock)
    return clock


def die(child: Child) -> None:
    assert child.process
    child.process.send_signal(signal.SIGKILL)
    child.process.wait()


def test_what_answered_and_died_is_back_at_once_but_not_more_than_once_a_second(tmp_path: Path, clock: Clock) -> None:
    said: list[str] = []
    watched = Watched(Shell(tmp_path, "sleep 60"), said.append)
    watched.launch()
    watched.tend()
    seen = []
    for killed_at, then in ((0.2, (0.2, 0.9, 1.0, 1.0)), (30.0, (30.0, 30.0, 30.5))):
        clock.now = killed_at
        die(watched.child)
        for clock.now in then:
            watched.tend()
            seen.append((clock.now, watched.child.is_alive(), watched.is_ready))
    assert seen == [
        *((0.2, False, False), (0.9, False, False), (1.0, True, False), (1.0, True, True)),
        *((30.0, False, False), (30.0, True, False), (30.5, True, True)),
    ]
    assert said == [
        "shell ended (signal 9); starting it again.",
        "shell answers again after 0.8 s.",
        "shell ended (signal 9); starting it again.",
        "shell answers again after 0.5 s.",
    ]
    watched.child.stop()


def test_what_never_answers_is_tried_ever_more_slowly_but_always_again(tmp_path: Path, clock: Clock) -> None:
    said: list[str] = []
    child = Shell(tmp_path, "exit 3")
    child.answers = False
    watched = Watched(child, said.append)
    watched.launch()
    waits = []
    for _ in range(12):
        assert child.process
        child.process.wait()
        watched.tend()
        waits.append(watched.launch_at - clock.now)
        clock.now = watched.launch_at
        watched.tend()
    assert waits == [0.0, 0.5, 1.0, 2.0, 4.0, *[5.0] * 7]
    assert said == [f"shell failed 10 times in a row; still trying. See {child.log_file}"]
    assert watched.last_status == 3
    child.stop()


def test_stop_ends_the_whole_group_even_what_does_not_listen(tmp_path: Path) -> None:
    child = Shell(tmp_path, "trap '' TERM; sleep 60 & echo $!; wait")
    child.stop_seconds = 0.1
    child.launch()
    inner = psutil.Process(int(wait_for_line(child.log_file)))
    child.stop()
    assert (has_ended(inner), child.process) == (True, None)


def test_children_end_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    script = f"""
        import sys, time
        from pathlib import Path
        from tests.supervisor.test_healing import Shell
        child = Shell(Path({str(tmp_path)!r}), "echo $$; exec sleep 60")
        child.launch()
        time.sleep(60)
    """
    supervisor = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], cwd=CHECKOUT)
    orphan = psutil.Process(int(wait_for_line(tmp_path / "logs" / "shell.log")))
    os.kill(supervisor.pid, signal.SIGKILL)
    supervisor.wait()
    assert has_ended(orphan)


def test_a_leftover_is_ended_and_a_stranger_with_its_number_is_not(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    process = subprocess.Popen(["/bin/sleep", "60"], start_new_session=True)
    started = psutil.Process(process.pid).create_time()
    record.write_text(f'{{"pid": {process.pid}, "started": {started - 100}}}')
    end_session(record)
    assert process.poll() is None
    record.write_text(f'{{"pid": {process.pid}, "started": {started}}}')
    end_session(record)
    assert process.wait(1) == -signal.SIGTERM
    record.write_text("not json")
    end_session(record)


def test_a_large_log_is_set_aside_while_it_is_written(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        for number in range(5):
            writer.write(bytes([65 + number]) * (5 * 2**20))
            rotate(log)
        writer.write(b"last")
    found = {path.name: path.read_bytes()[:4] for path in tmp_path.iterdir()}
    assert found == {"web.log": b"last", "web.log.1": b"EEEE", "web.log.2": b"DDDD", "web.log.3": b"CCCC"}


def wait_for_line(log: Path) -> str:
    """The first line of a file that a process is about to write."""
    assert wait_until(lambda: log.exists() and log.read_text().endswith("\n")), f"nothing came into {log}"
    return log.read_text().splitlines()[0]


def has_ended(process: psutil.Process) -> bool:
    return wait_until(lambda: not is_running(process))


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()
