"""The map: nodes, their index files, edges between them, and what happened when."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.actor import Scope
from brainsite.api.base import PageParameters
from brainsite.api.fields import Choice, JSONObject, Moment, Number, QueryInteger, StrictSerializer, Text, Uuid
from brainsite.api.serializers.common import READ_SCOPES
from graph.models import Node, NodeRelationship
from graph.tree import MAX_DEPTH, Connection, NodeView
from memory.models import RecallFile
from memory.nodes import CONTAINS, DRAWN_NODES, Drawing, DrawnEdge, DrawnNode, Relationship
from memory.timeline import MEMORIES_A_DAY, Day, TimelineMemory

A_NODE = "An id or a path."
KINDS = NodeRelationship.Kind.values


class NodeParameters(StrictSerializer):
    scope = Choice(READ_SCOPES, required=False)


class NodeInput(StrictSerializer):
    path = Text(help_text='Names from the category down, such as "Business/Sales/Pricing". Made where missing.')
    scope = Choice(Scope.values, default="personal")


class NodeChangesInput(StrictSerializer):
    """What is not named stays as it is."""

    name = Text(required=False, help_text="The old one stays an alias.")
    aliases = serializers.ListField(
        child=Text(), required=False, help_text="Other names that paths may use; these are all there will be."
    )


class MoveInput(StrictSerializer):
    parent = Text(allow_null=True, help_text="An id or a path; null for the root.")  # type: ignore[assignment]


class ConnectionOutput(serializers.Serializer[Connection]):
    target_node_id = serializers.UUIDField()
    relationship = serializers.ChoiceField(KINDS)
    weight = serializers.FloatField()


class NodeOutput(serializers.Serializer[NodeView]):
    id = serializers.UUIDField()
    node_id = serializers.UUIDField(source="id", help_text="The same as id.")
    brain_id = serializers.UUIDField()
    scope = serializers.ChoiceField(Scope.values)
    name = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    type = serializers.ChoiceField(Node.Type.values)
    parent_id = serializers.UUIDField(allow_null=True)
    path = serializers.CharField()
    category = serializers.CharField()
    memory_count = serializers.IntegerField(help_text="Memories in its subtree.")
    connections = ConnectionOutput(many=True, help_text="The edges that leave it, the heaviest first.")
    created_at = serializers.DateTimeField()
    last_accessed = serializers.DateTimeField(allow_null=True)
    archived_at = serializers.DateTimeField(allow_null=True)


class DateRangeOutput(serializers.Serializer[Any]):
    oldest = serializers.DateField()
    newest = serializers.DateField()


class SubNodeOutput(serializers.Serializer[Any]):
    name = serializers.CharField()
    memory_count = serializers.IntegerField()
    keywords = serializers.ListField(child=serializers.CharField())
    date_range = DateRangeOutput()


class IndexOutput(serializers.Serializer[Any]):
    """Metadata about what lies below a node, never its content."""

    node_id = serializers.UUIDField()
    node_name = serializers.CharField()
    parent_node = serializers.CharField(allow_null=True, help_text="Its name.")
    last_updated = serializers.CharField(help_text="A date and time in UTC.")
    sub_nodes = SubNodeOutput(many=True, help_text="Children that hold memories, the largest first.")
    aggregate_keywords = serializers.ListField(child=serializers.CharField())
    key_entities = serializers.ListField(child=serializers.CharField())
    summary = serializers.CharField()
    total_memory_count = serializers.IntegerField()
    date_range = DateRangeOutput()


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": True}]})
class Evidence(JSONObject):
    """A text or any JSON object."""

    default_error_messages = {"invalid": "A text or a JSON object is expected."}

    def to_internal_value(self, data: Any) -> Any:
        return data if isinstance(data, str) else super().to_internal_value(data)

    def to_representation(self, value: Any) -> Any:
        return value


class RelationshipParameters(PageParameters):
    scope = Choice(READ_SCOPES, required=False)
    node = Text(required=False, help_text=f"{A_NODE} The edges that leave it and those that arrive.")
    relationship = Choice(KINDS, required=False)


class RelationshipInput(StrictSerializer):
    source_node_id = Uuid()
    target_node_id = Uuid(help_text="Of a node in the same brain.")
    relationship = Choice(KINDS)
    weight = Number(min_value=0, max_value=1, default=1.0, help_text="At most two decimals.")
    evidence = Evidence(default=dict, help_text="Why: a text or an object.")


class RelationshipOutput(serializers.Serializer[Relationship]):
    id = serializers.UUIDField()
    scope = serializers.ChoiceField(Scope.values)
    source_node_id = serializers.UUIDField()
    target_node_id = serializers.UUIDField()
    relationship = serializers.ChoiceField(KINDS)
    weight = serializers.FloatField()
    evidence = Evidence()
    created_at = serializers.DateTimeField()


class GraphParameters(StrictSerializer):
    scope = Choice(READ_SCOPES, required=False)
    node = Text(required=False, help_text=f"{A_NODE} Itself and what lies below it.")
    depth = QueryInteger(min_value=1, max_value=MAX_DEPTH, required=False, help_text="So many levels from the top.")


class GraphNodeOutput(serializers.Serializer[DrawnNode]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    type = serializers.ChoiceField(Node.Type.values)
    parent_id = serializers.UUIDField(allow_null=True)
    memory_count = serializers.IntegerField()
    category = serializers.CharField()


class GraphEdgeOutput(serializers.Serializer[DrawnEdge]):
    source = serializers.UUIDField()  # type: ignore[assignment]
    target = serializers.UUIDField()
    relationship = serializers.ChoiceField([CONTAINS, *KINDS])
    weight = serializers.FloatField()


class GraphOutput(serializers.Serializer[Drawing]):
    nodes = GraphNodeOutput(many=True)
    edges = GraphEdgeOutput(many=True)
    levels = serializers.IntegerField(help_text="How many levels are shown.")
    node_count = serializers.IntegerField(help_text="Of all that was asked for, shown or not.")
    aggregated = serializers.BooleanField(
        source="is_aggregated",
        help_text=f"Whether deeper levels were left out, because there are more than {DRAWN_NODES:,} nodes; "
        "their edges are shown at the nodes above.",
    )


class TimelineParameters(PageParameters):
    scope = Choice(READ_SCOPES, required=False)
    node = Text(required=False, help_text="An id or a path; what lies below it counts too.")
    since = Moment(required=False)
    until = Moment(required=False)


class TimelineMemoryOutput(serializers.Serializer[TimelineMemory]):
    id = serializers.UUIDField()
    recall_id = serializers.CharField()
    title = serializers.CharField(help_text="The recall_id where there is no title.")
    kind = serializers.ChoiceField(RecallFile.Kind.values)
    scope = serializers.ChoiceField(Scope.values)
    occurred_at = serializers.DateTimeField()


class DayOutput(serializers.Serializer[Day]):
    date = serializers.DateField(help_text="Of UTC.")
    memory_count = serializers.IntegerField()
    memories = TimelineMemoryOutput(many=True, help_text=f"The newest {MEMORIES_A_DAY} of them.")
