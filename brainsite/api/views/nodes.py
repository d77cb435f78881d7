"""nodes/, relationships/, graph/, timeline/: the map, and what happened when."""

from datetime import UTC
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from brainsite.api.base import BrainView, page_of
from brainsite.api.permissions import HasActor, MayRead
from brainsite.api.refusal import Refusal
from brainsite.api.serializers.nodes import (
    DayOutput,
    GraphOutput,
    GraphParameters,
    IndexOutput,
    MoveInput,
    NodeChangesInput,
    NodeInput,
    NodeOutput,
    NodeParameters,
    RelationshipInput,
    RelationshipOutput,
    RelationshipParameters,
    TimelineParameters,
)
from graph.index import LEAST_MEMORIES, LEAST_MEMORIES_DEEP
from graph.tree import get_node, list_nodes
from memory.indexes import node_index
from memory.memories import Cursor, Filters
from memory.nodes import Relationship, draw, edit_node, list_relationships, make_node, move_node, relate, unrelate
from memory.timeline import Day, midnight, timeline

NOT_INDEXED = (
    f"This node is warmed whole: fewer than {LEAST_MEMORIES} memories lie below it "
    f"({LEAST_MEMORIES_DEEP} from the fourth level on)."
)
NO_ROW = UUID(int=0)


class MapView(BrainView):
    permission_classes = (HasActor, MayRead)


class NodesView(MapView):
    parameters = {"GET": NodeParameters}

    @extend_schema(
        operation_id="list_nodes",
        summary="The trees of the caller's brains, flat",
        description="By brain, then by path. parent_id makes the tree.",
        parameters=[NodeParameters],
        responses=page_of("NodeList", NodeOutput),
    )
    def get(self, request: Request) -> Response:
        return self.whole(NodeOutput, list_nodes(self.actor, scope=self.query.get("scope")))

    @extend_schema(
        operation_id="make_node",
        summary="Find the node at a path, or make it",
        description="201 when it is new, 200 when it was there.",
        request=NodeInput,
        responses={201: NodeOutput, 200: NodeOutput},
    )
    def post(self, request: Request) -> Response:
        given = self.body(NodeInput)
        node, is_new = make_node(self.actor, given["path"], scope=given["scope"])
        response = Response(NodeOutput(node).data, status=201 if is_new else 200)
        response["Location"] = reverse("api:node", args=[node.id])
        return response


class NodeView(MapView):
    @extend_schema(operation_id="get_node", summary="One node", responses=NodeOutput)
    def get(self, request: Request, node_id: UUID) -> Response:
        return Response(NodeOutput(get_node(self.actor, node_id)).data)

    @extend_schema(
        operation_id="edit_node",
        summary="Rename a node, or give it other aliases",
        request=NodeChangesInput,
        responses=NodeOutput,
    )
    def patch(self, request: Request, node_id: UUID) -> Response:
        return Response(NodeOutput(edit_node(self.actor, node_id, **self.body(NodeChangesInput))).data)


class MoveView(MapView):
    @extend_schema(
        operation_id="move_node",
        summary="Hang a node and all below it under another one",
        request=MoveInput,
        responses=NodeOutput,
    )
    def post(self, request: Request, node_id: UUID) -> Response:
        return Response(NodeOutput(move_node(self.actor, node_id, self.body(MoveInput)["parent"])).data)


class IndexView(MapView):
    @extend_schema(
        operation_id="get_index",
        summary="A node's index file",
        description="404 with the code not_indexed for a node with too few memories to need one.",
        responses=IndexOutput,
    )
    def get(self, request: Request, node_id: UUID) -> Response:
        index = node_index(self.actor, node_id)
        if index is None:
            raise Refusal(404, "not_indexed", NOT_INDEXED)
        return Response(IndexOutput(index).data)


class RelationshipsView(MapView):
    parameters = {"GET": RelationshipParameters}

    @extend_schema(
        operation_id="list_relationships",
        summary="Edges between nodes, newest first",
        description="`contains` follows from parent_id and is not among them.",
        parameters=[RelationshipParameters],
        responses=page_of("RelationshipPage", RelationshipOutput),
    )
    def get(self, request: Request) -> Response:
        rows = list_relationships(
            self.actor,
            scope=self.query.get("scope"),
            node=self.query.get("node"),
            relationship=self.query.get("relationship"),
            limit=self.query["limit"] + 1,
            after=self.cursor(),
        )
        return self.page(RelationshipOutput, rows, newest)

    @extend_schema(
        operation_id="relate",
        summary="Draw an edge between two nodes of one brain",
        description="201 when it is new; 200 when it was there: it has this weight and evidence now.",
        request=RelationshipInput,
        responses={201: RelationshipOutput, 200: RelationshipOutput},
    )
    def post(self, request: Request) -> Response:
        given = self.body(RelationshipInput)
        edge, is_new = relate(
            self.actor,
            given["source_node_id"],
            given["target_node_id"],
            given["relationship"],
            given["weight"],
            given["evidence"],
        )
        return Response(RelationshipOutput(edge).data, status=201 if is_new else 200)


class RelationshipView(MapView):
    @extend_schema(operation_id="unrelate", summary="Take an edge away", responses={204: None})
    def delete(self, request: Request, relationship_id: UUID) -> Response:
        unrelate(self.actor, relationship_id)
        return Response(status=204)


class GraphView(MapView):
    parameters = {"GET": GraphParameters}

    @extend_schema(
        operation_id="get_graph",
        summary="Nodes and edges for drawing",
        parameters=[GraphParameters],
        responses=GraphOutput,
    )
    def get(self, request: Request) -> Response:
        return Response(GraphOutput(draw(self.actor, **self.query)).data)


class TimelineView(MapView):
    parameters = {"GET": TimelineParameters}

    @extend_schema(
        operation_id="get_timeline",
        summary="Memories by the day they are about, newest day first",
        parameters=[TimelineParameters],
        responses=page_of("TimelinePage", DayOutput),
    )
    def get(self, request: Request) -> Response:
        after = self.cursor()
        days = timeline(
            self.actor,
            scope=self.query.get("scope"),
            filters=Filters(node=self.query.get("node"), since=self.query.get("since"), until=self.query.get("until")),
            limit=self.query["limit"] + 1,
            before=after.created_at.astimezone(UTC).date() if after else None,
        )
        return self.page(DayOutput, days, day_of)


def newest(edge: Relationship) -> Cursor:
    return Cursor(edge.created_at, edge.id)


def day_of(day: Day) -> Cursor:
    """A page of days goes on before the last one of the page before: no row's id is needed."""
    return Cursor(midnight(day.date), NO_ROW)
