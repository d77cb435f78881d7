"""Capture: a memory is acknowledged when it is durable and can be found by its words. Everything slow comes later.

Steps: check and prepare (terms, keywords) outside of any transaction; then one short transaction under the brain's
lock: rows, entries, counts, job, operation.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.text import slugify

from accounts.actor import Actor, BrainRef, Door
from accounts.errors import BrainError, Conflict, Forbidden, Invalid, NotFound, Stale, TooLarge
from accounts.ids import uuid7
from accounts.operations import record
from graph.tree import find_or_make_node, inbox
from memory.corpus_version import lock_brain
from memory.entries import PreparedEntry, add_entries, entry_row, prepare_entry
from memory.jobs import PRIORITY_IMPORTED, enqueue
from memory.memories import TAGS, find_memory, load_memories
from memory.models import FiledBy, IdempotencyKey, Job, Message, RagEntry, RecallFile
from memory.models.recall_files import TAG_CHARACTERS
from memory.text import check_content, check_json, check_text, check_time
from memory.types import Captured, Idempotency, Memory, NewMessage, NewRecallFile

MESSAGES = 20_000
SOURCE_KEY_CHARACTERS = 300
TITLE_CHARACTERS = 500
SPEAKER_CHARACTERS = 200
LABEL_CHARACTERS = 50
IDEMPOTENCY_KEY_CHARACTERS = 200
SLUG_WORDS, SLUG_CHARACTERS = 6, 80


@dataclass(frozen=True, slots=True)
class Prepared:
    new: NewRecallFile
    entries: tuple[PreparedEntry, ...]
    occurred_at: datetime


def capture(
    actor: Actor,
    *,
    content: str,
    scope: str = "personal",
    category: str = "thought",
    visibility: str = "team",
    tags: Sequence[str] = (),
    node: str | None = None,
    occurred_at: datetime | None = None,
    source_key: str | None = None,
    metadata: dict[str, Any] | None = None,
    idempotency: Idempotency | None = None,
) -> Captured:
    """Keep one thought word for word. Raises Invalid, TooLarge, Forbidden, NotFound (node), Conflict."""
    thought = NewRecallFile(
        kind=RecallFile.Kind.THOUGHT,
        messages=(NewMessage(role="user", content=content),),
        category=category,
        visibility=visibility,
        tags=tuple(tags),
        node=node,
        occurred_at=occurred_at,
        source_key=source_key,
        metadata=metadata or {},
    )
    return capture_files(actor, scope=scope, files=[thought], idempotency=idempotency)[0]


def capture_files(
    actor: Actor, *, scope: str, files: Sequence[NewRecallFile], idempotency: Idempotency | None = None
) -> list[Captured]:
    """Keep recall files, all or none of them, in one transaction. Results in the order of `files`.

    A source_key that is known returns what it made; a transcript that continues the known one is appended to it.
    """
    brain = actor.brain_to_write(scope)
    prepared = [prepare(actor, new) for new in files]
    with actor.session():
        results: list[Captured] = []
        for result in _store(actor, brain, prepared, idempotency):
            if isinstance(result, BrainError):
                raise result
            results.append(result)
        return results


def capture_bulk(
    actor: Actor, *, scope: str, files: Sequence[NewRecallFile], idempotency: Idempotency | None = None
) -> list[Captured | BrainError]:
    """As capture_files, but what is refused is told in its place and the rest is kept."""
    brain = actor.brain_to_write(scope)
    results: dict[int, Captured | BrainError] = {}
    good: dict[int, Prepared] = {}
    for index, new in enumerate(files):
        try:
            good[index] = prepare(actor, new)
        except BrainError as error:
            results[index] = error
    with actor.session():
        stored = _store(actor, brain, list(good.values()), idempotency)
    results.update(zip(good, stored, strict=True))
    return [results[index] for index in range(len(files))]


def append_messages(
    actor: Actor,
    memory: str,
    messages: Sequence[NewMessage],
    *,
    expected_revision: int | None = None,
    idempotency: Idempotency | None = None,
) -> Memory:
    """Add messages at the end of a transcript. Raises NotFound, Forbidden, Stale, Conflict, Invalid, TooLarge."""
    new = NewRecallFile(kind=RecallFile.Kind.CONVERSATION, messages=tuple(messages))
    prepared = prepare(actor, new)
    with actor.session():
        found = find_memory(actor, memory)
        brain = check_editable(actor, found)
        if found.kind == RecallFile.Kind.THOUGHT:
            raise Invalid("A thought is edited, not continued.", field="id")
        revision = lock_brain(actor, brain)
        if idempotency and (ids := repeated(actor, brain, idempotency)) is not None:
            return find_memory(actor, str(ids[0]))
        current = RecallFile.objects.writable_by(actor).get(brain_id=brain.id, id=found.id)
        if expected_revision is not None and current.revision != expected_revision:
            raise Stale(f"This is revision {current.revision} now.", field="If-Match")
        _append(actor, brain, current, prepared, revision)
        record(actor, brain, "append", target_kind="recall_file", targets=[found.id], data={"messages": len(messages)})
        remember(actor, brain, idempotency, [found.id])
        return find_memory(actor, str(found.id))


def prepare(actor: Actor, new: NewRecallFile) -> Prepared:
    """Check everything about a new recall file that needs no database, and compute its words."""
    check_choice(new.category, RecallFile.Category.values, "category")
    check_choice(new.visibility, RecallFile.Visibility.values, "visibility")
    if not new.messages:
        raise Invalid("At least one message.", field="transcript")
    if len(new.messages) > MESSAGES:
        raise TooLarge(f"At most {MESSAGES:,} messages at once.", field="transcript")
    is_thought = new.kind == RecallFile.Kind.THOUGHT
    for index, message in enumerate(new.messages):
        where = "" if is_thought else f"transcript.{index}."
        check_content(message.content, f"{where}content")
        check_choice(message.role, Message.Role.values, f"{where}role")
        check_text(message.speaker, f"{where}speaker", most=SPEAKER_CHARACTERS, blank=True)
        check_time(message.timestamp, f"{where}timestamp")
        check_json(dict(message.details), f"{where}details")
    check_text(new.title, "title", most=TITLE_CHARACTERS, blank=True)
    check_text(new.platform, "platform", most=LABEL_CHARACTERS, blank=True)
    check_text(new.conversation_type, "conversation_type", most=LABEL_CHARACTERS, blank=True)
    check_json(dict(new.metadata), "metadata")
    if new.source_key is not None:
        check_text(new.source_key, "source_key", most=SOURCE_KEY_CHARACTERS)
    if new.node is not None:
        check_text(new.node, "node", most=4_096)
    tags = check_tags(new.tags)
    first = next((message.timestamp for message in new.messages if message.timestamp), None)
    occurred_at = check_time(new.occurred_at, "occurred_at") or first or timezone.now()
    trust = RecallFile.Trust.AGENT if actor.door in (Door.AGENT, Door.INTENT) else new.trust
    entries = tuple(prepare_entry(index, message) for index, message in enumerate(new.messages))
    return Prepared(replace(new, tags=tags, trust=trust), entries, occurred_at)


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Trimmed, each once whatever its case, in the order given."""
    if len(tags) > TAGS:
        raise TooLarge(f"At most {TAGS} tags.", field="tags")
    checked = [check_text(tag.strip(), "tags", most=TAG_CHARACTERS) for tag in tags]
    return tuple({tag.casefold(): tag for tag in reversed(checked)}.values())[::-1]


