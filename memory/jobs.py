"""Work to do: the table is the truth, a ring at the doorbell makes it quick, and the sweeper finds what no ring told.

Attempts are counted before the work, so that work which kills its process ends as dead instead of going round for
ever. A lease says who works now; the fencing number makes a late worker's last step do nothing.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actor import CLAIMER, Actor, BrainRef, Scope, job_actor
from memory.doorbell import ring
from memory.models import Job, RecallFile, jobs_of_all_brains

LEASE = timedelta(seconds=30)
MAX_ATTEMPTS = 5
POSTPONED = timedelta(seconds=20)
PATIENCE = timedelta(minutes=10)  # the longest that filing waits for an import's other vectors
BACKOFF_SECONDS = 2.0
ERROR_CHARACTERS = 500
PRIORITY = {Job.Kind.EMBED: 30, Job.Kind.IMPORT: 40, Job.Kind.FILE: 50, Job.Kind.PURGE: 80}
PRIORITY_IMPORTED = 60  # vectors of an import: after a capture's, after the next import's words
PRIORITY_REEMBEDDED = 70  # of another model, for what words find meanwhile


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that this process may work on until its lease ends. `actor` sees the job's brain alone."""

    id: UUID
    kind: str
    subject_id: UUID
    brain: BrainRef
    attempts: int
    fencing: int
    arguments: dict[str, Any]
    requested_by: UUID | None

    @property
    def actor(self) -> Actor:
        return job_actor(self.brain.id, self.brain.scope)


def enqueue(
    actor: Actor,
    brain: BrainRef,
    kind: str,
    subjects: Iterable[UUID],
    *,
    priority: int | None = None,
    run_after: datetime | None = None,
    arguments: dict[str, Any] | None = None,
) -> None:
    """Add jobs inside the transaction that makes them necessary, and ring once it is committed.

    A subject with a job of this kind still pending gets no second one.
    """
    rows = [
        Job(
            brain_id=brain.id,
            scope=brain.scope,
            kind=kind,
            subject_id=subject,
            priority=priority or PRIORITY[Job.Kind(kind)],
            run_after=run_after or Now(),
            requested_by=actor.principal_id,
            arguments=arguments or {},
        )
        for subject in subjects
    ]
    Job.objects.writable_by(actor).bulk_create(rows, ignore_conflicts=True)
    if run_after is None:
        transaction.on_commit(ring, using=actor.alias)


def ask_to_file(actor: Actor, brain: BrainRef) -> None:
    """File what waits in the Inbox when all memories of the brain have their vectors: an import is filed as a whole.

    Under the brain's lock, in the transaction that says that the asking memory's own vectors are there.
    """
    enqueue(actor, brain, Job.Kind.FILE, [brain.id], run_after=timezone.now() + PATIENCE)
    _hurry_filing(actor, brain)


def _hurry_filing(actor: Actor, brain: BrainRef) -> None:
    """The memory whose vectors come last (or never) ends the wait."""
    files = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, state=RecallFile.State.LIVE)
    if files.filter(embedding_state=RecallFile.EmbeddingState.PENDING).exists():
        return
    jobs = Job.objects.writable_by(actor).filter(brain_id=brain.id, kind=Job.Kind.FILE, state=Job.State.PENDING)
    if jobs.update(run_after=Now()):
        transaction.on_commit(ring, using=actor.alias)


def claim() -> Claim | None:
    """The most urgent due job of any brain, now leased to this process; None when there is none."""
    with CLAIMER.session():
        due = jobs_of_all_brains().filter(state=Job.State.PENDING, run_after__lte=Now())
        row = due.order_by("priority", "run_after").select_for_update(skip_locked=True).first()
        if row is None:
            return None
        jobs_of_all_brains().filter(brain_id=row.brain_id, id=row.id).update(
            state=Job.State.RUNNING,
            attempts=F("attempts") + 1,
            fencing=F("fencing") + 1,
            lease_until=Now() + LEASE,
        )
        return Claim(
            id=row.id,
            kind=row.kind,
            subject_id=row.subject_id,
            brain=BrainRef(row.brain_id, Scope(row.scope)),
            attempts=row.attempts + 1,
            fencing=row.fencing + 1,
            arguments=row.arguments,
            requested_by=row.requested_by,
        )


