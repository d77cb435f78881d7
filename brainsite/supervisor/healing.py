"""Keeping a process of ours alive."""

import time
from collections.abc import Callable

import psutil

from brainsite.supervisor.child import Child
from brainsite.supervisor.errors import StartError

LAUNCH_GAP_SECONDS = 1.0  # between two launches of one that did answer in between
BACK_OFF_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0, 5.0)  # after so many launches in a row that never answered
WORRYING_FAILURES = 10


class Watched:
    """One child, and what became of its last launches. `tend` is called many times a second."""

    def __init__(self, child: Child, say: Callable[[str], None]) -> None:
        self.child = child
        self.say = say
        self.is_ready = False
        self.is_launched = False
        self.failures = 0  # launches in a row that ended before they answered
        self.launch_at = 0.0
        self.launched_at = 0.0
        self.died_at: float | None = None
        self.last_status: int | None = None

    def launch(self) -> None:
        self.is_ready, self.is_launched, self.launched_at = False, True, time.monotonic()
        self.child.launch()

    def tend(self) -> None:
        if self.is_launched and self.child.is_alive():
            if not self.is_ready and self.child.is_ready():
                self._answered()
        elif self.is_launched:
            self._died()
        elif time.monotonic() >= self.launch_at:
            self._launch_again()

    def _answered(self) -> None:
        self.is_ready, self.failures = True, 0
        if self.died_at is not None:
            self.say(f"{self.child.name} answers again after {time.monotonic() - self.died_at:.1f} s.")
            self.died_at = None

    def _died(self) -> None:
        now = time.monotonic()
        self.last_status = self.child.process.poll() if self.child.process else None
        if self.is_ready:
            self.died_at = now
            self.launch_at = max(now, self.launched_at + LAUNCH_GAP_SECONDS)
            self.say(f"{self.child.name} ended ({meaning(self.last_status)}); starting it again.")
        else:
            self._failed(now)
        self.is_launched = self.is_ready = False

    def _launch_again(self) -> None:
        try:
            self.launch()
        except (OSError, StartError, psutil.Error) as error:
            self.say(f"{self.child.name} could not be started: {error}")
            self._failed(time.monotonic())
            self.is_launched = False

    def _failed(self, now: float) -> None:
        self.failures += 1
        self.launch_at = now + BACK_OFF_SECONDS[min(self.failures, len(BACK_OFF_SECONDS)) - 1]
        if self.failures % WORRYING_FAILURES == 0:
            self.say(
                f"{self.child.name} failed {self.failures} times in a row; still trying. See {self.child.log_file}"
            )


def meaning(status: int | None) -> str:
    if status is None:
        return "unknown"
    return f"signal {-status}" if status < 0 else f"status {status}"
