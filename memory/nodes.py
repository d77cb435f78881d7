"""Changing the map by hand: name, aliases and place of a node, edges between nodes; and the map for drawing.

A tree belongs to its brain: in a personal brain to the owner, in the corporate one to the curators. Whoever may write
to a brain may make nodes in it, as filing a memory does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.actor import Actor, BrainRef, Door, Scope
from accounts.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from accounts.operations import record
from graph.models import Node, NodeMemory, NodeRelationship, inbox_id
from graph.tree import (
    MAX_DEPTH,
    NodeView,
    ancestors,
    check_name,
    count_entries,
    find_child,
    find_node,
    find_or_make_node,
    forget_indexes,
    get_node,
    is_inbox_name,
    levels_below,
    named_child,
    type_at,
)
from memory.capture import check_choice
from memory.corpus_version import lock_brain
from memory.memories import PAGE_MOST, Cursor, nodes_below
from memory.text import check_json, check_text

ALIASES = 50
EVIDENCE_CHARACTERS = 4_096
DRAWN_NODES, DRAWN_EDGES = 2_000, 10_000
CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A stored edge between two nodes of one brain."""

    id: UUID
    scope: str
    source_node_id: UUID
    target_node_id: UUID
    relationship: str
    weight: float
    evidence: Any
    created_at: datetime


# -- the tree ----------------------------------------------------------------------------------------------------------


def make_node(actor: Actor, path: str, *, scope: str = Scope.PERSONAL) -> tuple[NodeView, bool]:
    """The node at a path, made where missing, and whether it was. Raises Invalid, Forbidden, NotFound (an id)."""
    brain = actor.brain_to_write(scope)
    _check_person(actor)
    check_text(path, "path", most=4_096)
    with actor.session():
        lock_brain(actor, brain)
        try:
            return get_node(actor, find_node(actor, brain, path, field="path")), False
        except NotFound:
            node_id = find_or_make_node(actor, brain, path, field="path")
        record(actor, brain, "make_node", target_kind="node", targets=[node_id])
        return get_node(actor, node_id), True


def edit_node(
    actor: Actor, node_id: UUID, *, name: str | None = None, aliases: Sequence[str] | None = None
) -> NodeView:
    """Both or neither of rename_node and set_aliases; aliases that are given are all there will be."""
    if name is None and aliases is None:
        raise Invalid("Nothing to change.")
    with actor.session():
        if name is not None:
            rename_node(actor, node_id, name)
        if aliases is not None:
            set_aliases(actor, node_id, aliases)
        return get_node(actor, node_id)


def rename_node(actor: Actor, node_id: UUID, name: str) -> NodeView:
    """Give a node another name; the old one stays an alias. Raises NotFound, Forbidden, Invalid, Conflict."""
    name = check_name(name, "name")
    with actor.session():
        brain, node = _node_to_change(actor, node_id)
        _check_not_inbox(brain, node_id)
        if name == node.name:
            return get_node(actor, node_id)
        rows = Node.objects.writable_by(actor).filter(brain_id=brain.id)
        _check_free(actor, brain, node, node.parent_id, name, field="name")
        kept = [alias for alias in (*node.aliases, node.name) if alias.casefold() != name.casefold()]
        rows.filter(id=node_id).update(name=name, aliases=kept[-ALIASES:])
        levels = levels_below(actor, brain, node_id)
        if node.parent_id is None:
            rows.filter(id__in=[node_id, *(twig.id for level in levels for twig in level)]).update(category=name)
        children = [twig.id for level in levels[:1] for twig in level]
        forget_indexes(actor, brain, [node_id, *children, *([node.parent_id] if node.parent_id else [])])
        names = {"before": {"name": node.name}, "after": {"name": name}}
        record(actor, brain, "rename_node", target_kind="node", targets=[node_id], data=names)
        return get_node(actor, node_id)


def set_aliases(actor: Actor, node_id: UUID, aliases: Sequence[str]) -> NodeView:
    """The other names a node answers to, in paths too. Raises NotFound, Forbidden, Invalid, Conflict, TooLarge."""
    if len(aliases) > ALIASES:
        raise TooLarge(f"At most {ALIASES} aliases.", field="aliases")
    checked = [check_name(alias, "aliases") for alias in aliases]
    with actor.session():
        brain, node = _node_to_change(actor, node_id)
        _check_not_inbox(brain, node_id)
        unique = {alias.casefold(): alias for alias in reversed(checked) if alias.casefold() != node.name.casefold()}
        kept = list(unique.values())[::-1]
        rows = Node.objects.writable_by(actor).filter(brain_id=brain.id)
        for alias in kept:
            if (node.parent_id is None and is_inbox_name(alias)) or find_child(
                rows.exclude(id=node_id), node.parent_id, alias
            ):
                raise Conflict("Another node beside it has this name already.", field="aliases")
        rows.filter(id=node_id).update(aliases=kept)
        names = {"before": {"aliases": node.aliases}, "after": {"aliases": kept}}
        record(actor, brain, "set_aliases", target_kind="node", targets=[node_id], data=names)
        return get_node(actor, node_id)


