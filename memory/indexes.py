"""Index files of nodes: always exact, made when somebody asks, kept until something below the node changes.

A stored index is deleted in the transaction that changes what lies below its node (graph/tree.py), so one that is
there is good, unless entries were rewritten in place since: those carry the number of a later change.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Func, Max, Min, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.actor import Actor, BrainRef, Scope
from accounts.errors import NotFound
from graph.index import Passage, Span, compose_index, least_memories
from graph.models import Node, NodeIndex
from graph.tree import Twig, ancestors, levels_below
from memory.models import CorpusVersion, RagEntry

ATTEMPTS = 3
READ_AT_ONCE = 2_000
SEPARATOR = "\x1f"  # in no word and no name


def node_index(actor: Actor, node_id: UUID) -> dict[str, Any] | None:
    """The index file of a node, in the shape of graph.index.compose_index.

    None when the node has too few memories for one: it is warmed whole. Raises NotFound, also for a node of a brain
    that this actor may not read.
    """
    with actor.session():
        for _ in range(ATTEMPTS):
            made = _index(actor, node_id)
            if made is None or made.stored_at == made.revision:
                break
            # Every change has a number and is seen no sooner than its number: no other number, no change meanwhile.
            if _revisions(actor).get(made.node.brain_id, 0) == made.revision:
                _keep(actor, made)
                break
        return made.index if made else None


def refresh_indexes(actor: Actor, brain: BrainRef, node_ids: Iterable[UUID]) -> int:
    """Make and store the indexes of nodes and of all nodes above them, where they are due; how many there are now."""
    with actor.session():
        chains = ancestors(actor, brain, list(node_ids))
        wanted = {node_id for chain in chains.values() for node_id in chain}
        return sum(node_index(actor, node_id) is not None for node_id in sorted(wanted))


@dataclass(frozen=True, slots=True)
class _Made:
    """An index, with the corpus version that was current before the first row of it was read.

    `stored_at`: the version of the stored row that it was taken from.
    """

    node: Node
    index: dict[str, Any]
    revision: int
    stored_at: int | None


@dataclass(frozen=True, slots=True)
class _Below:
    """A node's subtree. `branch`: each node below it → the child of it that this one lies below, or is."""

    children: tuple[Twig, ...]
    branch: dict[UUID, UUID]


def _index(actor: Actor, node_id: UUID) -> _Made | None:
    revisions = _revisions(actor)
    nodes = Node.objects.visible_to(actor)
    node = nodes.filter(id=node_id).first()
    if node is None:
        raise NotFound
    revision = revisions.get(node.brain_id, 0)
    parent = nodes.filter(brain_id=node.brain_id, id=node.parent_id).first() if node.parent_id else None
    if node.memory_count < least_memories(parent.type if parent else None):
        return None
    stored = NodeIndex.objects.visible_to(actor).filter(brain_id=node.brain_id, node_id=node.id).first()
    if stored and stored.revision == revision:
        return _Made(node, stored.index_data, revision, None if stored.archived_at else revision)
    below = _below(actor, node)
    entries = RagEntry.objects.visible_to(actor).filter(brain_id=node.brain_id, node_id__in=[node.id, *below.branch])
    if stored and not entries.filter(revision__gt=stored.revision).exists():
        return _Made(node, stored.index_data, revision, stored.revision)
    spans = _spans(entries, below)
    if not spans:
        return None  # all of it has been deleted since the node was read
    index = compose_index(
        Twig(node.id, node.parent_id, node.name, node.memory_count),
        parent_name=parent.name if parent else None,
        children=below.children,
        passages=_passages(entries, below),
        spans=spans,
        last_updated=timezone.now().isoformat().replace("+00:00", "Z"),
    )
    return _Made(node, index, revision, None)


def _passages(entries: QuerySet[RagEntry], below: _Below) -> Iterator[Passage]:
    rows = entries.annotate(
        at=Cast("node_id", TextField()),
        file=Cast("recall_file_id", TextField()),
        words=_joined("keywords"),
        names=_joined("entities"),
    )
    branch = {str(node_id): child for node_id, child in below.branch.items()}
    for at, file, words, names in rows.values_list("at", "file", "words", "names").iterator(READ_AT_ONCE):
        yield Passage(branch.get(at), file, _split(words), _split(names))


def _spans(entries: QuerySet[RagEntry], below: _Below) -> dict[UUID | None, Span]:
    found: dict[UUID | None, Span] = {}
    for at, oldest, newest in entries.values_list("node_id").annotate(Min("occurred_at"), Max("occurred_at")):
        child = below.branch.get(at)
        known = found.get(child, (oldest, newest))
        found[child] = min(known[0], oldest), max(known[1], newest)
    return found


def _joined(array: str) -> Func:
    """An array as one text: thousands of lists set off the garbage collector, which takes longer than all the rest."""
    return Func(F(array), Value(SEPARATOR), function="array_to_string", output_field=TextField())


def _split(joined: str) -> list[str]:
    return joined.split(SEPARATOR) if joined else []


def _below(actor: Actor, node: Node) -> _Below:
    levels = levels_below(actor, BrainRef(node.brain_id, Scope(node.scope)), node.id)
    branch: dict[UUID, UUID] = {}
    for level in levels:
        for twig in level:
            above = twig.parent_id
            branch[twig.id] = branch.get(above, twig.id) if above else twig.id
    return _Below(tuple(levels[0]) if levels else (), branch)


def _revisions(actor: Actor) -> dict[UUID, int]:
    return dict(CorpusVersion.objects.visible_to(actor).values_list("brain_id", "revision"))


def _keep(actor: Actor, made: _Made) -> None:
    """Store an index that is still exact. Nobody waits for it: while somebody changes the brain, it is not stored."""
    node, revision = made.node, made.revision
    if node.brain_id not in [brain.id for brain in actor.writable]:
        return
    version = CorpusVersion.objects.writable_by(actor).filter(
        brain_id=node.brain_id, id=node.brain_id, revision=revision
    )
    if version.select_for_update(skip_locked=True).first() is None:
        return
    row = NodeIndex(
        brain_id=node.brain_id,
        scope=node.scope,
        node_id=node.id,
        index_data=made.index,
        revision=revision,
        last_updated=datetime.fromisoformat(made.index["last_updated"]),
    )
    NodeIndex.objects.writable_by(actor).bulk_create(
        [row],
        update_conflicts=True,
        unique_fields=["brain", "node"],
        update_fields=["index_data", "revision", "last_updated", "archived_at"],
    )
