"""The tree of one brain: find or make nodes by path, read paths, keep counts exact and no outdated index.

Every function runs inside an open session of `actor`, and takes the one brain it works on; list_nodes and get_node
open their own, over all brains that the actor reads.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, QuerySet, Value
from django.db.models.functions import Lower

from accounts.actor import Actor, BrainRef
from accounts.errors import Invalid, NotFound
from graph.models import NAME_CHARACTERS, Node, NodeIndex, NodeMemory, NodeRelationship, inbox_id

INBOX = "Inbox"
MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class NodePath:
    """A node and how people address it: names from the category down, joined by slashes."""

    id: UUID
    path: str


@dataclass(frozen=True, slots=True)
class Twig:
    """A node as it hangs in the tree."""

    id: UUID
    parent_id: UUID | None
    name: str
    memory_count: int


@dataclass(frozen=True, slots=True)
class Connection:
    """An edge beside the tree, seen from its source."""

    target_node_id: UUID
    relationship: str
    weight: float


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as a door shows it."""

    id: UUID
    brain_id: UUID
    scope: str
    name: str
    aliases: tuple[str, ...]
    type: str
    parent_id: UUID | None
    path: str
    category: str
    memory_count: int
    connections: tuple[Connection, ...]
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


def split_path(path: str, *, field: str = "node") -> list[str]:
    """The names of "Business/Sales/Pricing". Raises Invalid that names the field."""
    names = [name.strip() for name in path.split("/")]
    if not all(names):
        raise Invalid("A path has a name between every two slashes.", field=field)
    if len(names) > MAX_DEPTH:
        raise Invalid(f"A path has at most {MAX_DEPTH} levels.", field=field)
    for name in names:
        check_name(name, field)
    return names


def check_name(name: str, field: str) -> str:
    """A node's name without spaces around it. Raises Invalid."""
    name = name.strip()
    if not name or "/" in name:
        raise Invalid("A node's name has at least one character, and no slash.", field=field)
    if len(name) > NAME_CHARACTERS:
        raise Invalid(f"A node's name has at most {NAME_CHARACTERS} characters.", field=field)
    if not name.isprintable():
        raise Invalid("A node's name has printable characters only.", field=field)
    return name


def is_inbox_name(name: str) -> bool:
    """Whether this name is kept for the Inbox, at the root."""
    return name.casefold() == INBOX.casefold()


def find_node(actor: Actor, brain: BrainRef, node: str, *, field: str = "node") -> UUID:
    """A node by id or by path, whatever the case of its names. Raises NotFound, also for a node of another brain.

    An alias is as good as a name, unless a sibling really has that name.
    """
    rows = Node.objects.visible_to(actor).filter(brain_id=brain.id)
    if (node_id := as_uuid(node)) is not None:
        if not rows.filter(id=node_id).exists():
            raise NotFound("No such node.", field=field)
        return node_id
    parent: UUID | None = None
    for name in split_path(node, field=field):
        found = find_child(rows, parent, name)
        if found is None:
            raise NotFound("No such node.", field=field)
        parent = found
    assert parent is not None  # split_path gives at least one name
    return parent


def find_or_make_node(actor: Actor, brain: BrainRef, node: str, *, field: str = "node") -> UUID:
    """As find_node, but the missing part of a path is made. An unknown id raises NotFound."""
    if as_uuid(node) is not None:
        return find_node(actor, brain, node, field=field)
    rows = Node.objects.writable_by(actor).filter(brain_id=brain.id)
    names = split_path(node, field=field)
    if is_inbox_name(names[0]):
        if len(names) > 1:
            raise Invalid("The Inbox has no sub-nodes.", field=field)
        return inbox(actor, brain)
    parent: UUID | None = None
    category: str | None = None
    for depth, name in enumerate(names):
        found = find_child(rows, parent, name)
        if found is None:
            if category is None:  # the category above may have been found by an alias, or in another case
                category = rows.values_list("category", flat=True).get(id=parent) if parent else name
            made = rows.create(
                brain_id=brain.id,
                scope=brain.scope,
                name=name,
                type=type_at(depth),
                parent_id=parent,
                category=category,
            )
            found = made.id
        parent = found
    assert parent is not None
    return parent