def move_node(actor: Actor, node_id: UUID, parent: str | None) -> NodeView:
    """Hang a node, with all below it, under another one (an id or a path), or at the root (None).

    Types and category follow the new place, counts of the nodes above follow the memories. Raises NotFound, Forbidden,
    Invalid and Conflict, the latter two and an unknown parent by the field `parent`.
    """
    with actor.session():
        brain, node = _node_to_change(actor, node_id)
        _check_not_inbox(brain, node_id)
        parent_id = None if parent is None else find_node(actor, brain, parent, field="parent")
        if parent_id == node.parent_id:
            return get_node(actor, node_id)
        above = ancestors(actor, brain, [parent_id])[parent_id] if parent_id else []
        levels = levels_below(actor, brain, node_id)
        if node_id in above:
            raise Invalid("A node cannot lie below itself.", field="parent")
        if parent_id == inbox_id(brain.id):
            raise Invalid("The Inbox has no sub-nodes.", field="parent")
        if len(above) + 1 + len(levels) > MAX_DEPTH:
            raise Invalid(f"The tree has at most {MAX_DEPTH} levels.", field="parent")
        _check_free(actor, brain, node, parent_id, node.name, field="parent")
        _move_counts(actor, brain, node, parent_id)
        _hang(actor, brain, node, parent_id, depth=len(above), levels=[[t.id for t in level] for level in levels])
        forget_indexes(actor, brain, [node_id])
        places = {"before": {"parent": _text(node.parent_id)}, "after": {"parent": _text(parent_id)}}
        record(actor, brain, "move_node", target_kind="node", targets=[node_id], data=places)
        return get_node(actor, node_id)


def _move_counts(actor: Actor, brain: BrainRef, node: Node, parent_id: UUID | None) -> None:
    """What the nodes above the old place lose, those above the new place gain; nodes above both notice nothing."""
    rows = NodeMemory.objects.visible_to(actor).filter(brain_id=brain.id, node_id=node.id)
    changes: dict[tuple[UUID, UUID], int] = {}
    for recall_file_id, count in rows.values_list("recall_file_id", "entry_count"):
        for place, amount in ((node.parent_id, -count), (parent_id, count)):
            if place is not None:
                changes[place, recall_file_id] = amount
    count_entries(actor, brain, changes)


def _hang(
    actor: Actor, brain: BrainRef, node: Node, parent_id: UUID | None, *, depth: int, levels: list[list[UUID]]
) -> None:
    rows = Node.objects.writable_by(actor).filter(brain_id=brain.id)
    category = rows.values_list("category", flat=True).get(id=parent_id) if parent_id else node.name
    rows.filter(id=node.id).update(parent_id=parent_id, type=type_at(depth), category=category)
    by_type: dict[str, list[UUID]] = {}
    for below, level in enumerate(levels, start=depth + 1):
        by_type.setdefault(type_at(below), []).extend(level)
    for kind, node_ids in by_type.items():
        rows.filter(id__in=node_ids).update(type=kind, category=category)


def _node_to_change(actor: Actor, node_id: UUID) -> tuple[BrainRef, Node]:
    """A node of a tree that this actor may rearrange, as it is under the brain's lock. Raises NotFound, Forbidden."""
    rows = Node.objects.visible_to(actor).filter(id=node_id)
    brain_id = rows.values_list("brain_id", flat=True).first()
    if brain_id is None:
        raise NotFound
    brain = _brain_to_change(actor, brain_id)
    lock_brain(actor, brain)
    node = rows.first()
    if node is None:
        raise NotFound
    return brain, node


def _brain_to_change(actor: Actor, brain_id: UUID) -> BrainRef:
    brain = next((each for each in actor.readable if each.id == brain_id), None)
    if brain is None:
        raise NotFound
    if brain not in actor.writable:
        raise Forbidden(f"This key may not write to {brain.scope}.", field="scope")
    _check_person(actor)
    if brain.scope != Scope.PERSONAL and actor.door == Door.PERSON and not actor.curates:
        raise Forbidden("Only a curator may change a shared tree.")
    return brain


def _check_person(actor: Actor) -> None:
    if actor.door not in (Door.PERSON, Door.JOB):
        raise Forbidden("The tree is changed by people.")


def _check_not_inbox(brain: BrainRef, node_id: UUID) -> None:
    if node_id == inbox_id(brain.id):
        raise Invalid("The Inbox keeps its name and its place.")


