"""Navigation: which nodes of a brain a question is about, and which of them to warm.

Scores come from what an index knows (words of the node's text, its mean vector, its best entry by words, its names) and
from what was discussed in the session. Nothing of a memory is read here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from graph.route import WIDE_NODES, choose, confidences, score_nodes
from graph.words import SMALL_TALK, query_terms
from memory.arrays import Bools, Ints
from memory.corpus import Corpus
from memory.node_tree import Tree
from memory.ranking import Floats
from memory.types import Choice, NodeWarmth

SMALL_TALK_TERMS = frozenset(term for word in SMALL_TALK for term in query_terms(word))
LEAST_SHARE = 1e-7  # of the confidence: less is not shown
SESSION_BONUS = 1.0  # standard deviations that a node of the session's last answer gains
RECENT_MEMORIES = 5
SHOWN_NODES = 5  # of each kind in an answer
LEVELS_SHOWN = 4
INDEXED_FROM, DEEP_INDEXED_FROM, DEEP_LEVEL = 5, 10, 3  # memories that a node needs for an index file; 3: below topics


@dataclass(frozen=True, slots=True)
class Navigation:
    """Where to look in one brain. `rows`: entries to warm; `node_score`: of each node in the corpus, for the prior."""

    rows: Ints
    node_score: Floats
    warmed: tuple[NodeWarmth, ...]
    cold: tuple[NodeWarmth, ...]
    levels: tuple[tuple[NodeWarmth, ...], ...]
    indexes_read: int
    reason: str
    is_by_name: bool  # the question has no content word beyond names of nodes
    choices: tuple[Choice, ...] = ()


def score(
    corpus: Corpus,
    terms: Sequence[int],
    vector: Floats | None,
    by_entry: Floats,
    date: Floats | None,
    session: Mapping[UUID, float],
) -> Floats:
    """A score for each node of the corpus, in standard deviations.

    by_entry: each entry's score by words; date: how well its time fits the question's, None when that names no time.
    """
    ids = corpus.node_ids
    best_entry = np.zeros(len(ids), np.float32)
    hit = np.flatnonzero(by_entry)
    np.maximum.at(best_entry, corpus.nodes[hit], by_entry[hit])
    dates: Floats | None = None
    if date is not None:
        dates = np.zeros(len(ids), np.float32)
        np.maximum.at(dates, corpus.nodes, np.where(corpus.alive, date, 0))
    centroid = np.full(len(ids), np.nan, np.float32) if vector is None else corpus.node_centroids() @ vector
    content = set(terms) - SMALL_TALK_TERMS
    names: Floats | None = None
    if not content.isdisjoint(corpus.tree.name_terms):
        names = _named(corpus.tree, ids, content)
    scores = score_nodes(corpus.node_word_scores(terms), best_entry, centroid, name_match=names, date_match=dates)
    if not session:
        return scores
    return scores + SESSION_BONUS * np.array([session.get(node_id, 0.0) for node_id in ids], np.float32)


def navigate(
    corpus: Corpus,
    terms: Sequence[int],
    vector: Floats | None,
    by_entry: Floats,
    date: Floats | None,
    *,
    allowed: Bools,
    session: Mapping[UUID, float],
    offered: frozenset[UUID],
    only: frozenset[UUID] | None,
) -> Navigation:
    """Choose what to warm. `offered`: nodes the last answer of the session asked about; `only`: the caller's choice."""
    scores = score(corpus, terms, vector, by_entry, date, session)
    confidence = confidences(scores)
    sizes, _ = corpus.node_lengths()
    ids = corpus.node_ids
    content = set(terms) - SMALL_TALK_TERMS
    choices: tuple[Choice, ...] = ()
    is_by_name = bool(content) and content <= corpus.tree.name_terms
    named = _by_name(corpus.tree, content, session, offered) if only is None and is_by_name else None
    if only is not None:
        chosen = [code for code, node_id in enumerate(ids) if node_id in only]
        rows, reason = _rows(corpus, chosen, allowed), "the node you named"
    elif named is not None:
        below = frozenset(corpus.tree.below(named.node))
        chosen = [code for code, node_id in enumerate(ids) if node_id in below]
        rows, reason = _rows(corpus, chosen, allowed), named.reason
        if named.is_open:
            choices = _choices(corpus.tree, named.node)
            rows = _most_recent(corpus, rows)
    else:
        chosen = list(choose(confidence, sizes, wide_nodes=WIDE_NODES).warmed)
        rows, reason = _rows(corpus, chosen, allowed), "confidence"
    warm = [code for code in chosen if sizes[code]]
    is_cold = sizes > 0
    is_cold[warm] = False
    likeliest = np.argsort(-confidence, kind="stable")
    cold = likeliest[is_cold[likeliest]][:SHOWN_NODES]
    above = _rolled_up(corpus.tree, ids, confidence)
    levels, indexes = _levels(corpus.tree, above)
    return Navigation(
        rows=rows,
        node_score=scores,
        warmed=tuple(_warmth(corpus, ids[code], float(confidence[code]), int(sizes[code])) for code in warm),
        cold=tuple(_warmth(corpus, ids[c], float(confidence[c]), int(sizes[c])) for c in cold),
        levels=levels,
        indexes_read=indexes,
        reason=reason,
        is_by_name=is_by_name,
        choices=choices,
    )


