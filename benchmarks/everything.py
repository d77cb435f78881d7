"""All sets, in brains of their own and pooled, with one table of figures at the end: `make bench ARGS="--data DIR"`.

Sets that are not below DIR are left out. Writes recall.json, recall.md and recall.svg to --out.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.asking import VARIANTS, remember_query_vectors
from benchmarks.data import SETS, Data, read_set
from benchmarks.figures import GOALS, figures, figures_table
from benchmarks.measure import SetReport, commit, measure
from benchmarks.options import parser
from benchmarks.plot import Group, plot
from benchmarks.precision import POOLED_SETS, Part, Precision, measure_part, part_of, precision_table, precisions
from benchmarks.tables import ablation_table, set_report

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    made = parser(__doc__)
    made.add_argument("--out", type=Path, help="default: a folder of this commit in benchmarks/results")
    made.add_argument("--set", choices=SETS, action="append", dest="names", help="this set only; may be repeated")
    made.add_argument("--ablate", action="store_true", help="also with each weight of the ranking at 0 in turn")
    made.add_argument("--filing-single", action="store_true", help="also the pooled sets, filed session by session")
    options = made.parse_args(arguments)
    out: Path = options.out or RESULTS / f"{commit() or 'recall'}.local"
    out.mkdir(parents=True, exist_ok=True)
    remember_query_vectors()
    reports: list[SetReport] = []
    with tempfile.TemporaryDirectory() as work:
        for name in options.names or SETS:
            folder = Path(work) / name
            folder.mkdir()
            data = read_set(options.data, name, every=options.every, work=folder)
            if data is None:
                print(f"{name}: not in {options.data}, left out", file=sys.stderr)
                continue
            for pooled in (False, True) if has_many(data) else (False,):
                report = measure(data, pooled=pooled, every=options.every, ablate=options.ablate)
                print(set_report(report), flush=True)
                reports.append(report)
    if not reports:
        made.error(f"--data: none of {', '.join(options.names or SETS)} in {options.data}")
    compared = {"filed by the import": [part_of(r) for r in reports if r.pooled and r.name in POOLED_SETS]}
    if options.filing_single:
        compared["filed one by one"] = one_by_one(options.data, options.every)
    found = {filing: precisions(parts) for filing, parts in compared.items() if parts}
    text = summary(reports, found)
    print(text, end="")
    write(out, reports, found, text)
    print(f"\nWritten to {out}")
    return 0


def has_many(data: Data) -> bool:
    """Whether there is more than one conversation to pool."""
    return len({question.conversation for question in data.questions}) > 1


def one_by_one(folder: Path, every: int) -> list[Part]:
    parts = [measure_part(folder, name, filing="single", every=every) for name in POOLED_SETS]
    return [part for part in parts if part is not None]


def summary(reports: Sequence[SetReport], found: dict[str, list[Precision]]) -> str:
    parts = []
    for filing, rows in found.items():
        parts += [f"## Routing against reading everything, {filing}", precision_table(rows)]
    if any(report.ablation for report in reports):
        parts += ["## Without one signal (auto)", ablation_table(reports)]
    title = f"## Figures, auto mode, commit {commit()}"
    if reports[0].every > 1:
        title += f", one question in {reports[0].every}"
    parts += [title, figures_table(figures(reports, together(found)))]
    return "\n\n".join(parts) + "\n"


def together(found: dict[str, list[Precision]]) -> list[Precision]:
    """Of each filling the row that the promise is about, named after it."""
    return [replace(rows[0], title=f"{rows[0].title}, {filing}") for filing, rows in found.items()]


def write(out: Path, reports: Sequence[SetReport], found: dict[str, list[Precision]], text: str) -> None:
    stored = {
        "sets": [asdict(report) for report in reports],
        "precision": {filing: [asdict(row) for row in rows] for filing, rows in found.items()},
        "figures": [asdict(figure) for figure in figures(reports, together(found))],
    }
    (out / "recall.json").write_text(json.dumps(stored, indent=1) + "\n")
    (out / "recall.md").write_text("\n".join(["# Recall\n", *map(set_report, reports), text]))
    (out / "recall.svg").write_text(drawing(reports))


def drawing(reports: Sequence[SetReport]) -> str:
    by_title = {report.title: report for report in reports}
    groups = [
        Group(
            goal.title,
            f"{goal.kind}@{goal.k} ({goal.unit})",
            tuple(by_title[goal.title].variants[v].units[goal.unit].all.value(goal.kind, goal.k) for v in VARIANTS),
            goal.floor,
            goal.aim,
        )
        for goal in GOALS
        if goal.title in by_title
    ]
    return plot(f"How well memories are found, commit {commit()}", list(VARIANTS), groups)


if __name__ == "__main__":
    sys.exit(main())
