"""Fuse: the candidates of all brains in one order, repeats folded, the newest of what agrees first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from accounts.actor import BrainRef
from memory.arrays import Ints
from memory.corpus import Corpus
from memory.embedding import Model
from memory.navigate import Navigation
from memory.question import Question
from memory.ranking import Floats, Signals, Weights, standardised
from memory.types import Reason

SAME_COSINE = 0.95  # two texts of the same words may still say them in another order
# Two statements about the same thing, of which the newer one holds. Cosines of the bundled model.
AGREE_PLACES, AGREE_COSINE, AGREE_COVERAGE = 6, 0.75, 0.50
REASONS_SHOWN = 5
LEAST_REASON = 0.05


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of one brain's corpus that may answer, with their signals. `navigation` is None in exhaustive mode."""

    brain: BrainRef
    corpus: Corpus
    navigation: Navigation | None
    rows: Ints
    signals: Signals
    by_piece: Floats  # words, of each piece of the corpus
    standing: Ints  # rows that say how things are always wanted, nearest first; they may be candidates or not
    entries_total: int
    entries_read: int


@dataclass(slots=True)
class Ranked:
    """One candidate in its place. `piece`: the piece of its text that fits best; `vector`: that piece's, if known."""

    brain: int  # position in the list of candidates
    corpus: Corpus
    row: int
    at: int  # position among the brain's candidates
    score: float
    cosine: float | None
    coverage: float = 0.0
    piece: int = 0
    vector: Floats | None = None
    reasons: tuple[Reason, ...] = ()
    repeats: list[int] = field(default_factory=list)  # rows that say the same
    newer: int | None = None  # a row that says so too, later


def rank(
    found: Sequence[Candidates], question: Question, limit: int, threshold: float, weights: Weights
) -> tuple[list[Ranked], int]:
    """The best `limit` of all brains together, by one fusion; and how many the threshold cut from the places."""
    if not any(len(c.rows) for c in found):
        return [], 0
    joined = Signals(
        *(np.concatenate([getattr(c.signals, name) for c in found]) for name in Signals.__dataclass_fields__)
    )
    weighed = standardised(joined, question.model.spread)
    parts = {name: np.float32(getattr(weights, name)) * z for name, z in weighed.items()}
    scores = np.sum(list(parts.values()), axis=0)
    brain_of = np.concatenate([np.full(len(c.rows), index) for index, c in enumerate(found)])
    at = np.concatenate([np.arange(len(c.rows)) for c in found])
    ranked: list[Ranked] = []
    cut = 0
    for position in np.lexsort((at, brain_of, -scores)):
        if len(ranked) == limit:
            break
        cosine = float(joined.vector[position])
        known = not np.isnan(cosine)
        similarity = question.model.similarity(cosine) if known else 0.0
        index = int(brain_of[position])
        way = found[index].navigation
        if joined.words[position] <= 0 and similarity < threshold and not (way and way.is_by_name):
            cut += 1
            continue
        corpus, row = found[index].corpus, int(found[index].rows[int(at[position])])
        new = Ranked(index, corpus, row, int(at[position]), float(scores[position]), cosine if known else None)
        new.coverage = float(joined.coverage[position])
        new.piece, new.vector = corpus.best_piece(row, question.vector, found[index].by_piece)
        if (earlier := _same(ranked, new, question.model)) is not None:
            earlier.repeats.append(new.row)
            continue
        new.reasons = _reasons(parts, joined, position)
        ranked.append(new)
    return (_newest_first(ranked, question.model) if question.wants_current else ranked), cut


def _same(ranked: Sequence[Ranked], new: Ranked, model: Model) -> Ranked | None:
    """The hit that says the same as a new one in the same brain. Another number would be another statement."""
    for earlier in ranked:
        if earlier.brain != new.brain:
            continue
        if new.corpus.same_words(earlier.row, new.row) and _cosine(earlier, new, model, unknown=1.0) >= SAME_COSINE:
            return earlier
    return None


def _cosine(one: Ranked, other: Ranked, model: Model, *, unknown: float = -1.0) -> float:
    if one.vector is None or other.vector is None:
        return unknown
    return model.standard(float(one.vector @ other.vector))


def _newest_first(ranked: list[Ranked], model: Model) -> list[Ranked]:
    """Of a person's statements that answer alike, the newest takes the first place; the others are its history.

    Alike: near the first in place and in meaning, and with as much of the question in it.
    """
    if not ranked:
        return ranked
    best = ranked[0]
    alike = [
        r
        for r in ranked[1:AGREE_PLACES]
        if r.brain == best.brain
        and r.corpus.speakers[r.row] == best.corpus.speakers[best.row]
        and r.corpus.persons[r.row] == best.corpus.persons[best.row]
        and r.coverage >= AGREE_COVERAGE * best.coverage
        and _cosine(best, r, model) >= AGREE_COSINE
    ]
    newest = max([best, *alike], key=_when)
    for older in alike if newest is best else [best, *(r for r in alike if r is not newest)]:
        older.newer = newest.row
    return [newest, *(r for r in ranked if r is not newest)]


def _when(r: Ranked) -> tuple[float, UUID, int]:
    """Messages of one recall file may share their time: their place in it decides."""
    entry = r.corpus.entries[r.row]
    return float(r.corpus.occurred[r.row]), entry.recall_file_id, entry.position


def _reasons(parts: Mapping[str, Floats], signals: Signals, position: int) -> tuple[Reason, ...]:
    """What each signal gave to one candidate, the most first, and the place it has among all by that signal alone."""
    gave = {name: float(values[position]) for name, values in parts.items()}
    most = sorted((name for name in gave if gave[name] >= LEAST_REASON), key=lambda name: -gave[name])
    return tuple(
        Reason(name, round(gave[name], 2), 1 + int((getattr(signals, name) > getattr(signals, name)[position]).sum()))
        for name in most[:REASONS_SHOWN]
    )
