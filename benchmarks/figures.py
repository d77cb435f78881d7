"""The figures that the product promises: a floor below which something is broken, and an aim."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.measure import SetReport
from benchmarks.precision import Precision
from benchmarks.scores import Score, saving
from benchmarks.tables import table

THE_SETS = "all sets"
MANY_TOKENS = 3_000


@dataclass(frozen=True, slots=True)
class Goal:
    """In auto mode. `title`: of the set's report."""

    title: str
    unit: str
    kind: str
    k: int
    floor: float
    aim: float


GOALS = (
    Goal("LoCoMo", "turn", "share", 10, 0.81, 0.85),
    Goal("LoCoMo", "session", "any", 5, 0.955, 0.97),
    Goal("LoCoMo pooled", "turn", "share", 10, 0.78, 0.83),
    Goal("BEAM-100K", "turn", "any", 10, 0.73, 0.79),
    Goal("BEAM-100K pooled", "turn", "any", 10, 0.69, 0.74),
    Goal("LifeBench", "session", "any", 10, 0.94, 0.97),
    Goal("LifeBench", "session", "share", 10, 0.55, 0.63),
    Goal("LongMemEval", "session", "any", 5, 0.95, 1.0),
)
PRECISION_FLOOR, READ_MOST = -0.01, 0.10
TOKENS_MEDIAN_MOST = 1_500
SAVED_LEAST = 0.90
PROCESSOR_MS_MOST, PROCESSOR_ENTRIES = 3.0, 1_000
QUESTIONS_ENOUGH = 100  # Postgres' time is told in ticks of 10 ms


@dataclass(frozen=True, slots=True)
class Figure:
    """`half_a`, `half_b`: empty where a figure has no halves. reached: aim, floor, no; yes where there is no aim."""

    name: str
    floor: str
    aim: str
    measured: str
    half_a: str
    half_b: str
    reached: str


def reached(value: float, floor: float, aim: float | None = None) -> str:
    if value < floor:
        return "no"
    if aim is None:
        return "yes"
    return "aim" if value >= aim else "floor"


def figures(reports: Sequence[SetReport], precisions: Sequence[Precision]) -> list[Figure]:
    """precisions: those of all pooled sets together, one for each filling."""
    by_title = {report.title: report for report in reports}
    found = [_ranking(by_title[goal.title], goal) for goal in GOALS if goal.title in by_title]
    for each in precisions:
        found += _precision(each)
    return [*found, *(_tokens(reports) if reports else []), *_processor(reports)]


def _ranking(report: SetReport, goal: Goal) -> Figure:
    unit = report.variants["auto"].units[goal.unit]

    def shown(score: Score) -> str:
        return f"{score.value(goal.kind, goal.k):.3f}" if score.n else ""

    return Figure(
        f"{goal.title}: {goal.kind}@{goal.k} ({goal.unit}, n {unit.all.n})",
        f"≥ {goal.floor:g}",
        f"≥ {goal.aim:g}",
        shown(unit.all),
        shown(unit.halves["A"]),
        shown(unit.halves["B"]),
        reached(unit.all.value(goal.kind, goal.k), goal.floor, goal.aim),
    )


def _precision(precision: Precision) -> list[Figure]:
    figures = [
        Figure(
            f"auto − exhaustive, {precision.title}: {name}, points (95 %)",
            f"≥ {PRECISION_FLOOR * 100:+.0f}",
            "",
            f"{each.mean * 100:+.2f} ({each.low * 100:+.2f} … {each.high * 100:+.2f})",
            "",
            "",
            reached(each.mean, PRECISION_FLOOR),
        )
        for name, each in precision.differences.items()
    ]
    read = precision.entries_read_share
    share = f"{read * 100:.1f} %"
    name = f"entries read for it, {precision.title}"
    return [*figures, Figure(name, f"≤ {READ_MOST:.0%}", "", share, "", "", reached(READ_MOST, read))]


def _tokens(reports: Sequence[SetReport]) -> list[Figure]:
    """Over all questions of the sets in their own brains."""
    own = [report for report in reports if not report.pooled] or list(reports)
    each = sorted(tokens for report in own for tokens in report.cost.tokens_each)
    parents = [tokens for report in own for tokens in report.cost.parents_each]
    handed = [tokens for report in own for tokens in report.cost.tokens_each]
    median, most = each[len(each) // 2], each[-1]
    above = sum(tokens > MANY_TOKENS for tokens in each)
    saved = saving(handed, parents)
    return [
        _most(f"tokens handed over, {THE_SETS}: median", TOKENS_MEDIAN_MOST, median),
        _most(f"tokens handed over, {THE_SETS}: the most ({above} of {len(each):,} above)", MANY_TOKENS, most),
        Figure(
            f"tokens saved against the parents whole, {THE_SETS}: median",
            f"≥ {SAVED_LEAST:.0%}",
            "",
            f"{saved * 100:.1f} %",
            "",
            "",
            reached(saved, SAVED_LEAST),
        ),
    ]


def _most(name: str, limit: int, value: int) -> Figure:
    return Figure(name, f"≤ {limit:,}", "", f"{value:,}", "", "", reached(limit, value))


def _processor(reports: Sequence[SetReport]) -> list[Figure]:
    """Of the set whose brains come nearest to the size that the promise names, of those with questions enough."""
    if not reports:
        return []
    enough = [report for report in reports if report.cost.n >= QUESTIONS_ENOUGH] or reports
    nearest = min(enough, key=lambda report: abs(report.cost.entries - PROCESSOR_ENTRIES))
    own, backend = nearest.cost.processor_ms["median"], nearest.cost.backend_processor_ms_mean
    told = "" if backend is None else f" + {backend:.1f} Postgres"
    name = f"processor ms a search, {PROCESSOR_ENTRIES:,} entries (measured at {nearest.cost.entries:,})"
    spent = reached(PROCESSOR_MS_MOST, own + (backend or 0.0))
    return [Figure(name, f"≤ {PROCESSOR_MS_MOST:g}", "", f"{own:.1f}{told}", "", "", spent)]


def figures_table(found: Sequence[Figure]) -> str:
    head = ["figure", "floor", "aim", "measured", "half A", "half B", "reached"]
    return table(head, [[f.name, f.floor, f.aim, f.measured, f.half_a, f.half_b, f.reached] for f in found])
