"""The arithmetic of recall, as pure functions over arrays. Figures and reasons: docs/decisions/0005-ranking.md."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts: in standard deviations over the candidates; the others for a full
    match."""

    vector: float = 0.65
    words: float = 0.05
    piece_words: float = 0.15
    vector_before: float = 0.05
    vector_after: float = 0.25
    words_before: float = 0.08
    words_after: float = 0.10
    group_words: float = 0.40
    group_vector: float = 0.35
    date: float = 6.0
    speaker: float = 1.0
    role: float = 2.0
    coverage: float = 1.5
    standing: float = 0.9
    after_question: float = 0.5
    timed: float = 0.6
    node: float = 0.10


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of each candidate, arrays of one length. NaN: not known (no vector yet, no neighbour).

    vector: cosine of the best piece; words: BM25 of the entry, and of its best piece; of the messages before and after
    too. group_words, group_vector: BM25 of the conversation's (or the day's) whole text, its best cosine. date: how
    well its time fits the question's, 0..1. speaker: named in the question. role: a person said it, where the question
    is about the asker. coverage: how much of the question's rarity it has, 0..1. standing: says how things are always
    wanted, where that matters. after_question: the message before it asks. timed: says when, where that is asked.
    node: how well its node fits, in standard deviations over the brain's nodes.
    """

    vector: Floats
    words: Floats
    piece_words: Floats
    vector_before: Floats
    vector_after: Floats
    words_before: Floats
    words_after: Floats
    group_words: Floats
    group_vector: Floats
    date: Floats
    speaker: Floats
    role: Floats
    coverage: Floats
    standing: Floats
    after_question: Floats
    timed: Floats
    node: Floats


# Signals that are standard deviations over the candidates, and whose scale they are measured by. The others count as
# they are.
SCALE_OF = {
    "vector": "vector",
    "words": "words",
    "piece_words": "piece_words",
    "vector_before": "vector",
    "vector_after": "vector",
    "words_before": "words",
    "words_after": "words",
    "group_words": "group_words",
    "group_vector": "group_vector",
}
# In a brain of few memories, all of one kind, small differences must not be blown up.
LEAST_SPREAD = {"words": 0.5, "piece_words": 0.5, "group_words": 0.5}
LEAST_SPREAD_COSINES = {"vector": 0.06, "group_vector": 0.06}  # of the bundled model


def idf(document_count: int, frequency: npt.NDArray[np.int64]) -> Floats:
    """Inverse document frequency, never negative."""
    value: Floats = np.log1p((document_count - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    return value


def bm25(weight: float, counts: Floats, lengths: Floats, average_length: float) -> Floats:
    """One term's share of the score of the documents it occurs in."""
    norm = K1 * (1 - B + B * lengths / max(average_length, 1.0))
    score: Floats = (weight * counts * (K1 + 1) / (counts + norm)).astype(np.float32)
    return score


def standardised(signals: Signals, spread: float = 1.0) -> dict[str, Floats]:
    """Each signal as it is weighed. spread: how far apart the model's cosines lie, 1 for the bundled one."""
    least_spread = LEAST_SPREAD | {name: least * spread for name, least in LEAST_SPREAD_COSINES.items()}
    scales = {name: _scale(getattr(signals, name), least) for name, least in least_spread.items()}
    return {
        name: _z(getattr(signals, name), scales[SCALE_OF[name]]) if name in SCALE_OF else getattr(signals, name)
        for name in Signals.__dataclass_fields__
    }


def _scale(values: Floats, least: float) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.mean()), max(float(known.std()), least)) if len(known) else (0.0, 1.0)


def _z(values: Floats, scale: tuple[float, float]) -> Floats:
    mean, spread = scale
    z: Floats = np.nan_to_num((values - mean) / spread, nan=0.0).astype(np.float32)
    return z
