"""The plain reads of the pages: parts of transcripts, so that a page stays small whatever was imported."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Left
from django.http import Http404

from accounts.actor import Actor
from memory.memories import Cursor, Filters, find_memory, list_memories, list_revisions
from memory.models import Message
from memory.text import check_time
from memory.types import Memory, MessageView

LIST_PAGE = 20  # memories in a list
TRANSCRIPT_PAGE = 200  # messages of a transcript
SHOWN_CHARACTERS = 480  # of a memory in a list


@dataclass(frozen=True, slots=True)
class ListPage:
    """`openings`: memory → its first characters, one more than are shown where there are more.

    `next`: where the next page starts, as a cursor; empty on the last.
    """

    memories: tuple[Memory, ...]
    openings: dict[UUID, str]
    next: str


@dataclass(frozen=True, slots=True)
class EarlierWords:
    revision: int
    content: str
    edited_by: UUID | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A memory with the messages of one page of its transcript. `previous` and `next` are None at the ends."""

    memory: Memory
    messages: tuple[MessageView, ...]
    revisions: tuple[EarlierWords, ...]
    start: int
    previous: int | None
    next: int | None

    @property
    def content(self) -> str | None:
        """The words of a thought, which may be edited; None for a transcript, which is only appended to."""
        return self.messages[0].content if self.memory.kind == "thought" and self.messages else None


def read_list(actor: Actor, *, scope: str, state: str = "live", node: str = "", after: str = "") -> ListPage:
    """Newest first, from `after` on; only below a node, when one is named.

    Raises Http404 for what is no cursor, NotFound (node), Invalid, Forbidden.
    """
    cursor = _cursor(after)
    below = Filters(node=node or None)
    with actor.session():
        memories = list_memories(actor, scope=scope, state=state, filters=below, limit=LIST_PAGE + 1, after=cursor)
        openings = _openings(actor, [memory.id for memory in memories[:LIST_PAGE]])
    shown = tuple(memories[:LIST_PAGE])
    more = len(memories) > LIST_PAGE
    return ListPage(shown, openings, f"{shown[-1].created_at.isoformat()}_{shown[-1].id}" if more else "")


def read_memory(actor: Actor, ref: str, *, start: int = 0) -> MemoryPage:
    """The transcript page that holds message `start`. Raises NotFound."""
    with actor.session():
        memory = find_memory(actor, ref)
        start = page_start(min(max(start, 0), memory.message_count - 1))
        end = start + TRANSCRIPT_PAGE
        rows = Message.objects.visible_to(actor).filter(
            brain_id=memory.brain_id, recall_file_id=memory.id, position__gte=start, position__lt=end
        )
        messages = tuple(
            MessageView(row.position, row.role, row.speaker, row.content, row.timestamp, row.details)
            for row in rows.order_by("position")
        )
        revisions = tuple(EarlierWords(**row) for row in list_revisions(actor, str(memory.id)))
    return MemoryPage(
        memory=memory,
        messages=messages,
        revisions=revisions,
        start=start,
        previous=start - TRANSCRIPT_PAGE if start else None,
        next=end if end < memory.message_count else None,
    )


def page_start(position: int) -> int:
    """The first message of the transcript page that holds this one."""
    return position // TRANSCRIPT_PAGE * TRANSCRIPT_PAGE


def _openings(actor: Actor, ids: Sequence[UUID]) -> dict[UUID, str]:
    rows = Message.objects.visible_to(actor).filter(recall_file_id__in=ids, position=0)
    return dict(rows.annotate(opening=Left("content", SHOWN_CHARACTERS + 1)).values_list("recall_file_id", "opening"))


def _cursor(text: str) -> Cursor | None:
    if not text:
        return None
    moment, _, memory_id = text.partition("_")
    try:
        cursor = Cursor(datetime.fromisoformat(moment), UUID(memory_id))
    except ValueError as error:
        raise Http404 from error
    check_time(cursor.created_at, "after")
    return cursor
