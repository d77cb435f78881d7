"""What was measured, as Markdown that a terminal shows well too."""

from collections.abc import Iterable, Sequence

from benchmarks.measure import SetReport
from benchmarks.scores import KINDS, KS, Difference, Score

SCORE_HEAD = ["n", *(f"{kind}@{k}" for kind in KINDS for k in KS), "MRR"]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of one width; the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(head))]
    first, *others = widths
    lines = [
        " | ".join([f"{row[0]:<{first}}", *(f"{c:>{w}}" for c, w in zip(row[1:], others, strict=True))])
        for row in cells
    ]
    lines.insert(1, " | ".join(["-" * first, *("-" * (width - 1) + ":" for width in others)]))
    return "\n".join(f"| {line} |" for line in lines)


def percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def points(difference: Difference) -> str:
    return f"{difference.mean * 100:+.2f} ({difference.low * 100:+.2f} … {difference.high * 100:+.2f})"


def score_row(label: str, score: Score) -> list[object]:
    cells = [f"{score.value(kind, k):.3f}" for kind in KINDS for k in KS]
    return [label, score.n, *cells, f"{score.mrr:.3f}"]


def set_report(report: SetReport) -> str:
    parts = [
        f"## {report.title}",
        f"Embedder {report.embedder}, commit {report.commit}, Python {report.python}"
        + (f", one question in {report.every}" if report.every > 1 else "")
        + "; "
        + ", ".join(f"{file.name} {file.sha256[:12]} ({file.status})" for file in report.files)
        + f". Vectors after {report.import_seconds['embedded']} s, filed after {report.import_seconds['filed']} s; "
        f"{percent(report.filed_share)} of the entries have a place outside the Inbox, "
        f"in {report.nodes} nodes of at most {report.largest_node} entries.",
    ]
    for unit in report.variants["auto"].units:
        rows = [score_row(name, variant.units[unit].all) for name, variant in report.variants.items()]
        auto = report.variants["auto"].units[unit]
        rows += [score_row(f"auto, half {name}", each) for name, each in auto.halves.items()]
        rows += [score_row(f"auto, {name}", each) for name, each in auto.categories.items()]
        parts += [f"### By {unit}{' (its own unit)' if unit == report.unit else ''}", table(["", *SCORE_HEAD], rows)]
    parts += ["### What it read", reading_table(report), "### What an answer costs", *cost_tables(report)]
    if report.cost.blocks:
        parts += ["### Blocks beside the hits", blocks_table(report)]
    if report.ablation:
        parts += ["### Without one signal (auto)", ablation_table([report])]
    return "\n\n".join(parts) + "\n"


def reading_table(report: SetReport) -> str:
    head = ["", "entries read", "index bytes touched (median)", "evidence's node warmed"]
    return table(
        head,
        [
            [
                name,
                percent(each.entries_read_share),
                f"{each.index_bytes:,}",
                "–" if each.routed is None else percent(each.routed),
            ]
            for name, each in report.variants.items()
        ],
    )


def cost_tables(report: SetReport) -> list[str]:
    cost = report.cost
    tokens = [["handed over", f"{cost.tokens['handed_over']:,}", "–"]]
    tokens += [[f"instead: {n.replace('_', ' ')}", f"{cost.tokens[n]:,}", percent(s)] for n, s in cost.saved.items()]
    stages = [
        [name, f"{ms:.3f}", f"{cost.wall_ms_by_stage[name]:.3f}"] for name, ms in cost.processor_ms_by_stage.items()
    ]
    backend = cost.backend_processor_ms_mean
    return [
        f"The defaults of recall: 10 hits with their messages, over brains of {cost.entries:,} entries (median), of "
        f"which {percent(cost.entries_read_share)} were read; any@10 so: {cost.any_at_10:.3f}. "
        f"{percent(cost.above_3000)} of the answers are above 3,000 tokens.",
        table(["tokens", "median", "saved (median)"], tokens),
        f"Processor ms a question without its embedding: {cost.processor_ms['mean']} mean, "
        f"{cost.processor_ms['median']} median, {cost.processor_ms['p95']} at 95 %; its Postgres backend "
        f"{'not on this machine' if backend is None else f'{backend} mean'}.",
        table(["stage", "processor ms (mean)", "wall ms (median)"], stages),
    ]


def blocks_table(report: SetReport) -> str:
    head = ["block, category", "n", "shown", "any in block", "share in block", "any in hits", "any in either"]
    return table(
        head,
        [
            [
                f"{each.kind}, {each.category}",
                each.n,
                each.shown,
                *(
                    f"{value:.3f}" if each.shown else "–"
                    for value in (each.any_in_block, each.share_in_block, each.any_in_hits, each.any_in_either)
                ),
            ]
            for each in report.cost.blocks
        ],
    )


def ablation_table(reports: Sequence[SetReport]) -> str:
    """share@10 / any@10 with each weight at 0 in turn, and what that changes, in points."""
    reports = [report for report in reports if report.ablation]
    signals = list(reports[0].ablation) if reports else []
    rows = []
    for signal in signals:
        row: list[object] = [signal]
        for report in reports:
            now, full = report.ablation[signal], report.ablation["(all signals)"]
            cell = f"{now.share_at[10]:.3f} / {now.any_at[10]:.3f}"
            if now is not full:
                cell += (
                    f" ({(now.share_at[10] - full.share_at[10]) * 100:+.1f}"
                    f" / {(now.any_at[10] - full.any_at[10]) * 100:+.1f})"
                )
            row.append(cell)
        rows.append(row)
    return table(["share@10 / any@10 without", *(report.title for report in reports)], rows)
