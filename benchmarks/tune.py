"""Weights of the ranking fitted to data: `python -m benchmarks.tune --data DIR [--every N] [--out FILE]`.

On half A of LoCoMo, BEAM-100K and LifeBench together, each set counting the same: a softmax over the best 150
candidates of a question with its evidence as the target, pulled towards the weights that are in use. Half B was not
seen; its figures say whether the new weights are better. Weights learnt on one kind of conversation fail on others.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from unittest import mock

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import memory.recall
from benchmarks.asking import VARIANTS, ask, remember_query_vectors
from benchmarks.brains import Brains, fill
from benchmarks.data import Data, Question, read_set
from benchmarks.options import parser
from benchmarks.scores import Outcome, halves, places_of, score
from benchmarks.tables import table
from memory.candidates import Candidates, Ranked, rank
from memory.question import Question as Understood
from memory.ranking import WEIGHTS, Signals, Weights, standardised

Doubles = npt.NDArray[np.float64]

SETS = ("locomo", "beam100k", "lifebench")
NAMES = tuple(each.name for each in fields(Weights))
TOP = 150
PULL = 0.02  # of the squared distance to the weights in use, in units of each weight
LEAST_UNIT = 0.1  # a weight in use that is smaller moves as if it were this
STEPS, SMALL_STEP = 50, 1e-6
HEATS = np.geomspace(0.1, 10.0, 41)  # by which the weights in use are multiplied to make likelihoods


@dataclass(frozen=True, slots=True)
class Case:
    """A question's candidates: signals as they are weighed (one row a candidate), and the unit each belongs to."""

    question: Question
    evidence: frozenset[str]
    half: str
    signals: npt.NDArray[np.float32]
    units: tuple[str, ...]

    @property
    def gold(self) -> npt.NDArray[np.bool_]:
        return np.array([unit in self.evidence for unit in self.units], np.bool_)


@dataclass(frozen=True, slots=True)
class Example:
    """What is learnt from: the best candidates of one question, and how likely each should be (sums to 1)."""

    signals: Doubles
    target: Doubles
    weight: float


def cases(data: Data, brains: Brains) -> list[Case]:
    """Every question's candidates when everything is read."""
    half = halves(data.questions)
    found: list[Case] = []
    caught: list[Sequence[Candidates]] = []

    def rank_and_keep(
        found: Sequence[Candidates], question: Understood, limit: int, threshold: float, weights: Weights
    ) -> tuple[list[Ranked], int]:
        caught.append(found)
        return rank(found, question, limit, threshold, weights)

    with mock.patch.object(memory.recall, "rank", rank_and_keep):
        for question in tqdm(data.questions, desc=f"{data.name}: candidates", unit="question", leave=False):
            caught.clear()
            ask(brains, question, VARIANTS["exhaustive"], limit=1)
            (candidates,) = caught[0]  # of one brain
            entries = candidates.corpus.entries
            found.append(
                Case(
                    question,
                    question.evidence[data.kind.unit],
                    half[question.id],
                    matrix(candidates.signals),
                    tuple(brains.unit(entries[int(row)].id, data.kind.unit) for row in candidates.rows),
                )
            )
    return found


def matrix(signals: Signals) -> npt.NDArray[np.float32]:
    weighed = standardised(signals)
    return np.stack([weighed[name] for name in NAMES], axis=1).astype(np.float32)


def vector(weights: Weights) -> Doubles:
    return np.array([getattr(weights, name) for name in NAMES])


def examples(sets: Sequence[Sequence[Case]], start: Doubles) -> list[Example]:
    """The best candidates by the weights in use; questions whose evidence is not among them teach nothing."""
    found: list[Example] = []
    for cases_of_set in sets:
        mine = []
        for case in cases_of_set:
            best = np.argsort(-(case.signals @ start), kind="stable")[:TOP]
            gold = case.gold[best]
            if gold.any():
                mine.append((case.signals[best].astype(np.float64), gold / gold.sum()))
        found += [Example(signals, target, 1 / len(mine)) for signals, target in mine]
    return found


def loss(found: Sequence[Example], weights: Doubles) -> float:
    """The mean surprise at the evidence; the sets count the same."""
    return float(sum(-e.weight * (e.target @ _log_softmax(e.signals @ weights)) for e in found))