def _mine(job: Claim) -> QuerySet[Job]:
    rows = jobs_of_all_brains().filter(brain_id=job.brain.id, id=job.id)
    return rows.filter(state=Job.State.RUNNING, fencing=job.fencing)


def keep(job: Claim, progress: dict[str, Any] | None = None) -> bool:
    """Extend the lease and note the progress; False when the job is no longer this process's to work on."""
    with CLAIMER.session():
        noted = {"progress": progress} if progress is not None else {}
        return bool(_mine(job).update(lease_until=Now() + LEASE, **noted))


def finish(job: Claim) -> None:
    with CLAIMER.session():
        _mine(job).update(state=Job.State.DONE, lease_until=None, finished_at=Now(), error="")


def fail(job: Claim, error: str, *, can_heal: bool) -> None:
    """Put it back with a growing, jittered delay, or give it up (dead) when nothing can heal it or attempts ran out."""
    if not can_heal or job.attempts >= MAX_ATTEMPTS:
        _give_up(_mine(job), error)
        return
    delay = BACKOFF_SECONDS * 2 ** (job.attempts - 1) * random.uniform(0.75, 1.25)  # noqa: S311  (no secret)
    with CLAIMER.session():
        _put_back(_mine(job), error, timedelta(seconds=delay))


def postpone(job: Claim, error: str) -> None:
    """Put it back because what it needs does not answer now. That is not the job's fault, so no attempt is counted."""
    with CLAIMER.session():
        _put_back(_mine(job), error, POSTPONED, attempts=F("attempts") - 1)


def sweep() -> int:
    """Put back jobs whose lease ran out (their worker died), give up those that died too often; how many are due."""
    lost = jobs_of_all_brains().filter(state=Job.State.RUNNING, lease_until__lt=Now())
    _give_up(lost.filter(attempts__gte=MAX_ATTEMPTS), "The worker died during each attempt.")
    with CLAIMER.session():
        _put_back(lost, "The worker died.", timedelta(0))
        return jobs_of_all_brains().filter(state=Job.State.PENDING, run_after__lte=Now()).count()


def _give_up(rows: QuerySet[Job], error: str) -> None:
    with CLAIMER.session():
        dead = list(rows.select_for_update(skip_locked=True).order_by("id"))
        for row in dead:
            jobs_of_all_brains().filter(brain_id=row.brain_id, id=row.id).update(
                state=Job.State.DEAD, lease_until=None, finished_at=Now(), error=error[:ERROR_CHARACTERS]
            )
    for row in dead:
        if row.kind == Job.Kind.EMBED:
            brain = BrainRef(row.brain_id, Scope(row.scope))
            with job_actor(brain.id, brain.scope).session() as actor:
                files = RecallFile.objects.writable_by(actor).filter(brain_id=row.brain_id, id=row.subject_id)
                files.update(embedding_state=RecallFile.EmbeddingState.FAILED)
                _hurry_filing(actor, brain)


def _put_back(rows: QuerySet[Job], error: str, delay: timedelta, **more: Any) -> None:
    for row in rows.select_for_update(skip_locked=True).order_by("id"):
        twins = jobs_of_all_brains().filter(brain_id=row.brain_id, kind=row.kind, subject_id=row.subject_id)
        mine = jobs_of_all_brains().filter(brain_id=row.brain_id, id=row.id)
        if twins.filter(state=Job.State.PENDING).exists():  # asked for again meanwhile: that one does this work too
            mine.update(state=Job.State.DONE, lease_until=None, finished_at=Now(), error="Replaced by a later job.")
        else:
            mine.update(
                state=Job.State.PENDING,
                lease_until=None,
                run_after=Now() + delay,
                error=error[:ERROR_CHARACTERS],
                **more,
            )
