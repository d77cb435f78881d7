"""The arithmetic of the figures: pure functions, nothing is asked here."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

KS = (1, 3, 5, 10, 20)
KINDS = ("any", "all", "share")
BOOTSTRAP_DRAWS, BOOTSTRAP_SEED = 10_000, 20_250_101
BOOTSTRAP_ROWS = 200  # draws at once: memory


class Asked(Protocol):
    """What halves need to know of a question."""

    @property
    def id(self) -> str: ...
    @property
    def conversation(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one question: how many units answer it, and the places (from 1) in which some were found."""

    id: str
    conversation: str
    category: str
    wanted: int
    places: tuple[int, ...]

    def found(self, k: int) -> int:
        return sum(place <= k for place in self.places)

    def value(self, kind: str, k: int) -> float:
        """any, all or share of the evidence in the first k places."""
        found = self.found(k)
        return {"any": float(found > 0), "all": float(found == self.wanted), "share": found / self.wanted}[kind]


@dataclass(frozen=True, slots=True)
class Score:
    """Over n questions, in the first k places: some evidence, all of it, the mean share of it."""

    n: int
    any_at: dict[int, float]
    all_at: dict[int, float]
    share_at: dict[int, float]
    mrr: float

    def value(self, kind: str, k: int) -> float:
        at: dict[int, float] = getattr(self, f"{kind}_at")
        return at[k]


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences with its 95 % interval."""

    n: int
    mean: float
    low: float
    high: float


def places_of(ranked: Iterable[str], evidence: frozenset[str]) -> tuple[int, ...]:
    """The places of the evidence among the unique units, in rank order."""
    return tuple(place for place, unit in enumerate(dict.fromkeys(ranked), 1) if unit in evidence)


def score(outcomes: Sequence[Outcome]) -> Score:
    def mean(value: Callable[[Outcome], float]) -> float:
        return round(statistics.fmean(map(value, outcomes)), 4) if outcomes else 0.0

    any_at, all_at, share_at = (
        {k: mean(lambda o, kind=kind, k=k: o.value(kind, k)) for k in KS}  # type: ignore[misc]
        for kind in KINDS
    )
    return Score(len(outcomes), any_at, all_at, share_at, mean(lambda o: 1 / o.places[0] if o.places else 0.0))


def by_category(outcomes: Sequence[Outcome]) -> dict[str, Score]:
    categories = sorted({outcome.category for outcome in outcomes})
    return {each: score([o for o in outcomes if o.category == each]) for each in categories}


def halves(asked: Sequence[Asked]) -> dict[str, str]:
    """Question → A or B: every second conversation by its id; of one conversation, every second question."""
    conversations = sorted({each.conversation for each in asked})
    if len(conversations) == 1:
        return {each.id: "AB"[index % 2] for index, each in enumerate(asked)}
    half = {conversation: "AB"[index % 2] for index, conversation in enumerate(conversations)}
    return {each.id: half[each.conversation] for each in asked}


def by_half(outcomes: Sequence[Outcome]) -> dict[str, Score]:
    half = halves(outcomes)
    return {name: score([o for o in outcomes if half[o.id] == name]) for name in "AB"}


def paired(ours: Sequence[Outcome], theirs: Sequence[Outcome], kind: str, k: int) -> Difference:
    """Ours minus theirs, question by question; the interval by drawing questions again, with a fixed seed."""
    assert [(o.id, o.conversation) for o in ours] == [(o.id, o.conversation) for o in theirs]
    values = np.array([a.value(kind, k) - b.value(kind, k) for a, b in zip(ours, theirs, strict=True)])
    return bootstrap(values)


def bootstrap(values: np.ndarray) -> Difference:
    if not len(values):
        return Difference(0, 0.0, 0.0, 0.0)
    draw = np.random.default_rng(BOOTSTRAP_SEED)
    means = np.concatenate(
        [
            values[draw.integers(0, len(values), (BOOTSTRAP_ROWS, len(values)))].mean(axis=1)
            for _ in range(BOOTSTRAP_DRAWS // BOOTSTRAP_ROWS)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(len(values), round(float(values.mean()), 4), round(float(low), 4), round(float(high), 4))


def saving(spent: Sequence[int], instead: Sequence[int]) -> float:
    """The median share of tokens saved; questions for which there was nothing instead do not count."""
    saved = [1 - own / other for own, other in zip(spent, instead, strict=True) if other]
    return round(statistics.median(saved), 4) if saved else 0.0


def means(rows: Sequence[Mapping[str, float]], middle: Callable[[Iterable[float]], float]) -> dict[str, float]:
    """The mean, or the median, of each name over rows that may lack some."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: round(middle([row.get(name, 0.0) for row in rows]), 3) for name in names}
