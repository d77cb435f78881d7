"""The tree as an outline, and what the page of a node shows: parts of the map, so that a page stays small."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.actor import Actor, BrainRef, Scope
from brainsite.web.reading import ListPage, read_list
from graph.index import least_memories
from graph.models import Node, NodeMemory, inbox_id
from graph.tree import NodePath, NodeView, Twig, ancestors, get_node, levels_below, list_nodes, paths, type_at
from memory.indexes import node_index
from memory.models import RecallFile
from memory.nodes import Relationship, list_relationships

OUTLINE_NODES = 1_000  # of a brain, on one page
OPEN_NODES = 100  # a tree of more starts with its deeper levels folded
OPEN_LEVELS = 2
NEW = timedelta(minutes=1)
LINKS = 50
PARTS = 10  # conversations of which only a part lies here

# How an edge reads from its source, and from its target.
READINGS = {
    "informs": ("informs", "is informed by"),
    "resolves": ("resolves", "is resolved by"),
    "precedes": ("comes before", "comes after"),
    "related_to": ("is related to", "is related to"),
}

# The database forgets the order of keys.
INDEX_KEYS = (
    *("node_id", "node_name", "parent_node", "last_updated", "sub_nodes", "aggregate_keywords", "key_entities"),
    *("summary", "total_memory_count", "name", "memory_count", "keywords", "date_range", "oldest", "newest"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A node of an outline, in the order of reading. `closes`: lists that end after it, one an item.

    `left_out`: nodes below it that are too deep for this page.
    """

    node: NodeView
    has_list: bool
    is_open: bool
    left_out: int
    closes: range


@dataclass(frozen=True, slots=True)
class Outline:
    scope: str
    rows: tuple[Row, ...]
    node_count: int


@dataclass(frozen=True, slots=True)
class Link:
    """An edge as it reads from the node whose page this is."""

    reading: str
    node: NodePath
    weight: float
    evidence: str


@dataclass(frozen=True, slots=True)
class IndexFile:
    data: Mapping[str, Any]
    text: str
    updated_at: datetime
    is_new: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A conversation that is filed elsewhere, a part of which lies here."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class NodePage:
    """`trail`: the nodes above, from the category down. `index`: None below `least_memories` memories."""

    node: NodeView
    trail: tuple[tuple[UUID, str], ...]
    children: tuple[Twig, ...]
    memories: ListPage
    parts: tuple[Part, ...]
    has_more_parts: bool
    index: IndexFile | None
    least_memories: int
    links: tuple[Link, ...]
    is_inbox: bool


def read_outlines(actor: Actor) -> tuple[Outline, ...]:
    """One for each brain that the actor reads, also for those without a node."""
    nodes = list_nodes(actor)
    return tuple(outline(brain.scope, [n for n in nodes if n.brain_id == brain.id]) for brain in actor.readable)


def outline(scope: str, nodes: Sequence[NodeView]) -> Outline:
    """nodes: of one brain, each before those below it. Whole levels from the top, as many as fit on a page."""
    depths = [node.path.count("/") for node in nodes]
    deepest = _deepest_shown(depths)
    shown = [at for at, depth in enumerate(depths) if depth <= deepest]
    rows = []
    for at, following in pairwise([*shown, len(nodes)]):
        next_depth = depths[following] if following < len(nodes) else 0
        rows.append(
            Row(
                node=nodes[at],
                has_list=next_depth > depths[at],
                is_open=len(nodes) <= OPEN_NODES or depths[at] < OPEN_LEVELS,
                left_out=following - at - 1,
                closes=range(depths[at] - next_depth),
            )
        )
    return Outline(scope, tuple(rows), len(nodes))


def _deepest_shown(depths: Sequence[int]) -> int:
    of_depth = Counter(depths)
    total, deepest = 0, 0
    for depth in sorted(of_depth):
        total += of_depth[depth]
        if total > OUTLINE_NODES:
            break
        deepest = depth
    return deepest


def read_node(actor: Actor, node_id: UUID, *, after: str = "") -> NodePage:
    """The page of a node whose list of memories goes on from `after`. Raises NotFound, Http404 (no cursor)."""
    with actor.session():
        node = get_node(actor, node_id)
        brain = BrainRef(node.brain_id, Scope(node.scope))
        index = node_index(actor, node.id)
        chain = ancestors(actor, brain, [node.id])[node.id]
        names = dict(Node.objects.visible_to(actor).filter(id__in=chain).values_list("id", "name"))
        levels = levels_below(actor, brain, node.id)
        parts = _parts(actor, node, [node.id, *(twig.id for level in levels for twig in level)])
        return NodePage(
            node=node,
            trail=tuple((above, names[above]) for above in reversed(chain[1:])),
            children=tuple(sorted(levels[0], key=_largest_first)) if levels else (),
            memories=read_list(actor, scope=node.scope, node=str(node.id), after=after),
            parts=parts[:PARTS],
            has_more_parts=len(parts) > PARTS,
            index=_index_file(index) if index else None,
            least_memories=least_memories(type_at(len(chain) - 2) if len(chain) > 1 else None),
            links=_links(actor, node),
            is_inbox=node.id == inbox_id(brain.id),
        )


def _largest_first(twig: Twig) -> tuple[int, str, UUID]:
    return -twig.memory_count, twig.name.casefold(), twig.id


def _parts(actor: Actor, node: NodeView, below: Sequence[UUID]) -> tuple[Part, ...]:
    """The newest, one more than are shown where there are more."""
    here = NodeMemory.objects.visible_to(actor).filter(brain_id=node.brain_id, node_id=node.id)
    files = RecallFile.objects.visible_to(actor).filter(
        brain_id=node.brain_id, id__in=here.values("recall_file_id"), state=RecallFile.State.LIVE
    )
    elsewhere = files.exclude(node_id__in=below).order_by("-created_at", "-id")[: PARTS + 1]
    return tuple(Part(id, title or slug) for id, title, slug in elsewhere.values_list("id", "title", "recall_id"))


def _index_file(index: Mapping[str, Any]) -> IndexFile:
    text = json.dumps(_in_order(index), indent=2, ensure_ascii=False)
    updated_at = datetime.fromisoformat(index["last_updated"])
    return IndexFile(index, text, updated_at, is_new=timezone.now() - updated_at < NEW)


def _rank(key: str) -> int:
    return INDEX_KEYS.index(key) if key in INDEX_KEYS else len(INDEX_KEYS)


def _in_order(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_order(each) for each in value]
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value, key=_rank)}
    return value


def _links(actor: Actor, node: NodeView) -> tuple[Link, ...]:
    edges = list_relationships(actor, scope=node.scope, node=str(node.id), limit=LINKS)
    others = paths(actor, (_other_end(edge, node.id) for edge in edges))
    return tuple(_link(edge, node.id, others[_other_end(edge, node.id)]) for edge in edges)


def _other_end(edge: Relationship, here: UUID) -> UUID:
    return edge.target_node_id if edge.source_node_id == here else edge.source_node_id


def _link(edge: Relationship, here: UUID, other: NodePath) -> Link:
    from_source, from_target = READINGS[edge.relationship]
    reading = from_source if edge.source_node_id == here else from_target
    return Link(reading, other, edge.weight, edge.evidence if isinstance(edge.evidence, str) else "")
