"""The arithmetic of recall, as pure functions over arrays. Figures and reasons: docs/decisions/0005-ranking.md."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, in standard deviations over the candidates."""

    vector: float = 0.60
    words: float = 0.15
    piece_words: float = 0.15
    vector_before: float = 0.10
    vector_after: float = 0.15
    words_before: float = 0.08
    words_after: float = 0.10
    node: float = 0.15


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of each candidate, arrays of one length. NaN: not known (no vector yet, no neighbour).

    `node`: how well its node fits, in standard deviations over the brain's nodes.
    """

    vector: Floats
    words: Floats
    piece_words: Floats
    vector_before: Floats
    vector_after: Floats
    words_before: Floats
    words_after: Floats
    node: Floats


def idf(document_count: int, frequency: npt.NDArray[np.int64]) -> Floats:
    """Inverse document frequency, never negative."""
    value: Floats = np.log1p((document_count - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    return value


def bm25(weight: float, counts: Floats, lengths: Floats, average_length: float) -> Floats:
    """One term's share of the score of the documents it occurs in."""
    norm = K1 * (1 - B + B * lengths / max(average_length, 1.0))
    score: Floats = (weight * counts * (K1 + 1) / (counts + norm)).astype(np.float32)
    return score


def fuse(signals: Signals, weights: Weights = WEIGHTS) -> Floats:
    """Summed z-scores. What is not known counts as average."""
    vector = _scale(signals.vector)
    words = _scale(signals.words)
    piece_words = _scale(signals.piece_words)
    score: Floats = (
        weights.vector * _z(signals.vector, vector)
        + weights.words * _z(signals.words, words)
        + weights.piece_words * _z(signals.piece_words, piece_words)
        + weights.vector_before * _z(signals.vector_before, vector)
        + weights.vector_after * _z(signals.vector_after, vector)
        + weights.words_before * _z(signals.words_before, words)
        + weights.words_after * _z(signals.words_after, words)
        + weights.node * signals.node
    ).astype(np.float32)
    return score


def _scale(values: Floats) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    spread = float(known.std())
    return float(known.mean()), spread if spread > 1e-6 else 1.0


def _z(values: Floats, scale: tuple[float, float]) -> Floats:
    mean, spread = scale
    z: Floats = np.nan_to_num((values - mean) / spread, nan=0.0).astype(np.float32)
    return z