def _named(tree: Tree, ids: Sequence[UUID], content: set[int]) -> Floats:
    """How much of the question the names on the way to each node take up, the nearest counting most; 0..1.

    Goes down from the few nodes that are named: most brains have many more nodes than a question names.
    """
    best: dict[UUID, float] = {}
    for node in tree.nodes.values():
        if content.isdisjoint(node.name_terms):
            continue
        share = len(content & node.name_terms) / len(content)
        level, step = [node.id], 1
        while level:
            for each in level:
                best[each] = max(best.get(each, 0.0), share / step)
            level, step = [child for each in level for child in tree.children.get(each, ())], step + 1
    return np.array([best.get(node_id, 0.0) for node_id in ids], np.float32)


@dataclass(frozen=True, slots=True)
class _Named:
    node: UUID
    is_open: bool
    reason: str


def _by_name(tree: Tree, content: set[int], session: Mapping[UUID, float], offered: frozenset[UUID]) -> _Named:
    """The node that a question without any other content word names.

    Is there more than one below it, what the session discussed decides; else the question stays open.
    """
    matched = {node_id: len(content & node.name_terms) for node_id, node in tree.nodes.items()}

    def fit(node_id: UUID) -> tuple[bool, int, float, float, int]:
        node = tree.nodes[node_id]
        return (
            node_id in offered,
            matched[node_id],
            sum(session.get(each, 0.0) for each in tree.below(node_id)),
            matched[node_id] / max(len(node.name_terms), 1),
            node.memory_count,
        )

    best = max((node_id for node_id, count in matched.items() if count), key=lambda n: (*fit(n), n.int))
    if best in offered:
        return _Named(best, False, "your choice")
    below = [child for child in tree.children.get(best, ()) if tree.nodes[child].memory_count]
    weights = {child: sum(session.get(each, 0.0) for each in tree.below(child)) for child in below}
    if discussed := [child for child in below if weights[child] > 0]:
        return _Named(max(discussed, key=lambda child: (weights[child], child.int)), False, "discussed in this session")
    return _Named(best, len(below) > 1, "named")


def _choices(tree: Tree, node_id: UUID) -> tuple[Choice, ...]:
    below = [tree.nodes[child] for child in tree.children.get(node_id, ()) if tree.nodes[child].memory_count]
    below.sort(key=lambda node: (-node.memory_count, node.name))
    return tuple(Choice(tree.path(node.id), node.name, node.memory_count) for node in below)


def _rows(corpus: Corpus, codes: Sequence[int], allowed: Bools) -> Ints:
    return np.flatnonzero(allowed & np.isin(corpus.nodes, np.array(codes, np.int64)))


def _most_recent(corpus: Corpus, rows: Ints) -> Ints:
    """The entries of the five memories that happened last."""
    recent: dict[UUID, None] = {}
    for row in rows[np.argsort(-corpus.occurred[rows], kind="stable")]:
        recent.setdefault(corpus.entries[row].recall_file_id)
        if len(recent) == RECENT_MEMORIES:
            break
    return np.array([row for row in rows if corpus.entries[row].recall_file_id in recent], np.int64)


def _rolled_up(tree: Tree, ids: Sequence[UUID], confidence: Floats) -> dict[UUID, float]:
    """The confidence of every node and its subtree."""
    above: dict[UUID, float] = {}
    for code in np.flatnonzero(confidence >= LEAST_SHARE):
        share = confidence[code]
        for each in tree.chain(ids[int(code)]):
            above[each] = above.get(each, 0.0) + float(share)
    return above


def _levels(tree: Tree, above: Mapping[UUID, float]) -> tuple[tuple[tuple[NodeWarmth, ...], ...], int]:
    """What a person would see going down: the best nodes of each level; and how many index files that reads."""
    levels: list[tuple[NodeWarmth, ...]] = []
    indexes = 0
    parents: list[UUID | None] = [None]
    for depth in range(LEVELS_SHOWN):
        nodes = [tree.nodes[each] for parent in parents for each in tree.children.get(parent, ())]
        least = INDEXED_FROM if depth < DEEP_LEVEL else DEEP_INDEXED_FROM
        indexes += sum(node.memory_count >= least for node in nodes)
        best = sorted(nodes, key=lambda node: (-above.get(node.id, 0.0), node.name))[:SHOWN_NODES]
        if not best:
            break
        levels.append(
            tuple(
                NodeWarmth(tree.path(node.id), round(above.get(node.id, 0.0), 4), node.memory_count, 0) for node in best
            )
        )
        parents = [node.id for node in best]
    return tuple(levels), indexes


def _warmth(corpus: Corpus, node_id: UUID, confidence: float, entries: int) -> NodeWarmth:
    node = corpus.tree.nodes.get(node_id)
    return NodeWarmth(corpus.tree.path(node_id), round(confidence, 4), node.memory_count if node else 0, entries)
