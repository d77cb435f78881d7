"""The tree of one brain: find or make nodes by path, read paths, keep counts exact.

Every function runs inside an open session of `actor`, and takes the one brain it works on; list_nodes and get_node
open their own, over all brains that the actor reads.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Lower

from accounts.actor import Actor, BrainRef
from accounts.errors import Invalid, NotFound
from graph.models import NAME_CHARACTERS, Node, NodeMemory, inbox_id

INBOX = "Inbox"
MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class NodePath:
    """A node and how people address it: names from the category down, joined by slashes."""

    id: UUID
    path: str


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as a door shows it."""

    id: UUID
    brain_id: UUID
    scope: str
    name: str
    type: str
    parent_id: UUID | None
    path: str
    category: str
    memory_count: int
    created_at: datetime
    last_accessed: datetime | None
    archived_at: datetime | None


def type_at(depth: int) -> str:
    return (Node.Type.CATEGORY, Node.Type.CONCEPT)[depth] if depth < 2 else Node.Type.TOPIC


def inbox(actor: Actor, brain: BrainRef) -> UUID:
    """The Inbox of a brain; made on first use."""
    node_id = inbox_id(brain.id)
    if not Node.objects.visible_to(actor).filter(brain_id=brain.id, id=node_id).exists():
        node = Node(
            id=node_id,
            brain_id=brain.id,
            scope=brain.scope,
            name=INBOX,
            type=Node.Type.TOPIC,
            parent=None,
            category=INBOX,
        )
        Node.objects.writable_by(actor).bulk_create([node], ignore_conflicts=True)
    return node_id


def split_path(path: str) -> list[str]:
    """The names of "Business/Sales/Pricing". Raises Invalid that names the field `node`."""
    names = [name.strip() for name in path.split("/")]
    if not all(names):
        raise Invalid("A path has a name between every two slashes.", field="node")
    if len(names) > MAX_DEPTH:
        raise Invalid(f"A path has at most {MAX_DEPTH} levels.", field="node")
    if any(len(name) > NAME_CHARACTERS for name in names):
        raise Invalid(f"A node's name has at most {NAME_CHARACTERS} characters.", field="node")
    if any(not name.isprintable() for name in names):
        raise Invalid("A node's name has printable characters only.", field="node")
    return names


def find_node(actor: Actor, brain: BrainRef, node: str) -> UUID:
    """A node by id or by path, whatever the case of its names. Raises NotFound, also for a node of another brain."""
    rows = Node.objects.visible_to(actor).filter(brain_id=brain.id)
    if (node_id := as_uuid(node)) is not None:
        if not rows.filter(id=node_id).exists():
            raise NotFound("No such node.", field="node")
        return node_id
    parent: UUID | None = None
    for name in split_path(node):
        found = _child(rows, parent, name)
        if found is None:
            raise NotFound("No such node.", field="node")
        parent = found
    assert parent is not None  # split_path gives at least one name
    return parent


def find_or_make_node(actor: Actor, brain: BrainRef, node: str) -> UUID:
    """As find_node, but the missing part of a path is made. An unknown id raises NotFound."""
    if as_uuid(node) is not None:
        return find_node(actor, brain, node)
    rows = Node.objects.writable_by(actor).filter(brain_id=brain.id)
    names = split_path(node)
    if names[0].casefold() == INBOX.casefold():
        if len(names) > 1:
            raise Invalid("The Inbox has no sub-nodes.", field="node")
        return inbox(actor, brain)
    parent: UUID | None = None
    for depth, name in enumerate(names):
        found = _child(rows, parent, name)
        if found is None:
            made = rows.create(
                brain_id=brain.id,
                scope=brain.scope,
                name=name,
                type=type_at(depth),
                parent_id=parent,
                category=names[0],
            )
            found = made.id
        parent = found
    assert parent is not None
    return parent


def _child(rows: QuerySet[Node], parent: UUID | None, name: str) -> UUID | None:
    return (
        rows.annotate(lower=Lower("name"))
        .filter(parent_id=parent, lower=Lower(Value(name)))
        .values_list("id", flat=True)
        .first()
    )


def as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def ancestors(actor: Actor, brain: BrainRef, node_ids: Iterable[UUID]) -> dict[UUID, list[UUID]]:
    """Node → itself and its ancestors, nearest first. One query a level."""
    parents: dict[UUID, UUID | None] = {}
    wanted = set(node_ids)
    while missing := wanted - parents.keys():
        rows = Node.objects.visible_to(actor).filter(brain_id=brain.id, id__in=missing)
        found = dict(rows.values_list("id", "parent_id"))
        parents |= found
        wanted = {parent for parent in found.values() if parent is not None}
    return {node_id: _chain(node_id, parents) for node_id in node_ids}


def _chain(node_id: UUID, parents: Mapping[UUID, UUID | None]) -> list[UUID]:
    chain = [node_id]
    while (parent := parents.get(chain[-1])) is not None:
        chain.append(parent)
    return chain