def fit(found: Sequence[Example], start: Doubles, *, pull: float = PULL) -> Doubles:
    """The weights that make the evidence likely and stay near `start`, on the scale of `start`.

    First the one factor that turns `start` into likelihoods, then Newton's method from there: the sum is convex.
    """
    heat = float(min(HEATS, key=lambda each: loss(found, each * start)))
    origin = heat * start
    stiffness = pull / np.maximum(np.abs(origin), heat * LEAST_UNIT) ** 2

    def total(weights: Doubles) -> float:
        return loss(found, weights) + float(stiffness @ (weights - origin) ** 2)

    weights = origin.copy()
    for _ in range(STEPS):
        slope = 2 * stiffness * (weights - origin)
        curve = np.diag(2 * stiffness)
        for example in found:
            likely = np.exp(_log_softmax(example.signals @ weights))
            mean = likely @ example.signals
            slope += example.weight * (mean - example.target @ example.signals)
            spread = (example.signals * likely[:, None]).T @ example.signals - np.outer(mean, mean)
            curve += example.weight * spread
        step = np.linalg.solve(curve, slope)
        size, before = 1.0, total(weights)
        while size > SMALL_STEP and total(weights - size * step) > before:
            size /= 2
        weights = weights - size * step
        if size * float(np.abs(step).max()) < SMALL_STEP:
            break
    return np.asarray(weights / heat)


def _log_softmax(logits: Doubles) -> Doubles:
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def outcomes(cases_of_set: Sequence[Case], weights: Doubles, half: str) -> list[Outcome]:
    """By the weighted sum alone; the product folds repeats as well, so its figures differ a little."""
    found = []
    for case in cases_of_set:
        if case.half == half:
            order = np.argsort(-(case.signals @ weights), kind="stable")
            places = places_of((case.units[i] for i in order), case.evidence)
            question = case.question
            found.append(Outcome(question.id, question.conversation, question.category, len(case.evidence), places))
    return found


def weights_text(weights: Doubles) -> str:
    """As they stand in memory/ranking.py."""
    return "\n".join(f"    {name}: float = {value:.2f}" for name, value in zip(NAMES, weights, strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    made = parser(__doc__)
    made.add_argument("--set", choices=SETS, action="append", dest="names", help="of these sets only")
    made.add_argument("--pull", type=float, default=PULL, help=f"towards the weights in use (default {PULL})")
    made.add_argument("--out", type=Path, help="keep the candidates' signals and labels here (.npz), to try more with")
    options = made.parse_args(arguments)
    remember_query_vectors()
    found: dict[str, list[Case]] = {}
    with tempfile.TemporaryDirectory() as work:
        for name in options.names or SETS:
            data = read_set(options.data, name, every=options.every, work=Path(work))
            if data is None:
                made.error(f"--data: no {name} in {options.data}")
            found[data.kind.title] = cases(data, fill(data, pooled=False))
    if options.out:
        keep(options.out, found)
    start = vector(WEIGHTS)
    fitted = fit(
        examples([[case for case in each if case.half == "A"] for each in found.values()], start),
        start,
        pull=options.pull,
    )
    print(comparison(found, start, np.round(fitted, 2)))
    print(f"\nFitted on half A of {', '.join(found)}:\n\n{weights_text(fitted)}")
    return 0


def comparison(found: dict[str, list[Case]], start: Doubles, fitted: Doubles) -> str:
    rows = []
    for title, cases_of_set in found.items():
        for half in "AB":
            scores = [score(outcomes(cases_of_set, weights, half)) for weights in (start, fitted)]
            cells = [f"{each.share_at[10]:.3f} / {each.any_at[10]:.3f}" for each in scores]
            rows.append([f"{title}, half {half}{' (fitted on)' if half == 'A' else ''}", scores[0].n, *cells])
    return table(["share@10 / any@10", "n", "in use", "fitted"], rows)


def keep(path: Path, found: dict[str, list[Case]]) -> None:
    """Arrays over all candidates: signals, gold, and the number, the half and the set of their question."""
    every = [(title, case) for title, each in found.items() for case in each]
    counts = [len(case.units) for _, case in every]
    np.savez_compressed(
        path,
        names=np.array(NAMES),
        signals=np.concatenate([case.signals for _, case in every]),
        gold=np.concatenate([case.gold for _, case in every]),
        question=np.repeat(np.arange(len(every)), counts),
        half=np.repeat(np.array([case.half for _, case in every]), counts),
        set=np.repeat(np.array([title for title, _ in every]), counts),
    )


if __name__ == "__main__":
    sys.exit(main())
