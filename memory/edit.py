"""Changing what is kept: tags, category, visibility, node; the words of a thought, whose earlier ones stay readable."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.db.models.functions import Now

from accounts.actor import Actor
from accounts.errors import Invalid, Stale
from accounts.ids import uuid7
from accounts.operations import record
from graph.tree import find_or_make_node
from memory.capture import check_choice, check_editable, check_tags
from memory.corpus_version import forget_old_removals, lock_brain
from memory.entries import add_entries, entry_row, move_entries, prepare_entry, remove_entries
from memory.jobs import enqueue
from memory.memories import find_memory
from memory.models import FiledBy, Job, Message, RagEntry, RecallFile, Revision
from memory.text import check_content, check_text
from memory.types import Memory, NewMessage


@dataclass(frozen=True, slots=True)
class Changes:
    """None leaves a field as it is."""

    content: str | None = None
    tags: Sequence[str] | None = None
    category: str | None = None
    visibility: str | None = None
    node: str | None = None


def edit(actor: Actor, ref: str, changes: Changes, *, expected_revision: int | None = None) -> Memory:
    """Apply changes to a recall file. Raises NotFound, Forbidden, Stale, Invalid, TooLarge."""
    fields: dict[str, Any] = {}
    if changes.tags is not None:
        fields["tags"] = list(check_tags(changes.tags))
    if changes.category is not None:
        fields["category"] = check_choice(changes.category, RecallFile.Category.values, "category")
    if changes.visibility is not None:
        fields["visibility"] = check_choice(changes.visibility, RecallFile.Visibility.values, "visibility")
    if changes.node is not None:
        check_text(changes.node, "node", most=4_096)
    message = NewMessage(role="user", content=check_content(changes.content)) if changes.content is not None else None
    entry = prepare_entry(0, message) if message else None
    if not fields and message is None and changes.node is None:
        raise Invalid("Nothing to change.")

    with actor.session():
        memory = find_memory(actor, ref)
        brain = check_editable(actor, memory)
        revision = lock_brain(actor, brain)
        rows = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id, id=memory.id)
        row = rows.get()
        if row.state != RecallFile.State.LIVE:
            return find_memory(actor, ref)  # trashed while we waited: raises NotFound
        if expected_revision is not None and row.revision != expected_revision:
            raise Stale(f"This is revision {row.revision} now.", field="If-Match")
        entries = RagEntry.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id=row.id)
        before = {name: getattr(row, name) for name in fields}
        if changes.node is not None:
            node_id = find_or_make_node(actor, brain, changes.node)
            own_entries = list(entries.values_list("id", flat=True))
            before["node"] = str(row.node_id)
            move_entries(actor, brain, own_entries, node_id, revision, filed_by=FiledBy.PERSON)
            fields |= {"filing_suggestion": None, "filed_by": FiledBy.PERSON}
            row.node_id = fields["node_id"] = node_id
        if message is not None and entry is not None:
            if row.kind != RecallFile.Kind.THOUGHT:
                raise Invalid("A transcript is never rewritten; append to it.", field="content")
            texts = Message.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id=row.id, position=0)
            old = Revision(
                brain_id=brain.id,
                scope=brain.scope,
                recall_file_id=row.id,
                revision=row.revision,
                content=texts.values_list("content", flat=True).get(),
                edited_by=actor.principal_id,
            )
            Revision.objects.writable_by(actor).bulk_create([old])
            filed_by = FiledBy.PERSON if changes.node is not None else row.filed_by
            remove_entries(actor, brain, row.id, revision)
            forget_old_removals(actor, brain, revision)
            # a new id: vectors that are being made of the old words find no entry to go to
            texts.delete()
            text = Message(
                id=uuid7(),
                brain_id=brain.id,
                scope=brain.scope,
                recall_file_id=row.id,
                position=0,
                role=message.role,
                content=message.content,
            )
            Message.objects.writable_by(actor).bulk_create([text])
            new = entry_row(
                brain,
                entry,
                message_id=text.id,
                filed_by=filed_by,
                recall_file_id=row.id,
                node_id=row.node_id,
                revision=revision,
                occurred_at=row.occurred_at,
            )
            add_entries(actor, brain, [new])
            fields["embedding_state"] = RecallFile.EmbeddingState.PENDING
            enqueue(actor, brain, Job.Kind.EMBED, [row.id])
        rows.update(**fields, revision=F("revision") + 1, updated_at=Now())
        record(
            actor,
            brain,
            "edit",
            target_kind="recall_file",
            targets=[row.id],
            data={"before": before, "after": list(fields)},
        )
        return find_memory(actor, str(row.id))
