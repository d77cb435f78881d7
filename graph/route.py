"""Which nodes to look into: scores of nodes from what their indexes know, and the choice of what to warm.

Pure functions over arrays, one place per node. The index is a prior and a budget, not a gate: whatever is not warmed
here can still be found by the brain-wide nets of a search.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# Differences of scores are read as odds: 0.7 less is e times less likely.
TEMPERATURE = 0.7

BUDGET_NODES = 8  # more change nothing measurable; fewer lose
WIDE_NODES, LOW_CONFIDENCE = 12, 0.7  # where eight nodes cover less than this, four more are warmed
SHARE = 0.10  # of the brain's entries
MOST_ENTRIES = 1_000  # in a large brain two per cent are as good as ten
LEAST_NODES = 3  # also in a brain so small that they are more than its share
LEAST_ENTRIES = 200  # the largest topic that clustering makes: always small enough to be warmed
ENOUGH = 0.999  # confidence covered: the rest stays cold when a few stand out


@dataclass(frozen=True, slots=True)
class NodeWeights:
    """How much each signal counts, in standard deviations over the brain's nodes."""

    words: float = 1.0
    centroid: float = 0.7
    best_entry: float = 0.7
    name: float = 1.0
    date: float = 3.0


NODE_WEIGHTS = NodeWeights()


@dataclass(frozen=True, slots=True)
class Choice:
    """Positions of nodes. `warmed`: best first. `too_large`: left cold for their size alone, though they scored high.

    `covered`: confidence of what is warmed, 0 to 1.
    """

    warmed: tuple[int, ...]
    too_large: tuple[int, ...]
    covered: float


def score_nodes(
    words: Floats,
    best_entry: Floats,
    centroid: Floats,
    *,
    name_match: Floats | None = None,
    date_match: Floats | None = None,
    weights: NodeWeights = NODE_WEIGHTS,
) -> Floats:
    """Summed z-scores of nodes, shape (m,); NaN is unknown and counts as average.

    words: BM25 of the node's whole text. best_entry: highest BM25 among its entries. centroid: cosine of its mean
    vector. name_match: how well its name and aliases are named in the question, 0..1. date_match: how well its days
    fit the question's dates, 0..1. ValueError: the shapes do not match.
    """
    score = np.zeros(np.shape(words), np.float64)
    for weight, signal in (
        (weights.words, words),
        (weights.centroid, centroid),
        (weights.best_entry, best_entry),
        (weights.name, name_match),
        (weights.date, date_match),
    ):
        if signal is None:
            continue
        if np.shape(signal) != score.shape:
            raise ValueError(f"signals of {np.shape(signal)} and {score.shape} nodes do not match")
        score += weight * z_scores(signal)
    return score.astype(np.float32)


def z_scores(values: Floats) -> Floats:
    """Standard deviations from the mean of what is known; 0 for what is not, and where all are alike."""
    known = np.isfinite(values)
    z = np.zeros(np.shape(values), np.float32)
    if known.any():
        exact = values[known].astype(np.float64)
        spread = float(exact.std())
        z[known] = (exact - exact.mean()) / spread if spread > 1e-6 else 0.0
    return z


def confidences(scores: Floats) -> Floats:
    """Probabilities that the answer is in each node: the softmax of the scores, shape (m,). NaN scores get none."""
    if not len(scores):
        return np.zeros(0, np.float32)
    known = np.where(np.isnan(scores), -np.inf, scores.astype(np.float64))
    best = known.max()
    if not np.isfinite(best):
        return np.full(len(scores), 1 / len(scores), np.float32)
    odds = np.exp((known - best) / TEMPERATURE)
    shares: Floats = (odds / odds.sum()).astype(np.float32)
    return shares


def choose(
    confidence: Floats,
    sizes: npt.ArrayLike,
    *,
    budget_nodes: int = BUDGET_NODES,
    wide_nodes: int | None = None,
    share: float = SHARE,
    most_entries: int = MOST_ENTRIES,
    least_nodes: int = LEAST_NODES,
    enough: float = ENOUGH,
) -> Choice:
    """The nodes to warm: by confidence, at most `budget_nodes`, until `enough` of the confidence is covered; up to
    `wide_nodes` while less than 0.7 of it is.

    sizes: entries of each node itself, without its sub-nodes; a node without entries is not warmed. All nodes together
    stay within `share` of the brain's entries and `most_entries`; the first `least_nodes` may exceed that. A node that
    alone is above the budget (and above 200 entries) is never warmed. One that no longer fits gives way to the next.
    """
    counts = np.asarray(sizes, dtype=np.int64)
    if counts.shape != np.shape(confidence):
        raise ValueError(f"confidence of {np.shape(confidence)} and sizes of {counts.shape} nodes do not match")
    budget = min(share * float(counts.sum()), most_entries)
    largest = max(budget, LEAST_ENTRIES)
    known = np.nan_to_num(confidence)
    warmed: list[int] = []
    too_large: list[int] = []
    spent, covered = 0, 0.0
    for node in np.argsort(-known, kind="stable"):
        is_spent = len(warmed) >= least_nodes and spent >= budget
        most = budget_nodes if covered >= LOW_CONFIDENCE else wide_nodes or budget_nodes
        if len(warmed) >= most or covered >= enough or is_spent:
            break
        size = int(counts[node])
        if size > largest:
            too_large.append(int(node))
        elif size and (len(warmed) < least_nodes or spent + size <= budget):
            warmed.append(int(node))
            spent += size
            covered += float(known[node])
    return Choice(tuple(warmed), tuple(too_large), min(covered, 1.0))
