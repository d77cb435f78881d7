"""The tree: nodes, and which recall files have entries below each of them."""

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


def inbox_id(brain_id: UUID) -> UUID:
    """The Inbox's id follows from the brain's, so that an actor who may not read can still file into it."""
    return uuid5(brain_id, "inbox")
