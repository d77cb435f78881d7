"""Work to do, and requests that may be repeated."""

from django.db import models
from django.db.models.functions import Now

from accounts.actor import CLAIMER
from accounts.tenant import TenantModel


class Job(TenantModel):
    """The truth about a piece of work; Celery only rings. Holds ids and numbers, never content."""

    class Kind(models.TextChoices):
        EMBED = "embed"
        FILE = "file"
        IMPORT = "import"
        PURGE = "purge"

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        DEAD = "dead"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    subject_id = models.UUIDField(help_text="What is worked on: a recall file, or the job itself for an import.")
    priority = models.PositiveSmallIntegerField(default=50, help_text="Smaller goes first.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Counted before the work.")
    fencing = models.PositiveIntegerField(default=0, help_text="A late worker's number no longer matches.")
    lease_until = models.DateTimeField(null=True, blank=True)
    run_after = models.DateTimeField(db_default=Now())
    requested_by = models.UUIDField(null=True, blank=True)
    arguments = models.JSONField(default=dict, blank=True)
    progress = models.JSONField(default=dict, blank=True)
    error = models.CharField(max_length=500, blank=True, help_text="Why the last attempt failed, without content.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["brain", "kind", "subject_id"],
                condition=models.Q(state="pending"),
                name="memory_job_one_pending",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(lease_until__isnull=False), name="memory_job_leased"
            ),
        ]
        indexes = [
            # the claim: due jobs of all brains, best first
            models.Index(fields=["priority", "run_after"], name="memory_job_due", condition=models.Q(state="pending")),
            # the sweeper: leases that ran out
            models.Index(fields=["lease_until"], name="memory_job_leases", condition=models.Q(state="running")),
            models.Index(fields=["brain", "-created_at", "-id"], name="memory_job_newest"),  # jobs/
        ]


def jobs_of_all_brains() -> "models.QuerySet[Job]":
    """For the claim and the sweeper. Only the worker's role sees more than its own brains here, see walls.py."""
    return models.QuerySet(Job, using=CLAIMER.alias)


class IdempotencyKey(TenantModel):
    """A write that was asked for with an Idempotency-Key: what it made, so that a repeat makes nothing."""

    principal_id = models.UUIDField()
    key = models.CharField(max_length=200)
    body_hash = models.BinaryField(max_length=32)
    result = models.JSONField(help_text="Ids of what was made.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["brain", "principal_id", "key"], name="memory_idempotencykey_once"),
        ]