def paths(actor: Actor, node_ids: Iterable[UUID]) -> dict[UUID, NodePath]:
    """The paths of nodes in any of the actor's readable brains. One query a level."""
    rows = Node.objects.visible_to(actor)
    known: dict[UUID, tuple[str, UUID | None]] = {}
    wanted = asked = set(node_ids)
    while missing := wanted - known.keys():
        found = {
            node_id: (name, parent)
            for node_id, name, parent in rows.filter(id__in=missing).values_list("id", "name", "parent_id")
        }
        known |= found
        wanted = {parent for _, parent in found.values() if parent is not None}
    return {node_id: NodePath(node_id, _joined(node_id, known)) for node_id in asked if node_id in known}


def _joined(node_id: UUID, known: Mapping[UUID, tuple[str, UUID | None]]) -> str:
    names: list[str] = []
    current: UUID | None = node_id
    while current is not None and current in known:
        name, current = known[current]
        names.append(name)
    return "/".join(reversed(names))


def count_entries(actor: Actor, brain: BrainRef, changes: Mapping[tuple[UUID, UUID], int]) -> None:
    """Add entries (or take them away) at (node, recall file), there and in all ancestors; memory counts follow.

    The caller holds the brain's lock (memory/corpus_version), so rows are changed by one transaction at a time.
    """
    chains = ancestors(actor, brain, {node_id for node_id, _ in changes})
    deltas: dict[tuple[UUID, UUID], int] = {}
    for (node_id, recall_file_id), amount in changes.items():
        for above in chains[node_id]:
            key = (above, recall_file_id)
            deltas[key] = deltas.get(key, 0) + amount
    rows = NodeMemory.objects.writable_by(actor).filter(brain_id=brain.id)
    files = {recall_file_id for _, recall_file_id in deltas}
    existing = {(row.node_id, row.recall_file_id): row for row in rows.filter(recall_file_id__in=files)}
    memory_changes: dict[UUID, int] = {}
    new: list[NodeMemory] = []
    gone: list[UUID] = []
    for (node_id, recall_file_id), amount in deltas.items():
        row = existing.get((node_id, recall_file_id))
        count = (row.entry_count if row else 0) + amount
        if row is None and count > 0:
            new.append(
                NodeMemory(
                    brain_id=brain.id,
                    scope=brain.scope,
                    node_id=node_id,
                    recall_file_id=recall_file_id,
                    entry_count=count,
                )
            )
            memory_changes[node_id] = memory_changes.get(node_id, 0) + 1
        elif row is not None and count <= 0:
            gone.append(row.id)
            memory_changes[node_id] = memory_changes.get(node_id, 0) - 1
        elif row is not None and amount:
            rows.filter(id=row.id).update(entry_count=count)
    rows.bulk_create(new)
    if gone:
        rows.filter(id__in=gone).delete()
    for node_id, amount in sorted(memory_changes.items()):
        nodes = Node.objects.writable_by(actor).filter(brain_id=brain.id, id=node_id)
        nodes.update(memory_count=F("memory_count") + amount)


def subtree(actor: Actor, brain: BrainRef, node_id: UUID) -> list[UUID]:
    """A node and everything below it. One query a level."""
    found, level = [node_id], [node_id]
    while level:
        rows = Node.objects.visible_to(actor).filter(brain_id=brain.id, parent_id__in=level)
        level = list(rows.values_list("id", flat=True))
        found += level
    return found


def list_nodes(actor: Actor, *, scope: str | None = None) -> list[NodeView]:
    """The trees of the actor's brains, flat: by brain, then by path. One query. Raises Forbidden (scope)."""
    brains = actor.readable if scope is None else actor.brains_to_read(scope)
    with actor.session():
        rows = {node.id: node for node in Node.objects.visible_to(actor).filter(brain_id__in=[b.id for b in brains])}
    names = {node.id: (node.name, node.parent_id) for node in rows.values()}
    views = [_node_view(node, _joined(node.id, names)) for node in rows.values()]
    order = {brain.id: index for index, brain in enumerate(brains)}
    return sorted(views, key=lambda view: (order[view.brain_id], view.path.casefold().split("/"), view.id))


def get_node(actor: Actor, node_id: UUID) -> NodeView:
    """Raises NotFound, also for a node of a brain that this actor may not read."""
    with actor.session():
        node = Node.objects.visible_to(actor).filter(id=node_id).first()
        if node is None:
            raise NotFound
        return _node_view(node, paths(actor, [node_id])[node_id].path)


def _node_view(node: Node, path: str) -> NodeView:
    return NodeView(
        id=node.id,
        brain_id=node.brain_id,
        scope=node.scope,
        name=node.name,
        type=node.type,
        parent_id=node.parent_id,
        path=path,
        category=node.category,
        memory_count=node.memory_count,
        created_at=node.created_at,
        last_accessed=node.last_accessed,
        archived_at=node.archived_at,
    )
