"""The nodes of one brain as recall needs them: names, parents and paths, without a question to the database."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from graph.tree import NodePath


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node as recall needs it. `name_terms`: the words of its name and aliases."""

    id: UUID
    name: str
    type: str
    parent_id: UUID | None
    memory_count: int
    name_terms: frozenset[int]


class Tree:
    """The nodes of one brain, with their paths."""

    def __init__(self, nodes: Iterable[TreeNode]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self.children: dict[UUID | None, list[UUID]] = {}
        self.name_terms = frozenset[int]().union(*(node.name_terms for node in self.nodes.values()))
        self._chains: dict[UUID, list[UUID]] = {}
        for node in self.nodes.values():
            self.children.setdefault(node.parent_id, []).append(node.id)

    def chain(self, node_id: UUID) -> list[UUID]:
        """The node and its ancestors, nearest first."""
        if (known := self._chains.get(node_id)) is not None:
            return known
        found: list[UUID] = []
        current: UUID | None = node_id
        while current is not None and current in self.nodes:
            found.append(current)
            current = self.nodes[current].parent_id
        self._chains[node_id] = found
        return found

    def path(self, node_id: UUID) -> NodePath:
        return NodePath(node_id, "/".join(self.nodes[each].name for each in reversed(self.chain(node_id))))

    def below(self, node_id: UUID) -> list[UUID]:
        """The node and everything under it."""
        found = [node_id]
        for each in found:
            found.extend(self.children.get(each, ()))
        return found
