"""Reading recall files: one by id or slug, many by filter, newest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.actor import Actor, BrainRef, Scope
from accounts.errors import Invalid, NotFound, TooLarge
from graph.tree import NodePath, as_uuid, find_node, paths, subtree
from memory.models import Message, RecallFile, Revision
from memory.types import Memory, MessageView

PAGE_MOST = 100
VIEWED = ("position", "role", "speaker", "content", "timestamp", "details")  # of a message, as in MessageView
TAGS = 100  # of one memory, and of one filter


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: pages go on strictly after it, so inserts between two pages shift nothing."""

    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Filters:
    """What a list or a search is narrowed to. `since` and `until` are inclusive and compare occurred_at."""

    category: str | None = None
    tags: tuple[str, ...] = ()
    node: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def check(self) -> None:
        if len(self.tags) > TAGS:
            raise TooLarge(f"At most {TAGS} tags.", field="tags")
        if self.category is not None and self.category not in RecallFile.Category.values:
            raise Invalid(f"Must be one of {', '.join(RecallFile.Category.values)}.", field="category")
        if self.since and self.until and self.since > self.until:
            raise Invalid("The range ends before it starts.", field="until")

    def narrow(self, rows: QuerySet[RecallFile]) -> QuerySet[RecallFile]:
        """All but the node, which is not a matter of the recall file alone."""
        if self.category:
            rows = rows.filter(category=self.category)
        if self.tags:
            rows = rows.filter(tags__contains=list(self.tags))
        if self.since:
            rows = rows.filter(occurred_at__gte=self.since)
        if self.until:
            rows = rows.filter(occurred_at__lte=self.until)
        return rows


def find_memory(actor: Actor, ref: str, *, state: str = RecallFile.State.LIVE) -> Memory:
    """By uuid or by slug (the personal brain's first). Raises NotFound, also for what this actor may not see."""
    rows = RecallFile.objects.visible_to(actor).filter(state=state)
    memory_id = as_uuid(ref)
    found = list(rows.filter(id=memory_id) if memory_id else rows.filter(recall_id=ref))
    if not found:
        raise NotFound
    row = min(found, key=lambda row: row.scope != Scope.PERSONAL)
    return _memory(row, paths(actor, [row.node_id]))


def load_memories(actor: Actor, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    rows = list(RecallFile.objects.visible_to(actor).filter(id__in=set(ids)))
    nodes = paths(actor, {row.node_id for row in rows})
    return {row.id: _memory(row, nodes) for row in rows}


def get_memory(actor: Actor, ref: str) -> Memory:
    """With its whole transcript. Raises NotFound."""
    with actor.session():
        memory = find_memory(actor, ref)
        return replace(memory, messages=tuple(_messages(actor, [memory.id])[memory.id]))


def list_memories(
    actor: Actor,
    *,
    scope: str = "both",
    kind: str | None = None,
    state: str = RecallFile.State.LIVE,
    filters: Filters | None = None,
    limit: int = 20,
    after: Cursor | None = None,
    with_messages: bool = False,
    only_editable: bool = False,
) -> list[Memory]:
    """Newest first by (created_at, id). Raises Forbidden for a scope that may not be read, Invalid for bad filters."""
    if not 1 <= limit <= PAGE_MOST + 1:  # a door asks for one more to know whether there is another page
        raise Invalid(f"Must be between 1 and {PAGE_MOST}.", field="limit")
    filters = filters or Filters()
    filters.check()
    brains = actor.brains_to_read(scope)
    with actor.session():
        rows = RecallFile.objects.visible_to(actor).filter(state=state, brain_id__in=[brain.id for brain in brains])
        rows = filters.narrow(rows)
        if kind:
            rows = rows.filter(kind=kind)
        if only_editable:  # the rule of capture.check_editable
            rows = rows.filter(brain_id__in=[brain.id for brain in actor.writable])
            if not actor.curates:
                rows = rows.exclude(~Q(contributed_by=actor.principal_id), scope=Scope.CORPORATE)
        if filters.node:
            below = [node for brain in brains for node in nodes_below(actor, brain, filters.node)]
            if not below:
                raise NotFound("No such node.", field="node")
            rows = rows.filter(node_id__in=below)
        if after:
            rows = rows.filter(Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id))
        page = list(rows.order_by("-created_at", "-id")[:limit])
        nodes = paths(actor, {row.node_id for row in page})
        memories = [_memory(row, nodes) for row in page]
        if with_messages:
            texts = _messages(actor, [memory.id for memory in memories])
            memories = [replace(memory, messages=tuple(texts[memory.id])) for memory in memories]
        return memories


def list_revisions(actor: Actor, ref: str, *, limit: int = 20, before: int | None = None) -> list[dict[str, Any]]:
    """Earlier words of a thought, newest first: revision, content, edited_by, created_at. Raises NotFound."""
    with actor.session():
        memory = find_memory(actor, ref)
        rows = Revision.objects.visible_to(actor).filter(brain_id=memory.brain_id, recall_file_id=memory.id)
        if before is not None:
            rows = rows.filter(revision__lt=before)
        shown = rows.order_by("-revision").values("revision", "content", "edited_by", "created_at")[:limit]
        return [dict(row) for row in shown]


def messages_by_id(actor: Actor, ids: Iterable[UUID], files: Iterable[UUID]) -> dict[UUID, MessageView]:
    """Messages by their ids, which are those of their passages. Needs an open session.

    files: their recall files, which keep the planner from reading all of a small brain: under the walls it takes ten
    brains for as good as one.
    """
    rows = Message.objects.visible_to(actor).filter(id__in=list(ids), recall_file_id__in=list(files))
    return {message_id: MessageView(*fields) for message_id, *fields in rows.values_list("id", *VIEWED)}


def nodes_below(actor: Actor, brain: BrainRef, node: str) -> Sequence[UUID]:
    """A node of this brain and all below it; nothing when it has no such node."""
    try:
        return subtree(actor, brain, find_node(actor, brain, node))
    except NotFound:
        return ()


def _messages(actor: Actor, ids: Sequence[UUID]) -> dict[UUID, list[MessageView]]:
    found = _views(Message.objects.visible_to(actor).filter(recall_file_id__in=ids))
    return {memory_id: found.get(memory_id, []) for memory_id in ids}


def _views(rows: QuerySet[Message]) -> dict[UUID, list[MessageView]]:
    found: dict[UUID, list[MessageView]] = {}
    for row in rows.order_by("recall_file_id", "position"):
        found.setdefault(row.recall_file_id, []).append(_view(row))
    return found


def _view(row: Message) -> MessageView:
    return MessageView(row.position, row.role, row.speaker, row.content, row.timestamp, row.details)


def _memory(row: RecallFile, nodes: dict[UUID, NodePath]) -> Memory:
    return Memory(
        id=row.id,
        recall_id=row.recall_id,
        brain_id=row.brain_id,
        scope=row.scope,
        kind=row.kind,
        title=row.title,
        platform=row.platform,
        conversation_type=row.conversation_type,
        category=row.category,
        visibility=row.visibility,
        tags=tuple(row.tags),
        node=nodes[row.node_id],
        filed_by=row.filed_by,
        filing_suggestion=row.filing_suggestion,
        metadata=row.metadata,
        summary=row.summary,
        source=row.source,
        source_key=row.source_key,
        trust=row.trust,
        contributed_by=row.contributed_by,
        message_count=row.message_count,
        revision=row.revision,
        state=row.state,
        embedding_state=row.embedding_state,
        occurred_at=row.occurred_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
        purge_after=row.purge_after,
    )
