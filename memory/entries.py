"""From messages to what is searched: one entry a message, with its packed words. Derived, so it can be rebuilt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.actor import Actor, BrainRef
from graph.tree import count_entries
from graph.words import entities, keywords, pack, terms
from memory.models import Message, RagEmbedding, RagEntry, RemovedEntry
from memory.pieces import pieces
from memory.traits import traits_of
from memory.types import NewMessage

KEYWORDS, ENTITIES = 12, 12
SIZE_BYTES = 4


@dataclass(frozen=True, slots=True)
class PreparedEntry:
    """Everything about a passage that takes time to compute, made before a transaction opens."""

    position: int
    role: str
    speaker: str
    characters: int
    terms: bytes
    keywords: tuple[str, ...]
    entities: tuple[str, ...]
    traits: int


def prepare_entry(position: int, message: NewMessage) -> PreparedEntry:
    """The words of a message are those of its speaker, its text and the captions of its attachments."""
    cut = [piece.text for piece in pieces(message.content)]
    cut[0] = " ".join(part for part in (message.speaker, cut[0], captions(message.details)) if part)
    content = message.content
    return PreparedEntry(
        position=position,
        role=message.role,
        speaker=message.speaker,
        characters=len(message.content),
        terms=join_packed(pack(terms(piece)) for piece in cut),
        keywords=tuple(keywords(content, KEYWORDS)),
        entities=tuple(entities(content, ENTITIES)),
        traits=int(traits_of(content, is_person=message.role == Message.Role.USER)),
    )


def captions(details: Mapping[str, Any]) -> str:
    attachments = details.get("attachments")
    if not isinstance(attachments, list):
        return ""
    return " ".join(str(a["caption"]) for a in attachments if isinstance(a, dict) and isinstance(a.get("caption"), str))


def join_packed(packed: Iterable[bytes]) -> bytes:
    """One value of all pieces: for each its size (uint32, little-endian), then what graph.words.pack made."""
    return b"".join(len(each).to_bytes(SIZE_BYTES, "little") + each for each in packed)


def split_packed(joined: bytes | memoryview) -> list[memoryview]:
    view, found, at = memoryview(joined), [], 0
    while at < len(view):
        size = int.from_bytes(view[at : at + SIZE_BYTES], "little")
        at += SIZE_BYTES
        found.append(view[at : at + size])
        at += size
    return found


def entry_row(
    brain: BrainRef,
    prepared: PreparedEntry,
    *,
    message_id: UUID,
    filed_by: str,
    recall_file_id: UUID,
    node_id: UUID,
    revision: int,
    occurred_at: datetime,
) -> RagEntry:
    """The passage of one message; it has the message's id, so that its words are found by key."""
    return RagEntry(
        id=message_id,
        brain_id=brain.id,
        scope=brain.scope,
        node_id=node_id,
        filed_by=filed_by,
        recall_file_id=recall_file_id,
        first_message=prepared.position,
        last_message=prepared.position,
        role=prepared.role,
        speaker=prepared.speaker,
        terms=prepared.terms,
        traits=prepared.traits,
        characters=prepared.characters,
        keywords=list(prepared.keywords),
        entities=list(prepared.entities),
        revision=revision,
        occurred_at=occurred_at,
    )


def add_entries(actor: Actor, brain: BrainRef, rows: Sequence[RagEntry]) -> None:
    """Insert entries and count them at their nodes. Under the brain's lock."""
    RagEntry.objects.writable_by(actor).bulk_create(rows, batch_size=1_000)
    changes: dict[tuple[UUID, UUID], int] = {}
    for row in rows:
        changes[row.node_id, row.recall_file_id] = changes.get((row.node_id, row.recall_file_id), 0) + 1
    count_entries(actor, brain, changes)


def remove_entries(actor: Actor, brain: BrainRef, recall_file_id: UUID, revision: int) -> None:
    """Take a recall file out of rows, terms, vectors and counts. Under the brain's lock."""
    rows = RagEntry.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id=recall_file_id)
    found = list(rows.values_list("id", "node_id"))
    if not found:
        return
    ids = [entry_id for entry_id, _ in found]
    vectors = RagEmbedding.objects.writable_by(actor).filter(brain_id=brain.id, entry_id__in=ids)
    vectors._raw_delete(vectors.db)  # no cascades to look for: nothing points at a vector
    rows.update(duplicate_of=None)
    rows._raw_delete(rows.db)
    removed = RemovedEntry.objects.writable_by(actor)
    removed.bulk_create(
        RemovedEntry(entry_id=entry_id, brain_id=brain.id, scope=brain.scope, revision=revision) for entry_id in ids
    )
    changes: dict[tuple[UUID, UUID], int] = {}
    for _, node_id in found:
        changes[node_id, recall_file_id] = changes.get((node_id, recall_file_id), 0) - 1
    count_entries(actor, brain, changes)


def move_entries(
    actor: Actor, brain: BrainRef, entry_ids: Sequence[UUID], node_id: UUID, revision: int, *, filed_by: str
) -> None:
    """Give entries another node; their vectors and the counts go along. Under the brain's lock."""
    rows = RagEntry.objects.writable_by(actor).filter(brain_id=brain.id, id__in=entry_ids)
    changes: dict[tuple[UUID, UUID], int] = {}
    for old, recall_file_id in rows.values_list("node_id", "recall_file_id"):
        changes[old, recall_file_id] = changes.get((old, recall_file_id), 0) - 1
        changes[node_id, recall_file_id] = changes.get((node_id, recall_file_id), 0) + 1
    rows.update(node_id=node_id, revision=revision, filed_by=filed_by)
    vectors = RagEmbedding.objects.writable_by(actor).filter(brain_id=brain.id, entry_id__in=entry_ids)
    vectors.update(node_id=node_id)
    count_entries(actor, brain, changes)
