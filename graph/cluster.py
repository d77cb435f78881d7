"""Topics from many memories at once: runs of consecutive messages are clustered, topics are grouped into concepts.

Runs, not single messages, are the units: clustering messages one by one tears an answer from its question. Pure
functions over arrays, deterministic for a seed; no matrix grows with the square of the number of runs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

RUN_MESSAGES = 8

TOPIC_ENTRIES = 60  # what clustering aims at
SPLIT_ENTRIES, PART_ENTRIES = 200, 120  # a topic above the first is cut into parts of about the second
LEAST_ENTRIES = 12  # smaller ones join their nearest

MOST_ROUNDS = 25
# One round compares every run with every centre of its part: this keeps 100,000 entries within a second or two.
MOST_CENTRES = 128
ROWS_AT_A_TIME = 4_096

LEAST_TOPICS, CONCEPT_TOPICS, MOST_TOPICS = 3, 6, 8
# Grouping compares all pairs once per merge: a quarter of a second for this many.
MOST_PAIRED = 512

# A difference from the mean shorter than this is rounding, not direction.
_NO_LENGTH = 1e-5
NO_TOPIC = -1


@dataclass(frozen=True, slots=True)
class Run:
    """Up to eight consecutive messages of one recall file, filed together.

    `vector`: unit length, shape (d,); zeros when no entry has a vector.
    """

    vector: Floats
    entry_count: int

    @classmethod
    def of(cls, vectors: Floats) -> "Run":
        """The run of these entries, whose unit vectors are the rows; rows of zeros or NaN have none."""
        known = _known(vectors)
        return cls(_unit(vectors[known].sum(axis=0, dtype=np.float64)[None])[0], len(vectors))


def topics(vectors: Floats, sizes: npt.ArrayLike, *, seed: int = 0) -> Ints:
    """The topic of every run, numbered 0, 1, … in order of appearance; -1 for a run without a vector (zeros, NaN).

    vectors: (n, d), unit length. sizes: (n,), entries of each run, at least 1. Topics hold about 60 entries, never more
    than 200 unless a single run does, and at least 12 where another one has room. ValueError: shapes that do not match.
    """
    weights = _checked(vectors, sizes)
    known = np.flatnonzero(_known(vectors))
    found = np.full(len(vectors), NO_TOPIC, np.int64)
    if not len(known):
        return found
    weights = weights[known]
    directions = _centred(vectors[known], weights)
    labels = _clustered(directions, weights, np.random.default_rng(seed))
    labels = _split(directions, weights, labels, seed)
    found[known] = _numbered(_joined(directions, weights, labels))
    return found


def concepts(centroids: Floats, sizes: npt.ArrayLike) -> Ints:
    """The concept of every topic, numbered in order of appearance. Applied to concepts, it gives categories.

    centroids: (k, d), means of the topics' vectors, none of them centred. sizes: (k,), entries. Groups are made by
    average link and hold 3 to 8 topics, where the number of topics allows it; up to 5 topics are one group.
    ValueError: the shapes do not match.
    """
    weights = _checked(centroids, sizes)
    directions = _centred(np.nan_to_num(centroids), weights)
    labels = np.zeros(len(centroids), np.int64)
    if len(centroids) > MOST_PAIRED:
        part_count = -(-len(centroids) // (MOST_PAIRED // 2))
        labels = _clustered_flat(directions, weights, part_count, np.random.default_rng(0))
        labels = _cut_evenly(labels, np.ones(len(labels)), MOST_PAIRED)
    count = 0
    found = np.zeros(len(centroids), np.int64)
    for rows in _members(labels):
        groups = _grouped(directions[rows], weights[rows])
        found[rows] = groups + count
        count += int(groups.max()) + 1
    return _numbered(found)


# -- directions --------------------------------------------------------------------------------------------------------


def _checked(vectors: Floats, sizes: npt.ArrayLike) -> Doubles:
    weights = np.asarray(sizes, dtype=np.float64)
    if vectors.ndim != 2 or weights.shape != vectors.shape[:1]:
        raise ValueError(f"vectors {vectors.shape} and sizes {weights.shape} do not match")
    if not (weights >= 1).all():
        raise ValueError("sizes must be at least 1")
    return weights


def _known(vectors: Floats) -> npt.NDArray[np.bool_]:
    """Rows that are finite and not zero."""
    known: npt.NDArray[np.bool_] = np.isfinite(vectors).all(axis=1) & (vectors != 0).any(axis=1)
    return known


def _unit(rows: npt.NDArray[np.floating]) -> Floats:
    """Rows of unit length; what has no length becomes zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.where(lengths > _NO_LENGTH, rows / np.maximum(lengths, _NO_LENGTH), 0).astype(np.float32)
    return unit


