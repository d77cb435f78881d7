"""Numbers about what an actor can read: memories by scope and category, tags, contributors, what is pending."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from accounts.actor import Actor
from accounts.errors import NotFound
from graph.tree import NodePath, paths
from memory.embedding import Model, current_model
from memory.models import Job, RagEmbedding, RagEntry, RecallFile
from memory.shadow import misses_of

TOP = 20


@dataclass(frozen=True, slots=True)
class Stats:
    """`pending`: entries that wait for vectors of the current model. Memories and entries are live ones."""

    memories: int
    entries: int
    pending: int
    by_scope: dict[str, int]
    by_category: dict[str, int]
    top_tags: dict[str, int]
    top_contributors: dict[str, int]
    jobs: dict[str, int]
    routing: tuple["RoutingMisses", ...]


@dataclass(frozen=True, slots=True)
class RoutingMisses:
    """Of the best answers that sampled exhaustive searches found in a node, how many routing had not looked at."""

    node: NodePath
    wanted: int
    missed: int


def thought_stats(actor: Actor) -> Stats:
    model = current_model()
    with actor.session():
        live = RecallFile.objects.visible_to(actor).filter(state=RecallFile.State.LIVE)
        entries = RagEntry.objects.visible_to(actor)
        tags = Counter(tag for row in live.exclude(tags=[]).values_list("tags", flat=True).iterator() for tag in row)
        jobs = Job.objects.visible_to(actor).values_list("state").annotate(count=Count("id"))
        return Stats(
            memories=live.count(),
            entries=entries.count(),
            pending=_waiting(actor, model).count(),
            by_scope=_counts(live, "scope"),
            by_category=_counts(live, "category"),
            top_tags=dict(tags.most_common(TOP)),
            top_contributors={str(k): v for k, v in _counts(live, "contributed_by").items() if k is not None},
            jobs=dict(jobs),
            routing=_routing(actor),
        )


def _routing(actor: Actor) -> tuple[RoutingMisses, ...]:
    """The nodes that were missed most often first."""
    found = {node_id: misses for brain in actor.readable for node_id, misses in misses_of(brain).items()}
    named = paths(actor, found)
    rows = [RoutingMisses(named[node_id], m.wanted, m.missed) for node_id, m in found.items() if node_id in named]
    return tuple(sorted(rows, key=lambda row: (-row.missed, -row.wanted, row.node.path))[:TOP])


def pending_messages(actor: Actor) -> int:
    """Messages of the recall files that are not embedded yet: cheap enough to ask again and again."""
    with actor.session():
        total: int = _pending_files(actor).aggregate(total=Sum("message_count", default=0))["total"]
        return total


def _pending_files(actor: Actor) -> QuerySet[RecallFile]:
    files = RecallFile.objects.visible_to(actor)
    return files.filter(state=RecallFile.State.LIVE, embedding_state=RecallFile.EmbeddingState.PENDING)


def _waiting(actor: Actor, model: Model) -> QuerySet[RagEntry]:
    vectors = RagEmbedding.objects.visible_to(actor).filter(
        brain_id=OuterRef("brain_id"), entry_id=OuterRef("id"), embedding_model_id=model.id
    )
    entries = RagEntry.objects.visible_to(actor).filter(recall_file_id__in=_pending_files(actor).values("id"))
    return entries.filter(~Exists(vectors))


def _counts(rows: Any, name: str) -> dict[Any, int]:
    return dict(rows.order_by().values_list(name).annotate(count=Count("id")).order_by("-count", name)[:TOP])


@dataclass(frozen=True, slots=True)
class JobView:
    id: UUID
    kind: str
    subject_id: UUID
    scope: str
    state: str
    attempts: int
    progress: dict[str, Any]
    error: str
    created_at: Any
    finished_at: Any


def list_jobs(
    actor: Actor, *, kind: str | None = None, state: str | None = None, limit: int = 50, after: Any = None
) -> list[JobView]:
    """Newest first."""
    with actor.session():
        rows = Job.objects.visible_to(actor)
        if kind:
            rows = rows.filter(kind=kind)
        if state:
            rows = rows.filter(state=state)
        if after:
            rows = rows.filter(Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id))
        return [_job(row) for row in rows.order_by("-created_at", "-id")[:limit]]


def get_job(actor: Actor, job_id: UUID) -> JobView:
    """By the job's own id or its subject's (an import is known by the latter). Raises NotFound."""
    with actor.session():
        rows = Job.objects.visible_to(actor).filter(Q(id=job_id) | Q(subject_id=job_id, kind=Job.Kind.IMPORT))
        if (row := rows.order_by("-created_at").first()) is None:
            raise NotFound
        return _job(row)


def _job(row: Job) -> JobView:
    return JobView(
        row.id, row.kind, row.subject_id, row.scope, row.state, row.attempts, row.progress, row.error, row.created_at,
        row.finished_at,
    )  # fmt: skip
