"""Imports that were uploaded: a job reads the stored file, reports as it goes, and can be run again after a fault."""

from dataclasses import asdict, replace
from typing import IO, Any
from uuid import UUID

from django.core.files.base import File
from django.core.files.storage import default_storage

from accounts.actor import Actor, Door
from accounts.errors import Forbidden, Invalid, NotFound
from accounts.ids import uuid7
from accounts.operations import record
from memory.capture import remember, repeated
from memory.corpus_version import lock_brain
from memory.importers.jsonl import Report, import_jsonl
from memory.jobs import Claim, enqueue, keep
from memory.models import Job
from memory.types import Idempotency

SNIFFED_BYTES = 1_024


def start_import(
    actor: Actor, upload: IO[bytes], *, scope: str = "personal", idempotency: Idempotency | None = None
) -> UUID:
    """Store an uploaded file and queue its import; the id it is known by.

    Raises Forbidden, Conflict, and Invalid for a wrong kind of file.
    """
    if actor.door != Door.PERSON:
        raise Forbidden("Only people import.")
    brain = actor.brain_to_write(scope)
    start = upload.read(SNIFFED_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    upload.seek(0)
    if not start.startswith(b"{"):
        raise Invalid("Expected JSON Lines: one conversation, a JSON object, on each line.", field="file")
    import_id = uuid7()
    name = default_storage.save(f"imports/{import_id}.jsonl", File(upload))
    arguments = {"file": name, "scope": scope, "source": actor.source, "bytes": default_storage.size(name)}
    known: list[UUID | None] | None = None
    try:
        with actor.session():
            if idempotency:
                lock_brain(actor, brain)
                known = repeated(actor, brain, idempotency)
            if known is None:
                enqueue(actor, brain, Job.Kind.IMPORT, [import_id], arguments=arguments)
                record(actor, brain, "import", target_kind="job", targets=[import_id])
                remember(actor, brain, idempotency, [import_id])
    except Exception:
        default_storage.delete(name)  # no job will ever read it
        raise
    if known is None:
        return import_id
    default_storage.delete(name)
    (first,) = known
    assert first is not None  # an import is one job, remembered above
    return first


def run_import(job: Claim) -> None:
    """What was imported before an interruption is recognised by its source, so running again goes on."""
    actor = replace(job.actor, user_id=job.requested_by, source=str(job.arguments["source"]))
    total = int(job.arguments["bytes"])

    def on_progress(report: Report) -> bool:
        return keep(job, progress(report, total))

    name = str(job.arguments["file"])
    if not default_storage.exists(name):
        raise NotFound("The uploaded file is gone.", field="file")
    with default_storage.open(name, "rb") as file:
        import_jsonl(
            file, scope=str(job.arguments["scope"]), actor_for=lambda conversation: actor, on_progress=on_progress
        )
    default_storage.delete(name)


def progress(report: Report, total_bytes: int) -> dict[str, Any]:
    return {**asdict(report), "bytes_total": total_bytes}
