"""All that is measured of one set in one filling of its brains."""

import platform
import subprocess
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path

from benchmarks.asking import VARIANTS, Answers, Cost, Variant, ask_all, cost, without
from benchmarks.brains import Brains, fill
from benchmarks.data import Data, File
from benchmarks.scores import Outcome, Score, by_category, by_half, score
from memory import embedding
from memory.ranking import Weights

ABLATION_PLACES = 20
ALL_SIGNALS = "(all signals)"


@dataclass(frozen=True, slots=True)
class UnitReport:
    all: Score
    halves: dict[str, Score]
    categories: dict[str, Score]
    outcomes: list[Outcome]


@dataclass(frozen=True, slots=True)
class VariantReport:
    """routed: the share of the evidence whose node was warmed; None where nothing is routed."""

    units: dict[str, UnitReport]
    entries_read_share: float
    index_bytes: int
    routed: float | None


@dataclass(frozen=True, slots=True)
class SetReport:
    """`unit`: what the set's own figures count. `ablation`: signal → the score of auto without it."""

    name: str
    title: str
    unit: str
    pooled: bool
    filing: str
    every: int
    embedder: str
    commit: str
    python: str
    files: list[File]
    import_seconds: dict[str, float]
    filed_share: float
    nodes: int
    largest_node: int
    variants: dict[str, VariantReport]
    cost: Cost
    ablation: dict[str, Score] = field(default_factory=dict)

    def outcomes(self, variant: str, unit: str = "") -> list[Outcome]:
        return self.variants[variant].units[unit or self.unit].outcomes


def measure(data: Data, *, pooled: bool, every: int, filing: str = "import", ablate: bool = False) -> SetReport:
    commit()  # before anybody commits while this runs
    brains = fill(data, pooled=pooled, filing=filing)
    return SetReport(
        name=data.name,
        title=title_of(data, pooled=pooled, filing=filing),
        unit=data.kind.unit,
        pooled=pooled,
        filing=filing,
        every=every,
        embedder=embedding.embedder().name,
        commit=commit(),
        python=platform.python_version(),
        files=list(data.files),
        import_seconds=brains.seconds,
        filed_share=brains.filed_share,
        nodes=brains.node_count(),
        largest_node=brains.largest_node(),
        variants={name: _variant(ask_all(data, brains, name, variant)) for name, variant in VARIANTS.items()},
        cost=cost(data, brains),
        ablation=ablation(data, brains) if ablate else {},
    )


def title_of(data: Data, *, pooled: bool, filing: str) -> str:
    return data.kind.title + (" pooled" if pooled else "") + (", filed one by one" if filing == "single" else "")


def _variant(answers: Answers) -> VariantReport:
    return VariantReport(
        {
            unit: UnitReport(score(found), by_half(found), by_category(found), found)
            for unit, found in answers.outcomes.items()
        },
        answers.entries_read_share,
        answers.index_bytes,
        answers.routed,
    )


def ablation(data: Data, brains: Brains) -> dict[str, Score]:
    """Auto mode with each weight set to 0 in turn."""
    tried = {ALL_SIGNALS: Variant("auto")}
    tried |= {each.name: Variant("auto", without(each.name)) for each in fields(Weights)}
    return {
        name: score(ask_all(data, brains, f"without {name}", variant, limit=ABLATION_PLACES).outcomes[data.kind.unit])
        for name, variant in tried.items()
    }


@cache
def commit() -> str:
    """What this process runs, as it was when first asked; empty outside of a repository.

    With "-dirty" when that is not what was committed.
    """
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=7"],  # noqa: S607  (git is where the developer has it)
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()
