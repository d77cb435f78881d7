"""Waking the worker. A ring may get lost: the sweeper finds the work within seconds, so a ring never fails a capture.

One thread a process rings, so that a broker that does not answer delays nobody, and many rings at once are one.
"""

import atexit
import os
import threading
import time

import structlog
from celery import current_app

TASK = "brain.work"
QUIET_SECONDS = 5.0  # after a failed ring
LAST_CHANCE_SECONDS = 0.5  # a command that ends gives its ring this long

log = structlog.get_logger(__name__)


class _Bell:
    def __init__(self) -> None:
        self.pid = os.getpid()
        self.wanted = threading.Event()
        self.idle = threading.Event()
        self.idle.set()
        threading.Thread(target=self._run, name="doorbell", daemon=True).start()
        atexit.register(lambda: self.idle.wait(LAST_CHANCE_SECONDS) if os.getpid() == self.pid else None)

    def ring(self) -> None:
        self.idle.clear()
        self.wanted.set()

    def _run(self) -> None:
        while True:
            self.wanted.wait()
            self.wanted.clear()
            try:
                current_app.send_task(TASK, retry=False)
            except Exception as error:  # whatever the broker's client raises, the next ring is another attempt
                log.warning("ring failed", error=type(error).__name__)
                time.sleep(QUIET_SECONDS)
            finally:
                if not self.wanted.is_set():
                    self.idle.set()


_bell: _Bell | None = None
_lock = threading.Lock()


def ring() -> None:
    """Ask the worker to look at the job table. Returns at once."""
    global _bell
    with _lock:
        if _bell is None or _bell.pid != os.getpid():  # a forked child has no threads
            _bell = _Bell()
        _bell.ring()