def check_editable(actor: Actor, memory: Memory) -> BrainRef:
    """The brain of a memory that this actor may change: the own brain's, the own contribution, or as a curator."""
    for brain in actor.writable:
        if brain.id == memory.brain_id:
            if brain.scope != "corporate" or actor.curates or memory.contributed_by == actor.principal_id:
                return brain
            raise Forbidden("Only its contributor or a curator may change this.")
    raise Forbidden(f"This key may not write to {memory.scope}.", field="scope")


def check_choice(value: str, choices: Sequence[str], field: str) -> str:
    if value not in choices:
        raise Invalid(f"Must be one of {', '.join(choices)}.", field=field)
    return value


def _store(
    actor: Actor, brain: BrainRef, files: Sequence[Prepared], idempotency: Idempotency | None
) -> list[Captured | BrainError]:
    revision = lock_brain(actor, brain)
    if idempotency and (ids := repeated(actor, brain, idempotency)) is not None:
        known = load_memories(actor, [memory_id for memory_id in ids if memory_id])
        gone = NotFound("This was refused, or has been deleted since.")
        return [Captured(known[i], False) if i in known else gone for i in ids]
    by_source_key = _known_sources(actor, brain, files)
    slugs = _free_slugs(actor, brain, files)
    results: list[UUID | BrainError] = []
    created: dict[UUID, RecallFile] = {}
    messages: list[Message] = []
    entries: list[RagEntry] = []
    for prepared, slug in zip(files, slugs, strict=True):
        key = prepared.new.source_key
        try:
            if key is not None and key in by_source_key:
                results.append(_meet(actor, brain, by_source_key[key], prepared, revision))
                continue
            node_id = _node_for(actor, brain, prepared.new)
        except BrainError as error:
            results.append(error)
            continue
        row = _recall_file(actor, brain, prepared, node_id, slug)
        created[row.id] = row
        texts = _messages(brain, row, prepared, at=0)
        messages += texts
        entries += _entry_rows(brain, row, prepared, texts, revision)
        if key is not None:
            by_source_key[key] = _Known(row, [message.content for message in texts])
        results.append(row.id)
    RecallFile.objects.writable_by(actor).bulk_create(created.values())
    Message.objects.writable_by(actor).bulk_create(messages, batch_size=1_000)
    add_entries(actor, brain, entries)
    imported = [row.id for row in created.values() if row.trust == RecallFile.Trust.IMPORTED]
    enqueue(actor, brain, Job.Kind.EMBED, created.keys() - set(imported))
    enqueue(actor, brain, Job.Kind.EMBED, imported, priority=PRIORITY_IMPORTED)
    record(actor, brain, "capture", target_kind="recall_file", targets=list(created))
    remember(actor, brain, idempotency, [r if isinstance(r, UUID) else None for r in results])
    loaded = load_memories(actor, [result for result in results if isinstance(result, UUID)])
    return [r if isinstance(r, BrainError) else Captured(loaded[r], r in created) for r in results]


