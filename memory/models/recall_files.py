"""Recall files: what was said, word for word. Everything else in this layer is derived from them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.tenant import TenantModel, tenant_link

TAG_CHARACTERS = 100


class FiledBy(models.TextChoices):
    """Who chose a node: nobody yet (Inbox), a rule of ours, or a person, whose choice no rule changes."""

    NOBODY = "nobody"
    RULE = "rule"
    PERSON = "person"


class RecallFile(TenantModel):
    """A conversation, a captured thought (a transcript of one message), a document or an agent's learning."""

    class Kind(models.TextChoices):
        CONVERSATION = "conversation"
        THOUGHT = "thought"
        DOCUMENT = "document"
        LEARNING = "learning"

    class Category(models.TextChoices):
        THOUGHT = "thought"
        IDEA = "idea"
        KNOWLEDGE = "knowledge"
        EXTERNAL = "external"
        AGENT_INSIGHT = "agent_insight"

    class Visibility(models.TextChoices):
        TEAM = "team"
        PUBLIC = "public"

    class State(models.TextChoices):
        LIVE = "live"
        ARCHIVED = "archived"
        TRASHED = "trashed"

    class EmbeddingState(models.TextChoices):
        PENDING = "pending"
        EMBEDDED = "embedded"
        FAILED = "failed"

    class SummaryKind(models.TextChoices):
        EXTRACTIVE = "extractive"
        LLM = "llm"

    class Trust(models.TextChoices):
        HUMAN = "human"
        AGENT = "agent"
        IMPORTED = "imported"

    recall_id = models.CharField(max_length=120, help_text="A slug for people, unique in its brain.")
    node = tenant_link("graph.Node")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    title = models.CharField(max_length=500, blank=True)
    platform = models.CharField(max_length=50, blank=True)
    conversation_type = models.CharField(max_length=50, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    summary = models.TextField(blank=True)
    summary_kind = models.CharField(max_length=16, choices=SummaryKind.choices, default=SummaryKind.EXTRACTIVE)
    category = models.CharField(max_length=16, choices=Category.choices, default=Category.THOUGHT)
    visibility = models.CharField(max_length=16, choices=Visibility.choices, default=Visibility.TEAM)
    tags = ArrayField(models.CharField(max_length=TAG_CHARACTERS), default=list, blank=True)
    source = models.CharField(max_length=100, blank=True, help_text="From the key or the door, never from a request.")
    trust = models.CharField(max_length=16, choices=Trust.choices, default=Trust.HUMAN)
    contributed_by = models.UUIDField(null=True, blank=True, help_text="The person or agent who captured it.")
    filed_by = models.CharField(max_length=16, choices=FiledBy.choices, default=FiledBy.NOBODY)
    filing_suggestion = models.JSONField(null=True, blank=True, help_text="While it waits: node_id and confidence.")
    workflow_context = models.JSONField(null=True, blank=True)
    source_key = models.CharField(max_length=300, null=True, blank=True)  # noqa: DJ001  (NULL: no key, many of them)
    message_count = models.PositiveIntegerField()
    revision = models.PositiveIntegerField(default=1, help_text="Grows with every change; the ETag of edits.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.LIVE)
    embedding_state = models.CharField(max_length=16, choices=EmbeddingState.choices, default=EmbeddingState.PENDING)
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    purge_after = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["brain", "recall_id"], name="memory_recallfile_recall_id"),
            models.UniqueConstraint(
                fields=["brain", "source_key"],
                condition=~models.Q(state="trashed"),
                name="memory_recallfile_source_key",
            ),
            models.CheckConstraint(condition=models.Q(message_count__gt=0), name="memory_recallfile_not_empty"),
            models.CheckConstraint(
                condition=models.Q(state="trashed", purge_after__isnull=False)
                | models.Q(state__in=["live", "archived"], purge_after__isnull=True),
                name="memory_recallfile_purge_if_trashed",
            ),
        ]
        indexes = [
            # newest first, of one kind or of all (thoughts/, recall-files/, the web's stream)
            models.Index(fields=["brain", "state", "-created_at", "-id"], name="memory_recallfile_newest"),
            # days, newest first (timeline/)
            models.Index(fields=["brain", "state", "-occurred_at", "-id"], name="memory_recallfile_timeline"),
            # what still has to be embedded (stats/)
            models.Index(
                fields=["brain"], name="memory_recallfile_pending", condition=models.Q(embedding_state="pending")
            ),
        ]


class Message(TenantModel):
    """One message of a transcript, exactly as it was. Numbered from 0 within its recall file, only ever appended."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    recall_file = tenant_link("memory.RecallFile")
    position = models.PositiveIntegerField()
    role = models.CharField(max_length=16, choices=Role.choices)
    speaker = models.CharField(max_length=200, blank=True)
    content = models.TextField()
    timestamp = models.DateTimeField(null=True, blank=True)
    details = models.JSONField(default=dict, blank=True, help_text="kind, visible, branch, attachments, native id.")

    class Meta:
        constraints = [
            # also serves reading a transcript, or a window of it, in order
            models.UniqueConstraint(fields=["brain", "recall_file", "position"], name="memory_message_position"),
        ]


class Revision(TenantModel):
    """The words of a thought before an edit."""

    recall_file = tenant_link("memory.RecallFile")
    revision = models.PositiveIntegerField(help_text="The recall file's revision that had these words.")
    content = models.TextField()
    edited_by = models.UUIDField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["brain", "recall_file", "revision"], name="memory_revision_once")
        ]