def _centred(vectors: Floats, weights: Doubles) -> Floats:
    """Directions from the common mean: vectors of one model all point the same way, only the rest tells them apart."""
    if not len(vectors):
        return vectors.astype(np.float32)
    mean = weights @ vectors.astype(np.float64) / max(weights.sum(), 1.0)
    return _unit(vectors - mean)


# -- spherical k-means -------------------------------------------------------------------------------------------------


def _clustered(directions: Floats, weights: Doubles, random: np.random.Generator) -> Ints:
    """Clusters of about 60 entries; in a large brain within large clusters, so that time stays near linear."""
    count = max(1, round(float(weights.sum()) / TOPIC_ENTRIES))
    if count <= MOST_CENTRES:
        return _clustered_flat(directions, weights, count, random)
    parts = _clustered_flat(directions, weights, min(MOST_CENTRES, -(-count // (MOST_CENTRES // 2))), random)
    members = _members(parts)
    if len(members) == 1:
        return parts
    labels, made = np.zeros(len(directions), np.int64), 0
    for rows in members:
        inner = _clustered(directions[rows], weights[rows], random)
        labels[rows] = inner + made
        made += int(inner.max()) + 1
    return labels


def _clustered_flat(directions: Floats, weights: Doubles, count: int, random: np.random.Generator) -> Ints:
    """Labels 0 … at most count - 1, every one of them used."""
    centres = directions[_seeds(directions, weights, count, random)]
    labels = _nearest(directions, centres)
    for _ in range(MOST_ROUNDS - 1):
        centres = _centres(directions, weights, labels)
        moved = _nearest(directions, centres)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return _numbered(labels)


def _seeds(directions: Floats, weights: Doubles, count: int, random: np.random.Generator) -> Ints:
    """k-means++: each further seed is drawn by its distance from those chosen. Fewer when all that is left is equal."""
    chosen = [int(random.choice(len(directions), p=weights / weights.sum()))]
    distance = np.full(len(directions), np.inf)
    while len(chosen) < min(count, len(directions)):
        distance = np.minimum(distance, 1.0 - directions @ directions[chosen[-1]])
        distance[distance < _NO_LENGTH] = 0.0
        steps = np.cumsum(weights * distance)
        if steps[-1] <= 0:
            break
        chosen.append(int(np.searchsorted(steps, random.random() * steps[-1], side="right")))
    return np.array(chosen, np.int64)


def _nearest(directions: Floats, centres: Floats) -> Ints:
    nearest = np.empty(len(directions), np.int64)
    for start in range(0, len(directions), ROWS_AT_A_TIME):
        stop = start + ROWS_AT_A_TIME
        nearest[start:stop] = (directions[start:stop] @ centres.T).argmax(axis=1)
    return nearest


def _centres(directions: Floats, weights: Doubles, labels: Ints) -> Floats:
    """Unit means of the clusters by entries, in the order of their labels; a label without runs has none."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sums = np.add.reduceat(directions[order] * weights[order, None].astype(np.float32), starts, axis=0)
    return _unit(sums)


# -- sizes -------------------------------------------------------------------------------------------------------------


def _split(directions: Floats, weights: Doubles, labels: Ints, seed: int) -> Ints:
    """Cut every topic above 200 entries into parts of about 120, until none is left that can be cut."""
    labels, made = labels.copy(), int(labels.max()) + 1
    waiting = _members(labels)
    while waiting:
        rows = waiting.pop()
        size = float(weights[rows].sum())
        if size <= SPLIT_ENTRIES or len(rows) == 1:
            continue
        count = int(-(-size // PART_ENTRIES))
        inner = _clustered_flat(directions[rows], weights[rows], count, np.random.default_rng(seed))
        if not inner.any():
            # All alike: what is next to each other stays together.
            inner = _cut_evenly(inner, weights[rows], PART_ENTRIES)
        for part in _members(inner)[1:]:
            labels[rows[part]] = made
            made += 1
        waiting += [rows[part] for part in _members(inner)]
    return labels


def _joined(directions: Floats, weights: Doubles, labels: Ints) -> Ints:
    """Join topics below 12 entries, the smallest first, to the nearest one that has room."""
    labels = labels.copy()
    members = _members(labels)
    sizes = np.array([weights[rows].sum() for rows in members])
    sums = np.stack([weights[rows] @ directions[rows].astype(np.float64) for rows in members])
    for small in np.argsort(sizes, kind="stable"):
        size = sizes[small]
        if size >= LEAST_ENTRIES:
            break
        similar = _unit(sums) @ _unit(sums[small : small + 1])[0]
        similar[(sizes == 0) | (sizes + size > SPLIT_ENTRIES)] = -np.inf
        similar[small] = -np.inf
        target = int(similar.argmax())
        if not np.isfinite(similar[target]):
            continue
        labels[members[small]] = target
        members[target] = np.concatenate([members[target], members[small]])
        sums[target] += sums[small]
        sizes[target] += size
        sizes[small] = 0
    return labels


def _cut_evenly(labels: Ints, weights: Doubles, most: float) -> Ints:
    """Cut every label whose weight is above `most` into parts of even weight, in order."""
    labels, made = labels.copy(), int(labels.max()) + 1
    for rows in _members(labels):
        total = float(weights[rows].sum())
        count = int(-(-total // most))
        middle = np.cumsum(weights[rows]) - weights[rows] / 2
        part = np.minimum((middle * count / max(total, 1.0)).astype(np.int64), count - 1)
        labels[rows] = np.where(part == 0, labels[rows], made + part - 1)
        made += count - 1
    return labels


# -- concepts ----------------------------------------------------------------------------------------------------------


def _grouped(directions: Floats, weights: Doubles) -> Ints:
    """Average link with at most 8 topics a group: the closest two that fit are merged until enough groups are left."""
    count = len(directions)
    aim = max(1, min(round(count**0.5), count // LEAST_TOPICS), -(-count // CONCEPT_TOPICS))
    if aim == 1:
        return np.zeros(count, np.int64)
    links = _Links(directions, weights)
    while links.left > aim and links.merge(MOST_TOPICS):
        pass
    links.gather(LEAST_TOPICS, MOST_TOPICS)
    return _numbered(links.labels)


class _Links:
    """Groups of topics and their average similarities; a group goes by the number of its first topic."""

    def __init__(self, directions: Floats, weights: Doubles) -> None:
        self.labels = np.arange(len(directions), dtype=np.int64)
        self.left = len(directions)
        self._counts = np.ones(len(directions), np.int64)
        self._weights = np.maximum(weights, 1.0)
        self._similar = (directions @ directions.T).astype(np.float64)
        np.fill_diagonal(self._similar, -np.inf)

    def merge(self, most: int) -> bool:
        """Merge the two most similar groups that together have at most `most` topics; False when there are none."""
        fits = self._counts[:, None] + self._counts[None, :] <= most
        allowed = np.where(fits, self._similar, -np.inf)
        best = int(allowed.argmax())
        first, second = sorted(divmod(best, len(self.labels)))
        if not np.isfinite(allowed[first, second]):
            return False
        self._unite(first, second)
        return True

    def gather(self, least: int, most: int) -> None:
        """Let groups of fewer than `least` topics, the smallest first, join the most similar one that has room."""
        for group in np.argsort(self._counts, kind="stable"):
            if not 0 < self._counts[group] < least:
                continue
            fits = (self._counts > 0) & (self._counts + self._counts[group] <= most)
            allowed = np.where(fits, self._similar[group], -np.inf)
            nearest = int(allowed.argmax())
            if np.isfinite(allowed[nearest]):
                self._unite(*sorted((int(group), nearest)))

    def _unite(self, first: int, second: int) -> None:
        weights = self._weights
        total = weights[first] + weights[second]
        mean = (weights[first] * self._similar[first] + weights[second] * self._similar[second]) / total
        self._similar[first] = self._similar[:, first] = mean
        self._similar[first, first] = -np.inf
        self._similar[second] = self._similar[:, second] = -np.inf
        weights[first] = total
        self._counts[first] += self._counts[second]
        self._counts[second] = 0
        self.labels[self.labels == second] = first
        self.left -= 1


# -- labels ------------------------------------------------------------------------------------------------------------


def _members(labels: Ints) -> list[Ints]:
    """The rows of every label that is used, by label, each in order."""
    if not len(labels):
        return []
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _numbered(labels: Ints) -> Ints:
    """The same partition, numbered in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse]