@dataclass(frozen=True, slots=True)
class _Known:
    row: RecallFile
    contents: list[str]


def _known_sources(actor: Actor, brain: BrainRef, files: Sequence[Prepared]) -> dict[str, _Known]:
    keys = {prepared.new.source_key for prepared in files if prepared.new.source_key is not None}
    if not keys:
        return {}
    rows = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, source_key__in=keys)
    found = {row.id: row for row in rows.exclude(state=RecallFile.State.TRASHED)}
    contents: dict[UUID, list[str]] = {row_id: [] for row_id in found}
    texts = Message.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id__in=found)
    for row_id, content in texts.order_by("recall_file_id", "position").values_list("recall_file_id", "content"):
        contents[row_id].append(content)
    return {row.source_key: _Known(row, contents[row.id]) for row in found.values() if row.source_key is not None}


def _meet(actor: Actor, brain: BrainRef, known: _Known, prepared: Prepared, revision: int) -> UUID:
    """The same source again: the same words change nothing, a longer transcript is continued, others are refused."""
    given = [message.content for message in prepared.new.messages]
    have = len(known.contents)
    if given[:have] != known.contents[: len(given)] or (len(given) < have):
        raise Conflict("This source_key holds other words already.", field="source_key")
    if len(given) > have:
        if known.row.kind == RecallFile.Kind.THOUGHT:
            raise Conflict("This source_key holds a thought already.", field="source_key")
        rest = replace(
            prepared, new=replace(prepared.new, messages=prepared.new.messages[have:]), entries=prepared.entries[have:]
        )
        _append(actor, brain, known.row, rest, revision)
        known.contents.extend(given[have:])
        record(actor, brain, "append", target_kind="recall_file", targets=[known.row.id])
    return known.row.id


def _append(actor: Actor, brain: BrainRef, row: RecallFile, prepared: Prepared, revision: int) -> None:
    at = row.message_count
    entries = tuple(replace(entry, position=at + index) for index, entry in enumerate(prepared.entries))
    prepared = replace(prepared, entries=entries)
    messages = _messages(brain, row, prepared, at=at)
    Message.objects.writable_by(actor).bulk_create(messages, batch_size=1_000)
    add_entries(actor, brain, _entry_rows(brain, row, prepared, messages, revision))
    RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, id=row.id).update(
        message_count=at + len(entries),
        revision=F("revision") + 1,
        embedding_state=RecallFile.EmbeddingState.PENDING,
        updated_at=Now(),
    )
    row.message_count = at + len(entries)
    enqueue(actor, brain, Job.Kind.EMBED, [row.id])