def _check_free(actor: Actor, brain: BrainRef, node: Node, parent_id: UUID | None, name: str, *, field: str) -> None:
    rows = Node.objects.visible_to(actor).filter(brain_id=brain.id).exclude(id=node.id)
    if (parent_id is None and is_inbox_name(name)) or named_child(rows, parent_id, name):
        raise Conflict("Another node there has this name already.", field=field)


def _text(node_id: UUID | None) -> str | None:
    return str(node_id) if node_id else None


# -- edges -------------------------------------------------------------------------------------------------------------


def relate(
    actor: Actor,
    source: UUID,
    target: UUID,
    relationship: str,
    weight: float = 1.0,
    evidence: str | Mapping[str, Any] | None = None,
) -> tuple[Relationship, bool]:
    """Draw an edge, or give the one that is there another weight and evidence; and whether it is new.

    weight: 0..1, at most two decimals. Raises NotFound (of another brain too), Forbidden, Invalid, TooLarge.
    """
    check_choice(relationship, NodeRelationship.Kind.values, "relationship")
    if not 0 <= weight <= 1 or round(weight, 2) != weight:
        raise Invalid("A weight is between 0 and 1, with at most two decimals.", field="weight")
    if source == target:
        raise Invalid("A node has no edge to itself.", field="target_node_id")
    if isinstance(evidence, str):
        check_text(evidence, "evidence", most=EVIDENCE_CHARACTERS)
    with actor.session():
        nodes = dict(Node.objects.visible_to(actor).filter(id__in=[source, target]).values_list("id", "brain_id"))
        if source not in nodes:
            raise NotFound("No such node.", field="source_node_id")
        if nodes.get(target) != nodes[source]:
            raise NotFound("No such node.", field="target_node_id")
        brain = _brain_to_change(actor, nodes[source])
        lock_brain(actor, brain)
        edges = NodeRelationship.objects.writable_by(actor).filter(brain_id=brain.id)
        given = {
            "weight": Decimal(str(weight)),
            "evidence": evidence if isinstance(evidence, str) else check_json(dict(evidence or {}), "evidence"),
        }
        same = edges.filter(source_node_id=source, target_node_id=target, relationship=relationship)
        made = not same.update(**given)
        if made:
            edges.create(
                brain_id=brain.id,
                scope=brain.scope,
                source_node_id=source,
                target_node_id=target,
                relationship=relationship,
                **given,
            )
        edge = same.get()
        told = {"source": str(source), "target": str(target), "relationship": relationship, "weight": weight}
        record(actor, brain, "relate", target_kind="relationship", targets=[edge.id], data=told)
        return _relationship(edge), made


def unrelate(actor: Actor, relationship_id: UUID) -> None:
    """Take an edge away. Raises NotFound, Forbidden."""
    with actor.session():
        rows = NodeRelationship.objects.visible_to(actor).filter(id=relationship_id)
        brain_id = rows.values_list("brain_id", flat=True).first()
        if brain_id is None:
            raise NotFound
        brain = _brain_to_change(actor, brain_id)
        lock_brain(actor, brain)
        edge = rows.first()
        if edge is None:
            raise NotFound
        NodeRelationship.objects.writable_by(actor).filter(brain_id=brain.id, id=edge.id).delete()
        told = {
            "source": str(edge.source_node_id),
            "target": str(edge.target_node_id),
            "relationship": edge.relationship,
            "weight": float(edge.weight),
        }
        record(actor, brain, "unrelate", target_kind="relationship", targets=[edge.id], data=told)


def list_relationships(
    actor: Actor,
    *,
    scope: str | None = None,
    node: str | None = None,
    relationship: str | None = None,
    limit: int = 20,
    after: Cursor | None = None,
) -> list[Relationship]:
    """Stored edges, newest first; of one node (an id or a path): those that leave it and those that arrive.

    Raises Forbidden (scope), NotFound (node), Invalid.
    """
    if not 1 <= limit <= PAGE_MOST + 1:
        raise Invalid(f"Must be between 1 and {PAGE_MOST}.", field="limit")
    brains = actor.readable if scope is None else actor.brains_to_read(scope)
    with actor.session():
        rows = NodeRelationship.objects.visible_to(actor).filter(brain_id__in=[brain.id for brain in brains])
        if relationship is not None:
            rows = rows.filter(relationship=check_choice(relationship, NodeRelationship.Kind.values, "relationship"))
        if node is not None:
            ends = _nodes_named(actor, brains, node)
            rows = rows.filter(Q(source_node_id__in=ends) | Q(target_node_id__in=ends))
        if after:
            rows = rows.filter(Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id))
        return [_relationship(row) for row in rows.order_by("-created_at", "-id")[:limit]]


def _nodes_named(actor: Actor, brains: Iterable[BrainRef], node: str) -> list[UUID]:
    """The node in each of these brains that has it. Raises NotFound when none has."""
    found = []
    for brain in brains:
        try:
            found.append(find_node(actor, brain, node))
        except NotFound:
            continue
    if not found:
        raise NotFound("No such node.", field="node")
    return found


