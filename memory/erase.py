"""Taking memories away: to the trash at once, back on request, for good on request or when the time is up."""

from datetime import timedelta
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actor import Actor, BrainRef
from accounts.errors import Conflict, Stale
from accounts.models import Operation, OperationPayload
from accounts.operations import record
from memory.capture import check_editable
from memory.corpus_version import forget_old_removals, lock_brain
from memory.entries import add_entries, entry_row, prepare_entry, remove_entries
from memory.jobs import Claim, enqueue
from memory.memories import find_memory
from memory.models import Job, Message, RecallFile, Revision
from memory.types import Memory, NewMessage

GRACE = timedelta(days=30)


def trash(actor: Actor, ref: str, *, expected_revision: int | None = None) -> Memory:
    """Take a memory out of search, counts, words and vectors at once; its words can be restored for 30 days.

    Raises NotFound, Forbidden, Stale.
    """
    with actor.session():
        memory = find_memory(actor, ref)
        brain = check_editable(actor, memory)
        revision = lock_brain(actor, brain)
        memory = find_memory(actor, str(memory.id))  # as it is now that nobody else can change it
        if expected_revision is not None and memory.revision != expected_revision:
            raise Stale(f"This is revision {memory.revision} now.", field="If-Match")
        remove_entries(actor, brain, memory.id, revision)
        forget_old_removals(actor, brain, revision)
        purge_after = timezone.now() + GRACE
        RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, id=memory.id).update(
            state=RecallFile.State.TRASHED, purge_after=purge_after, revision=F("revision") + 1, updated_at=Now()
        )
        enqueue(actor, brain, Job.Kind.PURGE, [memory.id], run_after=purge_after)
        record(actor, brain, "trash", target_kind="recall_file", targets=[memory.id])
        return find_memory(actor, str(memory.id), state=RecallFile.State.TRASHED)


def restore(actor: Actor, ref: str) -> Memory:
    """Bring a memory back from the trash: what is derived from its words is made again.

    Raises NotFound, Forbidden, and Conflict when its source_key has been taken by another memory since.
    """
    with actor.session():
        memory = find_memory(actor, ref, state=RecallFile.State.TRASHED)
        texts = Message.objects.visible_to(actor).filter(brain_id=memory.brain_id, recall_file_id=memory.id)
        messages = list(texts.order_by("position"))
    entries = [
        prepare_entry(m.position, NewMessage(m.role, m.content, m.speaker, m.timestamp, m.details)) for m in messages
    ]
    with actor.session():
        memory = find_memory(actor, ref, state=RecallFile.State.TRASHED)
        brain = check_editable(actor, memory)
        revision = lock_brain(actor, brain)
        memory = find_memory(actor, str(memory.id), state=RecallFile.State.TRASHED)
        rows = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id)
        taken = rows.filter(source_key=memory.source_key).exclude(state=RecallFile.State.TRASHED)
        if memory.source_key is not None and taken.exists():
            raise Conflict("Another memory has its source_key now.", field="source_key")
        rows.filter(id=memory.id).update(
            state=RecallFile.State.LIVE,
            purge_after=None,
            embedding_state=RecallFile.EmbeddingState.PENDING,
            revision=F("revision") + 1,
            updated_at=Now(),
        )
        back = [
            entry_row(
                brain,
                entry,
                message_id=message.id,
                filed_by=memory.filed_by,
                recall_file_id=memory.id,
                node_id=memory.node.id,
                revision=revision,
                occurred_at=message.timestamp or memory.occurred_at,
            )
            for entry, message in zip(entries, messages, strict=True)
        ]
        add_entries(actor, brain, back)
        enqueue(actor, brain, Job.Kind.EMBED, [memory.id])
        record(actor, brain, "restore", target_kind="recall_file", targets=[memory.id])
        return find_memory(actor, str(memory.id))


def erase(actor: Actor, ref: str) -> None:
    """Delete a trashed memory for good. Raises NotFound, Forbidden."""
    with actor.session():
        memory = find_memory(actor, ref, state=RecallFile.State.TRASHED)
        brain = check_editable(actor, memory)
        lock_brain(actor, brain)
        _delete_rows(actor, brain, memory.id)


def purge(job: Claim) -> None:
    """Delete what has lain in the trash for its time. A memory that was restored or trashed anew meanwhile stays."""
    with job.actor.session() as actor:
        lock_brain(actor, job.brain)
        rows = RecallFile.objects.writable_by(actor).filter(brain_id=job.brain.id, id=job.subject_id)
        if rows.filter(state=RecallFile.State.TRASHED, purge_after__lte=Now()).exists():
            _delete_rows(actor, job.brain, job.subject_id)


def _delete_rows(actor: Actor, brain: BrainRef, memory_id: UUID) -> None:
    for model in (Message, Revision):
        rows = model.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id=memory_id)
        rows._raw_delete(rows.db)
    files = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, id=memory_id)
    files._raw_delete(files.db)
    operations = Operation.objects.visible_to(actor).filter(brain_id=brain.id, target_id=memory_id)
    payloads = OperationPayload.objects.writable_by(actor).filter(
        brain_id=brain.id, operation_id__in=list(operations.values_list("id", flat=True))
    )
    payloads._raw_delete(payloads.db)
    record(actor, brain, "erase", target_kind="recall_file", targets=[memory_id])
