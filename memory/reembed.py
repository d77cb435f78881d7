"""After another embedding model was chosen: ask for vectors of it, for whatever has none. Search goes on meanwhile."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from accounts.actor import CLAIMER, Actor, BrainRef, Scope, job_actor
from accounts.models import Brain
from memory.embedding import Model, calibrated_model
from memory.jobs import PRIORITY_REEMBEDDED, enqueue
from memory.models import Job, RagEmbedding, RagEntry, RecallFile, jobs_of_all_brains

BATCH_FILES = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """`count` more memories of a brain are to be embedded."""

    brain: BrainRef
    count: int


def reembed() -> Iterator[Asked]:
    """Ask for the vectors that live memories of all brains lack, batch by batch; what was asked for stays asked for.

    Raises EmbedderUnavailable before anything is asked when the model does not work.
    """
    model = calibrated_model()
    for brain_id, scope in Brain.objects.order_by("id").values_list("id", "scope"):
        brain = BrainRef(brain_id, Scope(scope))
        after: UUID | None = None
        while ids := _ask(brain, model, after):
            yield Asked(brain, len(ids))
            after = ids[-1]


def embedding_jobs_left() -> int:
    with CLAIMER.session():
        left = jobs_of_all_brains().filter(kind=Job.Kind.EMBED, state__in=[Job.State.PENDING, Job.State.RUNNING])
        return left.count()


def _ask(brain: BrainRef, model: Model, after: UUID | None) -> list[UUID]:
    with job_actor(brain.id, brain.scope).session() as actor:
        files = _lacking(actor, brain, model)
        if after is not None:
            files = files.filter(id__gt=after)
        ids = list(files.order_by("id").values_list("id", flat=True)[:BATCH_FILES])
        rows = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, id__in=ids)
        rows.update(embedding_state=RecallFile.EmbeddingState.PENDING)
        enqueue(actor, brain, Job.Kind.EMBED, ids, priority=PRIORITY_REEMBEDDED)
    return ids


def _lacking(actor: Actor, brain: BrainRef, model: Model) -> QuerySet[RecallFile]:
    """Live recall files with an entry that has no vector of this model."""
    vectors = RagEmbedding.objects.visible_to(actor).filter(
        brain_id=brain.id, entry_id=OuterRef("id"), embedding_model_id=model.id
    )
    entries = RagEntry.objects.visible_to(actor).filter(brain_id=brain.id, recall_file_id=OuterRef("id"))
    files = RecallFile.objects.visible_to(actor).filter(brain_id=brain.id, state=RecallFile.State.LIVE)
    return files.filter(Exists(entries.filter(~Exists(vectors))))
