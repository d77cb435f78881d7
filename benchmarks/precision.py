"""Routing against reading everything: `python -m benchmarks.precision --data DIR [--filing single]`.

The pooled sets' questions together, each asked in auto mode and exhaustively, with the same fusion on both sides.
--filing single files the conversations as daily use does, session by session, instead of as one import.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.asking import VARIANTS, Answers, ask_all, remember_query_vectors
from benchmarks.brains import FILINGS, fill
from benchmarks.data import read_set
from benchmarks.measure import SetReport
from benchmarks.options import parser
from benchmarks.scores import Difference, Outcome, paired
from benchmarks.tables import percent, points, table

POOLED_SETS = ("beam100k", "locomo")
COMPARED = (("any", 10), ("share", 10))


@dataclass(frozen=True, slots=True)
class Part:
    """One pooled set: what auto and exhaustive found of the same questions."""

    title: str
    auto: list[Outcome]
    exhaustive: list[Outcome]
    entries_read_share: float
    routed: float | None
    filed_share: float
    nodes: int
    largest_node: int


@dataclass(frozen=True, slots=True)
class Precision:
    """auto − exhaustive, by figure such as any@10; entries read: the mean over questions; routed: over evidence."""

    title: str
    n: int
    differences: dict[str, Difference]
    entries_read_share: float
    routed: float
    filed_share: float
    nodes: int
    largest_node: int


def part_of(report: SetReport) -> Part:
    auto = report.variants["auto"]
    return Part(
        report.title,
        report.outcomes("auto"),
        report.outcomes("exhaustive"),
        auto.entries_read_share,
        auto.routed,
        report.filed_share,
        report.nodes,
        report.largest_node,
    )


def measure_part(folder: Path, name: str, *, filing: str, every: int) -> Part | None:
    """One pooled set asked in these two ways only."""
    with tempfile.TemporaryDirectory() as work:
        data = read_set(folder, name, every=every, work=Path(work))
        if data is None:
            return None
        brains = fill(data, pooled=True, filing=filing)
        found: dict[str, Answers] = {
            mode: ask_all(data, brains, mode, VARIANTS[mode]) for mode in ("auto", "exhaustive")
        }
    unit = data.kind.unit
    auto, exhaustive = found["auto"], found["exhaustive"]
    return Part(
        f"{data.kind.title} pooled",
        auto.outcomes[unit],
        exhaustive.outcomes[unit],
        auto.entries_read_share,
        auto.routed,
        brains.filed_share,
        brains.node_count(),
        brains.largest_node(),
    )


def precision(title: str, parts: Sequence[Part]) -> Precision:
    """Over the questions of all parts together. Routing and filing count by question, too."""
    auto = [outcome for part in parts for outcome in part.auto]
    exhaustive = [outcome for part in parts for outcome in part.exhaustive]

    def mean(values: Sequence[float]) -> float:
        weighed = sum(len(part.auto) * value for part, value in zip(parts, values, strict=True))
        return round(weighed / len(auto), 4)

    return Precision(
        title,
        len(auto),
        {f"{kind}@{k}": paired(auto, exhaustive, kind, k) for kind, k in COMPARED},
        mean([part.entries_read_share for part in parts]),
        mean([part.routed or 0.0 for part in parts]),
        mean([part.filed_share for part in parts]),
        sum(part.nodes for part in parts),
        max(part.largest_node for part in parts),
    )


def precisions(parts: Sequence[Part]) -> list[Precision]:
    """All sets together first, then each."""
    found = [precision(part.title, [part]) for part in parts]
    return [precision("together", parts), *found] if len(parts) > 1 else found


def precision_table(rows: Sequence[Precision]) -> str:
    head = ["auto − exhaustive, points (95 %)", "n"]
    head += [f"{kind}@{k}" for kind, k in COMPARED] + [
        "entries read",
        "evidence's node warmed",
        "filed",
        "nodes",
        "largest",
    ]
    return table(
        head,
        [
            [
                each.title,
                each.n,
                *(points(difference) for difference in each.differences.values()),
                percent(each.entries_read_share),
                percent(each.routed),
                percent(each.filed_share),
                each.nodes,
                each.largest_node,
            ]
            for each in rows
        ],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    made = parser(__doc__)
    made.add_argument("--filing", choices=FILINGS, default="import", help="how the conversations come to their nodes")
    made.add_argument("--set", choices=POOLED_SETS, action="append", dest="names", help="of these sets only")
    made.add_argument("--json", type=Path, help="write the figures here too")
    options = made.parse_args(arguments)
    remember_query_vectors()
    names = options.names or POOLED_SETS
    tried = [measure_part(options.data, name, filing=options.filing, every=options.every) for name in names]
    parts = [part for part in tried if part is not None]
    if not parts:
        made.error(f"--data: none of {', '.join(names)} in {options.data}")
    found = precisions(parts)
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    print(precision_table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
