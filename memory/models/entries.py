"""What is searched: entries with their words, vectors in a narrow table, and the number of the latest change."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from accounts.tenant import TenantModel, tenant_link
from memory.models.recall_files import FiledBy


class RagEntry(TenantModel):
    """One message as a passage, or the summary of one recall file. A passage's words lie in its message alone."""

    class EntryKind(models.TextChoices):
        PASSAGE = "passage"
        SUMMARY = "summary"

    node = tenant_link("graph.Node")
    filed_by = models.CharField(max_length=16, choices=FiledBy.choices, default=FiledBy.NOBODY)
    recall_file = tenant_link("memory.RecallFile")
    entry_kind = models.CharField(max_length=16, choices=EntryKind.choices, default=EntryKind.PASSAGE)
    duplicate_of = tenant_link("memory.RagEntry", null=True)
    first_message = models.PositiveIntegerField()
    last_message = models.PositiveIntegerField()
    role = models.CharField(max_length=16)
    speaker = models.CharField(max_length=200, blank=True)
    summary = models.TextField(blank=True, help_text="The text of a summary; empty for a passage.")
    keywords = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    entities = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    importance_score = models.DecimalField(max_digits=3, decimal_places=2, default=0.5)
    traits = models.PositiveSmallIntegerField(db_default=0, help_text="Bits of memory.traits.Trait.")
    characters = models.PositiveIntegerField(help_text="Length of its text, for budgets of tokens.")
    terms = models.BinaryField(help_text="Packed words of each piece, see memory/entries.py.")
    revision = models.PositiveBigIntegerField(help_text="The corpus version that last changed it.")
    occurred_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(last_message__gte=models.F("first_message")), name="memory_ragentry_span"
            ),
            models.CheckConstraint(
                condition=models.Q(importance_score__gte=0, importance_score__lte=1), name="memory_ragentry_importance"
            ),
            models.UniqueConstraint(
                fields=["brain", "recall_file", "entry_kind", "first_message"], name="memory_ragentry_once"
            ),
        ]
        indexes = [
            models.Index(fields=["brain", "revision"], name="memory_ragentry_changes"),  # what a cached corpus lacks
            models.Index(fields=["brain", "node"], name="memory_ragentry_node"),  # warming a node
            # what a deleted entry's foreign key looks for: without it every deletion read the whole brain
            models.Index(
                fields=["brain", "duplicate_of"],
                name="memory_ragentry_duplicates",
                condition=models.Q(duplicate_of__isnull=False),
            ),
        ]


class EmbeddingModel(models.Model):
    """A model whose vectors may be compared with each other, and with no others. Global: it holds nobody's data."""

    name = models.CharField(max_length=200, unique=True)
    dimensions = models.PositiveIntegerField()
    calibration = models.JSONField(default=dict, help_text="Raw cosines that count as similarity 0 and 1.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.name


class RagEmbedding(TenantModel):
    """The vector of one piece (≤ 900 characters) of an entry."""

    entry = tenant_link("memory.RagEntry")
    piece = models.PositiveSmallIntegerField()
    node = tenant_link("graph.Node")
    embedding_model = models.ForeignKey(EmbeddingModel, on_delete=models.PROTECT, related_name="+", db_index=False)
    embedding = HalfVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["brain", "entry", "embedding_model", "piece"], name="memory_ragembedding_once"
            ),
        ]
        indexes = [models.Index(fields=["brain", "node"], name="memory_ragembedding_node")]  # exact scan of warm nodes


class CorpusVersion(TenantModel):
    """The number of the latest change to what is searched in a brain; its row is the brain's write lock.

    The id is the brain's. Because the lock is held until commit, versions become visible in order and without gaps.
    """

    revision = models.PositiveBigIntegerField(default=0)
    oldest_removal = models.PositiveBigIntegerField(default=0, help_text="Caches older than this reload everything.")


class RemovedEntry(TenantModel):
    """The id of an entry that is gone, so that cached corpora drop it. No content."""

    entry_id = models.UUIDField()
    revision = models.PositiveBigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["brain", "revision"], name="memory_removedentry_changes")]  # as above
