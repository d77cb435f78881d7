"""What a worker does when it is woken: take due jobs one by one until there are none or its time is up."""

import time
from collections.abc import Callable

import structlog

from accounts.errors import BrainError
from memory.embedding import embed_recall_file
from memory.erase import purge
from memory.filing import file_brain
from memory.importers.job import run_import
from memory.jobs import Claim, claim, fail, finish, postpone
from memory.models import Job
from memory.providers import EmbedderUnavailable

HANDLERS: dict[str, Callable[[Claim], None]] = {
    Job.Kind.EMBED: embed_recall_file,
    Job.Kind.FILE: file_brain,
    Job.Kind.PURGE: purge,
    Job.Kind.IMPORT: run_import,
}

log = structlog.get_logger(__name__)


def work_jobs(seconds: float) -> int:
    """Work until no job is due or `seconds` have passed; the number of jobs worked on."""
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until and (job := claim()) is not None:
        count += 1
        work_on(job)
    return count


def work_on(job: Claim) -> None:
    try:
        HANDLERS[job.kind](job)
    except BrainError as error:
        fail(job, error.message, can_heal=False)
        log.warning("job failed", job=str(job.id), kind=job.kind, attempts=job.attempts, error=type(error).__name__)
    except EmbedderUnavailable as error:
        postpone(job, str(error))
        log.warning("embedder unavailable", job=str(job.id), attempts=job.attempts)
    except Exception as error:  # the outermost loop: one job's fault must not stop the others
        fail(job, type(error).__name__, can_heal=True)
        log.exception("job failed", job=str(job.id), kind=job.kind, attempts=job.attempts)
    else:
        finish(job)
