"""What happened when: live memories by the day they are about, newest day first. A day is one of UTC."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from uuid import UUID

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber, TruncDate

from accounts.actor import Actor
from accounts.errors import Invalid, NotFound
from memory.memories import PAGE_MOST, Filters, nodes_below
from memory.models import RecallFile

MEMORIES_A_DAY = 20


@dataclass(frozen=True, slots=True)
class TimelineMemory:
    """`title`: the slug where a memory has no title."""

    id: UUID
    recall_id: str
    title: str
    kind: str
    scope: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Day:
    """`memories`: the newest MEMORIES_A_DAY of the `memory_count` there are."""

    date: date
    memory_count: int
    memories: tuple[TimelineMemory, ...]


def timeline(
    actor: Actor,
    *,
    scope: str | None = None,
    filters: Filters | None = None,
    limit: int = 20,
    before: date | None = None,
) -> list[Day]:
    """Days with memories, newest first, strictly before one of them. Raises Forbidden (scope), NotFound (node)."""
    if not 1 <= limit <= PAGE_MOST + 1:
        raise Invalid(f"Must be between 1 and {PAGE_MOST}.", field="limit")
    filters = filters or Filters()
    filters.check()
    brains = actor.readable if scope is None else actor.brains_to_read(scope)
    with actor.session():
        rows = filters.narrow(
            RecallFile.objects.visible_to(actor).filter(
                state=RecallFile.State.LIVE, brain_id__in=[brain.id for brain in brains]
            )
        )
        if filters.node:
            below = [node for brain in brains for node in nodes_below(actor, brain, filters.node)]
            if not below:
                raise NotFound("No such node.", field="node")
            rows = rows.filter(node_id__in=below)
        if before:
            rows = rows.filter(occurred_at__lt=midnight(before))
        by_day = rows.annotate(day=TruncDate("occurred_at", tzinfo=UTC))
        counts = dict(
            by_day.order_by("-day").values_list("day").annotate(count=Count("id")).values_list("day", "count")[:limit]
        )
        if not counts:
            return []
        order = [F("occurred_at").desc(), F("id").desc()]
        shown = (
            by_day.filter(occurred_at__gte=midnight(min(counts)))
            .annotate(place=Window(RowNumber(), partition_by=F("day"), order_by=order))
            .filter(place__lte=MEMORIES_A_DAY)
            .order_by("-occurred_at", "-id")
        )
        memories: dict[date, list[TimelineMemory]] = {}
        for row in shown.only("id", "recall_id", "title", "kind", "scope", "occurred_at"):
            memories.setdefault(row.day, []).append(
                TimelineMemory(row.id, row.recall_id, row.title or row.recall_id, row.kind, row.scope, row.occurred_at)
            )
    return [Day(day, count, tuple(memories.get(day, ()))) for day, count in counts.items()]


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