def _node_for(actor: Actor, brain: BrainRef, new: NewRecallFile) -> UUID:
    return inbox(actor, brain) if new.node is None else find_or_make_node(actor, brain, new.node)


def _recall_file(actor: Actor, brain: BrainRef, prepared: Prepared, node_id: UUID, slug: str) -> RecallFile:
    new = prepared.new
    return RecallFile(
        id=uuid7(),
        brain_id=brain.id,
        scope=brain.scope,
        recall_id=slug,
        node_id=node_id,
        kind=new.kind,
        title=new.title,
        platform=new.platform,
        conversation_type=new.conversation_type,
        metadata=dict(new.metadata),
        category=new.category,
        visibility=new.visibility,
        tags=list(new.tags),
        source=actor.source,
        contributed_by=actor.principal_id,
        trust=new.trust,
        source_key=new.source_key,
        filed_by=FiledBy.NOBODY if new.node is None else FiledBy.PERSON,
        message_count=len(new.messages),
        occurred_at=prepared.occurred_at,
    )


def _messages(brain: BrainRef, row: RecallFile, prepared: Prepared, *, at: int) -> list[Message]:
    return [
        Message(
            id=uuid7(),
            brain_id=brain.id,
            scope=brain.scope,
            recall_file_id=row.id,
            position=at + index,
            role=message.role,
            speaker=message.speaker,
            content=message.content,
            timestamp=message.timestamp,
            details=dict(message.details),
        )
        for index, message in enumerate(prepared.new.messages)
    ]


def _entry_rows(
    brain: BrainRef, row: RecallFile, prepared: Prepared, messages: Sequence[Message], revision: int
) -> list[RagEntry]:
    return [
        entry_row(
            brain,
            entry,
            message_id=message.id,
            filed_by=row.filed_by,
            recall_file_id=row.id,
            node_id=row.node_id,
            revision=revision,
            occurred_at=message.timestamp or row.occurred_at,
        )
        for entry, message in zip(prepared.entries, messages, strict=True)
    ]


def _free_slugs(actor: Actor, brain: BrainRef, files: Sequence[Prepared]) -> list[str]:
    """A readable name for each file: its title or first words and its date; numbered by a random tail when taken."""
    wanted = [_slug(prepared) for prepared in files]
    rows = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, recall_id__in=set(wanted))
    taken = set(rows.values_list("recall_id", flat=True))
    slugs: list[str] = []
    for slug in wanted:
        free = slug if slug not in taken else f"{slug}-{secrets.token_hex(4)}"
        taken.add(free)
        slugs.append(free)
    return slugs


def _slug(prepared: Prepared) -> str:
    text = prepared.new.title or " ".join(prepared.entries[0].keywords[:SLUG_WORDS])
    words = slugify(text[: SLUG_CHARACTERS * 2])[:SLUG_CHARACTERS].strip("-") or prepared.new.kind
    return f"{words}-{prepared.occurred_at:%Y-%m-%d}"


def repeated(actor: Actor, brain: BrainRef, idempotency: Idempotency) -> list[UUID | None] | None:
    """What an earlier request with this key made. Raises Conflict when its body was another one."""
    check_text(idempotency.key, "Idempotency-Key", most=IDEMPOTENCY_KEY_CHARACTERS)
    rows = IdempotencyKey.objects.writable_by(actor).filter(brain_id=brain.id, principal_id=_principal(actor))
    known = rows.filter(key=idempotency.key).first()
    if known is None:
        return None
    if bytes(known.body_hash) != idempotency.body_hash:
        raise Conflict("This key came with another body before.", field="Idempotency-Key")
    return [UUID(made) if made else None for made in known.result["ids"]]


def remember(actor: Actor, brain: BrainRef, idempotency: Idempotency | None, ids: Sequence[UUID | None]) -> None:
    if idempotency is None:
        return
    row = IdempotencyKey(
        brain_id=brain.id,
        scope=brain.scope,
        principal_id=_principal(actor),
        key=idempotency.key,
        body_hash=idempotency.body_hash,
        result={"ids": [str(made) if made else None for made in ids]},
    )
    IdempotencyKey.objects.writable_by(actor).bulk_create([row])


def _principal(actor: Actor) -> UUID:
    principal = actor.principal_id or actor.key_id
    if principal is None:
        raise Forbidden("Nobody asks.")
    return principal