def _relationship(row: NodeRelationship) -> Relationship:
    return Relationship(
        id=row.id,
        scope=row.scope,
        source_node_id=row.source_node_id,
        target_node_id=row.target_node_id,
        relationship=row.relationship,
        weight=float(row.weight),
        evidence=row.evidence,
        created_at=row.created_at,
    )


# -- the map for drawing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DrawnNode:
    id: UUID
    name: str
    type: str
    parent_id: UUID | None
    memory_count: int
    category: str


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    source: UUID
    target: UUID
    relationship: str
    weight: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """Nodes and edges, `contains` among them. `node_count`: of what was asked for, drawn or not.

    `is_aggregated`: there are too many of them, so the deepest levels were left out; their edges are drawn at the
    nodes above.
    """

    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    levels: int
    node_count: int
    is_aggregated: bool


def draw(actor: Actor, *, scope: str | None = None, node: str | None = None, depth: int | None = None) -> Drawing:
    """The map: the trees of the actor's brains, or what lies below one node with that node; `depth` levels of it.

    Raises Forbidden (scope), NotFound (node), Invalid.
    """
    brains = actor.readable if scope is None else actor.brains_to_read(scope)
    brain_ids = [brain.id for brain in brains]
    with actor.session():
        rows = Node.objects.visible_to(actor).filter(brain_id__in=brain_ids)
        if node is not None:
            rows = rows.filter(id__in=[below for brain in brains for below in nodes_below(actor, brain, node)])
        found = [DrawnNode(*row) for row in rows.values_list(*DrawnNode.__dataclass_fields__)]
        if node is not None and not found:
            raise NotFound("No such node.", field="node")
        edges = NodeRelationship.objects.visible_to(actor).filter(brain_id__in=brain_ids)
        heaviest = edges.order_by("-weight", "id")[:DRAWN_EDGES]
        stored = list(heaviest.values_list("source_node_id", "target_node_id", "relationship", "weight"))
    parents = {each.id: each.parent_id for each in found}
    level_of = _levels(parents)
    asked = [each for each in found if depth is None or level_of[each.id] <= depth]
    shown, is_aggregated = _fitting(asked, level_of)
    drawn = {each.id for each in shown}
    contains = [
        DrawnEdge(each.parent_id, each.id, CONTAINS, 1.0)
        for each in shown
        if each.parent_id and each.parent_id in drawn
    ]
    return Drawing(
        nodes=tuple(shown),
        edges=(*contains, *_lifted(stored, parents, drawn)),
        levels=max((level_of[each.id] for each in shown), default=0),
        node_count=len(asked),
        is_aggregated=is_aggregated,
    )


def _levels(parents: Mapping[UUID, UUID | None]) -> dict[UUID, int]:
    """1 for nodes whose parent is not among these, and one more with every step down."""
    levels: dict[UUID, int] = {}
    for node_id in parents:
        chain = []
        current: UUID | None = node_id
        while current is not None and current in parents and current not in levels:
            chain.append(current)
            current = parents[current]
        level = levels[current] if current is not None and current in parents else 0
        for each in reversed(chain):
            level += 1
            levels[each] = level
    return levels


def _fitting(nodes: Sequence[DrawnNode], level_of: Mapping[UUID, int]) -> tuple[list[DrawnNode], bool]:
    """As many whole levels from the top as can be drawn, the largest nodes first; of the first level, the largest."""
    ordered = sorted(nodes, key=lambda each: (level_of[each.id], -each.memory_count, each.name.casefold(), each.id))
    if len(ordered) <= DRAWN_NODES:
        return ordered, False
    first_left_out = level_of[ordered[DRAWN_NODES].id]
    whole = [each for each in ordered if level_of[each.id] < first_left_out]
    return whole or ordered[:DRAWN_NODES], True


def _lifted(
    stored: Iterable[tuple[UUID, UUID, str, Decimal]], parents: Mapping[UUID, UUID | None], drawn: set[UUID]
) -> list[DrawnEdge]:
    """Edges between drawn nodes; an end that is not drawn gives its edge to the node above. Once each, the heaviest."""

    def drawn_above(node_id: UUID) -> UUID | None:
        current: UUID | None = node_id
        while current is not None and current not in drawn:
            current = parents.get(current)
        return current

    edges: dict[tuple[UUID, UUID, str], DrawnEdge] = {}
    for source_id, target_id, relationship, weight in stored:
        source, target = drawn_above(source_id), drawn_above(target_id)
        if source and target and source != target:
            edge = DrawnEdge(source, target, relationship, float(weight))
            edges.setdefault((source, target, relationship), edge)
    return list(edges.values())
