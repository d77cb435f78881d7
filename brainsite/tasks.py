"""Celery's side of the doorbell."""

import time

from celery import shared_task

from memory.doorbell import ring
from memory.jobs import sweep
from memory.work import work_jobs

TURN_SECONDS = 20.0  # then it rings for the next turn, so that a worker can be stopped politely


@shared_task(name="brain.work")
def work() -> None:
    until = time.monotonic() + TURN_SECONDS
    work_jobs(TURN_SECONDS)
    if time.monotonic() >= until:  # not because there was nothing left to do
        ring()


@shared_task(name="brain.sweep")
def sweep_jobs() -> None:
    """Every 10 s: what a dead worker left behind, what no ring told."""
    if sweep():
        ring()
