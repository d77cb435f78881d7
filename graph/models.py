"""The tree: nodes, what they have to do with each other, and which recall files have entries below each of them."""

from uuid import UUID, uuid5

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower, Now

from accounts.tenant import TenantModel, tenant_link

NAME_CHARACTERS = 255


class Node(TenantModel):
    """Category → concept → topic → sub-topics (type topic), at any depth; the type follows the depth."""

    class Type(models.TextChoices):
        CATEGORY = "category"
        CONCEPT = "concept"
        TOPIC = "topic"

    name = models.CharField(max_length=NAME_CHARACTERS)
    aliases = ArrayField(models.CharField(max_length=NAME_CHARACTERS), default=list, blank=True)
    type = models.CharField(max_length=16, choices=Type.choices)
    parent = tenant_link("graph.Node", null=True)
    category = models.CharField(max_length=NAME_CHARACTERS, help_text="Name of the category above it (or its own).")
    memory_count = models.PositiveIntegerField(default=0, help_text="Distinct live recall files in its subtree.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_accessed = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "brain", "parent", Lower("name"), name="graph_node_sibling_names", nulls_distinct=False
            ),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="graph_node_not_its_own_parent"),
            models.CheckConstraint(condition=~models.Q(name=""), name="graph_node_named"),
            models.CheckConstraint(
                condition=models.Q(type="category", parent__isnull=True)
                | models.Q(type__in=["concept", "topic"], parent__isnull=False)
                | models.Q(type="topic", parent__isnull=True, name="Inbox"),
                name="graph_node_type_by_depth",
            ),
        ]
        indexes = [models.Index(fields=["brain", "parent"], name="graph_node_children")]  # listing a level of the tree


class NodeMemory(TenantModel):
    """How many entries of one recall file lie in a node's subtree. One row for the node and each of its ancestors.

    This keeps `memory_count` exact: it is the number of rows of the node. The recall file's id is plain data here, for
    this layer knows no memories.
    """

    node = tenant_link("graph.Node")
    recall_file_id = models.UUIDField()
    entry_count = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["brain", "node", "recall_file_id"], name="graph_nodememory_once"),
            models.CheckConstraint(condition=models.Q(entry_count__gt=0), name="graph_nodememory_not_empty"),
        ]
        indexes = [models.Index(fields=["brain", "recall_file_id"], name="graph_nodememory_recall_file")]  # its nodes


class NodeRelationship(TenantModel):
    """A directed edge beside the tree. That a parent contains its children follows from parent_id and is not stored."""

    class Kind(models.TextChoices):
        INFORMS = "informs"
        RESOLVES = "resolves"
        PRECEDES = "precedes"
        RELATED_TO = "related_to"

    source_node = tenant_link("graph.Node")
    target_node = tenant_link("graph.Node")
    relationship = models.CharField(max_length=16, choices=Kind.choices)
    weight = models.DecimalField(max_digits=3, decimal_places=2)
    evidence = models.JSONField(default=dict, blank=True, help_text="Why: a text, or an object of ids and numbers.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            # also serves the edges that leave a node
            models.UniqueConstraint(
                fields=["brain", "source_node", "target_node", "relationship"], name="graph_noderelationship_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(source_node=models.F("target_node")), name="graph_noderelationship_no_loop"
            ),
            models.CheckConstraint(
                condition=models.Q(weight__gte=0, weight__lte=1), name="graph_noderelationship_weight"
            ),
            models.CheckConstraint(
                condition=models.Q(relationship__in=["informs", "resolves", "precedes", "related_to"]),
                name="graph_noderelationship_kind",
            ),
        ]
        indexes = [
            # the edges that arrive at a node
            models.Index(fields=["brain", "target_node"], name="graph_noderelationship_target"),
            # newest first (relationships/)
            models.Index(fields=["brain", "-created_at", "-id"], name="graph_noderelationship_newest"),
        ]


class NodeIndex(TenantModel):
    """The index file of one node: metadata about what lies below it, never its content.

    Derived. The row is deleted by whatever changes what lies below the node, so no word of a deleted memory stays in
    one; the next reader that may write makes it again (memory/indexes.py).
    """

    node = tenant_link("graph.Node")
    index_data = models.JSONField()
    revision = models.PositiveBigIntegerField(help_text="The corpus version that it is known to be exact at.")
    last_updated = models.DateTimeField(db_default=Now())
    archived_at = models.DateTimeField(null=True, blank=True, help_text="No activity for a long time; revived on use.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["brain", "node"], name="graph_nodeindex_once")]


def inbox_id(brain_id: UUID) -> UUID:
    """The Inbox's id follows from the brain's, so that an actor who may not read can still file into it."""
    return uuid5(brain_id, "inbox")
