"""Celery's side of the doorbell."""

from celery import shared_task

from memory.doorbell import ring
from memory.jobs import sweep
from memory.work import work_jobs

TURN_SECONDS = 20.0  # then the next ring takes over, so that a worker can be stopped politely


@shared_task(name="brain.work")
def work() -> None:
    work_jobs(TURN_SECONDS)


@shared_task(name="brain.sweep")
def sweep_jobs() -> None:
    """Every 10 s: what a dead worker left behind, what no ring told."""
    if sweep():
        ring()
        work_jobs(TURN_SECONDS)