def find_child(rows: QuerySet[Node], parent: UUID | None, name: str) -> UUID | None:
    """The node of this name below a parent, else the oldest one with this alias. `rows`: those of one brain."""
    if (exact := named_child(rows, parent, name)) is not None:
        return exact
    aliased = rows.filter(parent_id=parent).exclude(aliases=[]).order_by("created_at", "id")
    for node_id, aliases in aliased.values_list("id", "aliases"):
        if name.casefold() in (alias.casefold() for alias in aliases):
            return node_id
    return None


def named_child(rows: QuerySet[Node], parent: UUID | None, name: str) -> UUID | None:
    """By its own name alone, compared as the database's unique constraint does."""
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

    The indexes of these nodes go at once, for they must not show a deleted memory's words any longer. The caller holds
    the brain's lock (memory/corpus_version), so rows are changed by one transaction at a time.
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
    forget_indexes(actor, brain, {node_id for node_id, _ in deltas})


def forget_indexes(actor: Actor, brain: BrainRef, node_ids: Collection[UUID]) -> None:
    """Delete the stored indexes of nodes whose entries, names or places have changed. Under the brain's lock."""
    if node_ids:
        rows = NodeIndex.objects.writable_by(actor).filter(brain_id=brain.id, node_id__in=node_ids)
        rows._raw_delete(rows.db)  # no cascades to look for: nothing points at an index


def subtree(actor: Actor, brain: BrainRef, node_id: UUID) -> list[UUID]:
    """A node and everything below it. One query a level."""
    return [node_id, *(twig.id for level in levels_below(actor, brain, node_id) for twig in level)]


def levels_below(actor: Actor, brain: BrainRef, node_id: UUID) -> list[list[Twig]]:
    """What lies below a node: its children, their children, and so on. One query a level."""
    levels: list[list[Twig]] = []
    above = [node_id]
    while above:
        rows = Node.objects.visible_to(actor).filter(brain_id=brain.id, parent_id__in=above)
        level = [Twig(*row) for row in rows.values_list("id", "parent_id", "name", "memory_count")]
        above = [twig.id for twig in level]
        levels += [level] if level else []
    return levels


def list_nodes(actor: Actor, *, scope: str | None = None) -> list[NodeView]:
    """The trees of the actor's brains, flat: by brain, then by path. Two queries. Raises Forbidden (scope)."""
    brains = actor.readable if scope is None else actor.brains_to_read(scope)
    brain_ids = [brain.id for brain in brains]
    with actor.session():
        rows = {node.id: node for node in Node.objects.visible_to(actor).filter(brain_id__in=brain_ids)}
        edges = _connections(NodeRelationship.objects.visible_to(actor).filter(brain_id__in=brain_ids))
    names = {node.id: (node.name, node.parent_id) for node in rows.values()}
    views = [_node_view(node, _joined(node.id, names), edges.get(node.id, ())) for node in rows.values()]
    order = {brain.id: index for index, brain in enumerate(brains)}
    return sorted(views, key=lambda view: (order[view.brain_id], view.path.casefold().split("/"), view.id))


def get_node(actor: Actor, node_id: UUID) -> NodeView:
    """Raises NotFound, also for a node of a brain that this actor may not read."""
    with actor.session():
        node = Node.objects.visible_to(actor).filter(id=node_id).first()
        if node is None:
            raise NotFound
        edges = NodeRelationship.objects.visible_to(actor).filter(brain_id=node.brain_id, source_node_id=node_id)
        return _node_view(node, paths(actor, [node_id])[node_id].path, _connections(edges).get(node_id, ()))


def _connections(edges: QuerySet[NodeRelationship]) -> dict[UUID, tuple[Connection, ...]]:
    """Source → its edges, the heaviest first."""
    found: dict[UUID, list[Connection]] = {}
    rows = edges.order_by("-weight", "created_at", "id")
    for row in rows.only("source_node_id", "target_node_id", "relationship", "weight"):
        found.setdefault(row.source_node_id, []).append(
            Connection(row.target_node_id, row.relationship, float(row.weight))
        )
    return {source: tuple(each) for source, each in found.items()}


def _node_view(node: Node, path: str, connections: tuple[Connection, ...]) -> NodeView:
    return NodeView(
        id=node.id,
        brain_id=node.brain_id,
        scope=node.scope,
        name=node.name,
        aliases=tuple(node.aliases),
        type=node.type,
        parent_id=node.parent_id,
        path=path,
        category=node.category,
        memory_count=node.memory_count,
        connections=connections,
        created_at=node.created_at,
        last_accessed=node.last_accessed,
        archived_at=node.archived_at,
    )
