"""What a search and an import cost, and how that grows: `python -m benchmarks.scale [--sizes 10000,100000]`.

Fills the running installation (`make run`) with an organization of invented people, up to each size in turn, and asks
one brain of 1,000 and one of 50,000 entries. Times of a machine say little: every figure stands beside a floor, what
the same machine needs in the same minute for one round trip to Postgres and one product over all vectors. The people
stay for the next run; `--drop` removes them.
"""

import argparse
import gc
import io
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from tqdm import tqdm

from benchmarks import crowd
from benchmarks.asking import backend_seconds, stands_alone
from benchmarks.crowd import Brain
from benchmarks.measure import commit
from benchmarks.synthetic import Floats, invent, questions
from benchmarks.tables import table
from brainsite.environment import read_environment
from memory.capture import capture
from memory.corpus import corpus_for, forget_all
from memory.embedding import calibrated_model, embedder
from memory.pieces import embedded_texts
from memory.providers.local import LocalEmbedder
from memory.recall import recall
from memory.types import Recall

SMALL, LARGE = 1_000, 50_000
LIMIT, WARM_UP = 10, 20
COLD_STARTS, CHANGES = 3, 5
INGESTED, EMBEDDED = 5_000, 2_000
WALL_ROUNDS = 300


@dataclass(frozen=True, slots=True)
class Milliseconds:
    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Milliseconds":
        found = np.percentile(np.array(seconds) * 1_000, (50, 95, 99))
        return cls(*(round(float(each), 3) for each in found))


@dataclass(frozen=True, slots=True)
class Searches:
    """`processor_ms` and `backend_ms`: means, of this process and of its Postgres backend. `cold`, `changed`: the first
    search of a process, and the first one after a capture, with the entries it had to load. `short`: answers with fewer
    hits than asked for, though there are enough memories."""

    brain: int
    installation: int
    searches: int
    wall: Milliseconds
    processor_ms: float
    backend_ms: float | None
    floor: Milliseconds
    cold_ms: float
    cold_processor_ms: float
    changed_ms: float
    memory_bytes: int
    short: int
    stages_ms: dict[str, float]

    @property
    def over_floor(self) -> float:
        return self.wall.p50 / self.floor.p50


@dataclass(frozen=True, slots=True)
class Ingest:
    """Entries a second. `embedder`: the model alone over the same texts, in as many processes as the worker has,
    before and after. And the processor's milliseconds an entry, of all processes that take part: other users of the
    machine change them less."""

    kept: float
    with_vectors: float
    embedder: tuple[float, float]
    processes: int
    kept_ms: float
    with_vectors_ms: float | None
    embedder_ms: float

    @property
    def share(self) -> float:
        return self.with_vectors / statistics.fmean(self.embedder)

    @property
    def processor_share(self) -> float | None:
        return self.embedder_ms / self.with_vectors_ms if self.with_vectors_ms else None


@dataclass(frozen=True, slots=True)
class Stored:
    name: str
    bytes_an_entry: float


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a search, as the person's role and as a login without row level security: what the fastest tenth
    of the rounds took, since other users of the machine only add."""

    sql: str
    walled_ms: float
    open_ms: float

    @property
    def ratio(self) -> float:
        return self.walled_ms / self.open_ms


@dataclass(frozen=True, slots=True)
class Report:
    commit: str
    python: str
    searches: list[Searches]
    ingest: Ingest | None
    stored: list[Stored]
    statements: list[Statement]


# -- searches ----------------------------------------------------------------------------------------------------------


def ask(brain: Brain, text: str, vector: Floats) -> Recall:
    """As a door does, but for the vector, which is known: embedding the question is not counted."""
    embedder().embed_query = lambda text: vector  # type: ignore[method-assign]
    return recall(brain.actor, text, scope="personal", limit=LIMIT, threshold=0.0, session=stands_alone())


def measure_searches(brain: Brain, installation: int, count: int) -> Searches:
    asked = list(questions(brain.memories, count + WARM_UP, seed=7))
    colds, cold_processor = zip(*(first_search(brain, *asked[i]) for i in range(COLD_STARTS)), strict=True)
    for text, vector in asked[:WARM_UP]:
        ask(brain, text, vector)
    wall: list[float] = []
    floor: list[float] = []
    stages: dict[str, list[float]] = {}
    short, processor, backend = 0, 0.0, 0.0
    is_local = backend_seconds() is not None
    for text, vector in tqdm(asked[WARM_UP:], desc=f"{brain.size:,} of {installation:,}", leave=False):
        floor.append(floor_seconds(brain, vector))
        started, spent = time.perf_counter(), time.process_time()
        answer = ask(brain, text, vector)
        processor += time.process_time() - spent
        wall.append(time.perf_counter() - started)
        short += len(answer.hits) < LIMIT
        for name, ms in answer.trace.stages_ms.items():
            stages.setdefault(name, []).append(ms)
    before = backend_seconds() or 0.0  # its clock ticks a hundred times a second: many searches in one go
    for text, vector in asked[WARM_UP:]:
        ask(brain, text, vector)
    backend = (backend_seconds() or 0.0) - before
    return Searches(
        brain=brain.size,
        installation=installation,
        searches=count,
        wall=Milliseconds.of(wall),
        processor_ms=round(processor / count * 1_000, 3),
        backend_ms=round(backend / count * 1_000, 3) if is_local else None,
        floor=Milliseconds.of(floor),
        cold_ms=round(statistics.median(colds) * 1_000, 1),
        cold_processor_ms=round(statistics.median(cold_processor) * 1_000, 1),
        changed_ms=round(statistics.median(changed_searches(brain, asked)) * 1_000, 3),
        memory_bytes=corpus_bytes(brain),
        short=short,
        stages_ms={name: round(statistics.median(ms), 3) for name, ms in stages.items()},
    )


def first_search(brain: Brain, text: str, vector: Floats) -> tuple[float, float]:
    """Wall and processor seconds, as a process that has just started would need them."""
    forget_all()
    gc.collect()
    started, spent = time.perf_counter(), time.process_time()
    ask(brain, text, vector)
    return time.perf_counter() - started, time.process_time() - spent


def changed_searches(brain: Brain, asked: Sequence[tuple[str, Floats]]) -> Iterator[float]:
    for text, vector in asked[:CHANGES]:
        capture(brain.actor, content=f"{text} {time.time_ns()}")
        started = time.perf_counter()
        ask(brain, text, vector)
        yield time.perf_counter() - started


def floor_seconds(brain: Brain, vector: Floats) -> float:
    """One round trip, one product over all vectors of the brain, the ten best."""
    started = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    similar = brain.memories.vectors @ vector
    best = np.argpartition(-similar, LIMIT)[:LIMIT]
    best[np.argsort(-similar[best])]
    return time.perf_counter() - started


def corpus_bytes(brain: Brain) -> int:
    model = calibrated_model()
    with brain.actor.session():
        return corpus_for(brain.actor, brain.actor.readable[0], model.id, model.dimensions).nbytes


# -- row level security ------------------------------------------------------------------------------------------------


def measure_statements(brain: Brain) -> list[Statement]:
    """Each statement that a warm search sends, in turn as the person and as the login of backups."""
    ((text, vector),) = questions(brain.memories, 1, seed=8)
    ask(brain, text, vector)
    sent: list[tuple[str, Any]] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        ask(brain, text, vector)
    login = {**connection.get_connection_params(), "user": "brain_dump"}  # its time limit and its types, too
    login["password"] = read_environment().brain_dump_password
    with (
        psycopg.connect(**login) as unwalled,
        brain.actor.session(),
    ):
        walled = connections[brain.actor.alias].connection
        return [_compare(walled, unwalled, sql, params) for sql, params in sent if sql.startswith("SELECT")]


def _compare(walled: Any, unwalled: Any, sql: str, params: Any) -> Statement:
    def run(login: Any) -> float:
        cursor = psycopg.ClientCursor(login)
        started = time.perf_counter()
        cursor.execute(sql, params).fetchall()
        return time.perf_counter() - started

    pairs = [(run(walled), run(unwalled)) for _ in range(WALL_ROUNDS)]
    first, second = (round(float(np.percentile(each, 10)) * 1_000, 4) for each in zip(*pairs, strict=True))
    return Statement(" ".join(sql.split())[:60], first, second)


# -- ingest ------------------------------------------------------------------------------------------------------------


def measure_ingest(seed: int) -> Ingest:
    processes = settings.CELERY_WORKER_CONCURRENCY
    memories = invent(INGESTED, calibrated_model().dimensions, seed=seed)
    actor = crowd.person(f"kept-{seed}")
    started, spent = time.perf_counter(), time.process_time() + (backend_seconds() or 0)
    crowd.keep(actor, memories.files)
    kept = INGESTED / (time.perf_counter() - started)
    kept_seconds = time.process_time() + (backend_seconds() or 0) - spent
    part = invent(EMBEDDED, calibrated_model().dimensions, seed=seed + 1)
    texts = [
        text
        for file in part.files
        for before, message in zip((None, *file.messages), file.messages, strict=False)
        for text in embedded_texts(
            message.content,
            speaker=message.speaker,
            previous=before.content if before else "",
            previous_speaker=before.speaker if before else "",
        )
    ]
    first, first_seconds = embed_alone(texts, processes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversations.jsonl"
        path.write_text(json.dumps(_as_conversation(part.files, seed)) + "\n")
        importer = crowd.person(f"imported-{seed}")
        started, before_seconds, spent = time.perf_counter(), parts_seconds(), time.process_time()
        call_command(
            "import",
            str(path),
            as_email=f"imported-{seed}@{crowd.ORGANIZATION}.invalid",
            json=True,
            stdout=io.StringIO(),
        )
        with_vectors = EMBEDDED / (time.perf_counter() - started)
        after_seconds, spent = parts_seconds(), time.process_time() - spent
    second, second_seconds = embed_alone(texts, processes)
    crowd.drop([actor.readable[0].id, importer.readable[0].id])
    return Ingest(
        kept=round(kept),
        with_vectors=round(with_vectors, 1),
        embedder=(round(EMBEDDED / first, 1), round(EMBEDDED / second, 1)),
        processes=processes,
        kept_ms=round(kept_seconds / INGESTED * 1_000, 3),
        with_vectors_ms=(
            round((after_seconds - before_seconds + spent) / EMBEDDED * 1_000, 3)
            if before_seconds is not None and after_seconds is not None
            else None
        ),
        embedder_ms=round((first_seconds + second_seconds) / 2 / EMBEDDED * 1_000, 3),
    )


def parts_seconds() -> float | None:
    """Processor seconds of the worker and the database with all their processes, also those that have ended; None when
    they do not run under our own supervisor."""
    total = 0.0
    for part in ("worker", "postgres"):
        try:
            pid = json.loads((settings.DATA_DIR / "run" / f"{part}.json").read_text())["pid"]
            first = psutil.Process(pid)
            for process in (first, *first.children(recursive=True)):
                total += sum(process.cpu_times()[:4])
        except (OSError, psutil.Error):
            return None
    return total


def _as_conversation(files: Sequence[Any], seed: int) -> dict[str, Any]:
    return {
        "id": f"invented-{seed}",
        "sessions": [
            {
                "id": str(number),
                "turns": [
                    {"id": str(i), "role": m.role, "speaker": m.speaker, "text": m.content}
                    for i, m in enumerate(file.messages)
                ],
            }
            for number, file in enumerate(files)
        ],
    }


def embed_alone(texts: Sequence[str], processes: int) -> tuple[float, float]:
    """Wall and processor seconds of the model alone. Loading it is not counted."""
    with ProcessPoolExecutor(processes, get_context("spawn"), _load, (str(settings.MODEL_DIR),)) as pool:
        list(pool.map(_embed, [["one"]] * 4 * processes))
        parts = [list(texts[start : start + 16]) for start in range(0, len(texts), 16)]
        started = time.perf_counter()
        spent = sum(pool.map(_embed, parts))
        return time.perf_counter() - started, spent


_model: LocalEmbedder


def _load(folder: str) -> None:
    global _model
    _model = LocalEmbedder(Path(folder), threads=settings.EMBED_THREADS)
    _model.embed(["loaded"])


def _embed(texts: list[str]) -> float:
    spent = time.process_time()
    _model.embed(texts)
    return time.process_time() - spent


# -- storage -----------------------------------------------------------------------------------------------------------


def measure_storage() -> list[Stored]:
    """Bytes an entry of every table of memories and every index, with what lies outside of the rows."""
    with connections[crowd.OWNER].cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_relation_size(oid) + COALESCE(pg_total_relation_size(NULLIF(reltoastrelid, 0)), 0) "
            "FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace "
            "AND (relname LIKE 'memory\\_%' OR relname LIKE 'graph\\_%') ORDER BY 2 DESC"
        )
        rows = cursor.fetchall()
    entries = max(1, crowd.entries_in_installation())
    stored = [Stored(name, round(size / entries, 1)) for name, size in rows if size / entries >= 1]
    return [Stored("everything", round(sum(size for _, size in rows) / entries, 1)), *stored]


# -- the report --------------------------------------------------------------------------------------------------------


def measure(sizes: Sequence[int], *, count: int, minutes: float, ingest: bool) -> Report:
    until = time.monotonic() + minutes * 60
    found = measure_ingest(time.time_ns() // 1_000_000_000) if ingest else None
    small = crowd.filled(SMALL)
    searches: list[Searches] = []
    measured = [small]
    for size in sorted(sizes):
        if size >= 2 * LARGE and len(measured) == 1:
            measured.append(crowd.filled(LARGE))
        have = crowd.crowd(small, size, until)
        searches += [measure_searches(brain, have, count) for brain in measured]
        if time.monotonic() > until:
            break
    return Report(
        commit(), platform.python_version(), searches, found, measure_storage(), measure_statements(measured[-1])
    )


def markdown(report: Report) -> str:
    searches = [
        [
            f"{each.brain:,} of {each.installation:,}",
            *(f"{ms:.2f}" for ms in (each.wall.p50, each.wall.p95, each.wall.p99)),
            f"{each.processor_ms:.2f}",
            _or_dash(each.backend_ms),
            f"{each.floor.p50:.2f}",
            f"{each.over_floor:.1f}",
            f"{each.changed_ms:.1f}",
            f"{each.cold_ms:,.0f}",
            f"{each.memory_bytes / each.brain:,.0f}",
            each.short,
        ]
        for each in report.searches
    ]
    head = [
        "entries: brain of installation", "p50 ms", "p95", "p99", "processor", "backend", "floor p50", "p50 ÷ floor",
        "after a capture", "first", "bytes an entry", "short answers",
    ]  # fmt: skip
    parts = [
        f"# Speed and scale, commit {report.commit}, Python {report.python}",
        "Searches: the verb in auto mode, limit 10, without embedding the question. Processor: mean ms of the process "
        "and of its Postgres backend. First: by a process that has just started.",
        table(head, searches),
        table(["p50 by stage (ms)", *(str(row[0]) for row in searches)], _stages(report.searches)),
        *_growth(report.searches),
    ]
    if found := report.ingest:
        parts += [
            "## Ingest (entries a second)",
            table(
                ["", "entries/s", "processor ms an entry"],
                [
                    ["kept and found by words", f"{found.kept:,.0f}", f"{found.kept_ms:.2f}"],
                    ["with vectors", f"{found.with_vectors:,.1f}", _or_dash(found.with_vectors_ms)],
                    [
                        f"the embedder alone, {found.processes} processes, before and after",
                        " / ".join(f"{rate:,.1f}" for rate in found.embedder),
                        f"{found.embedder_ms:.2f}",
                    ],
                    ["share of the embedder's own", f"{found.share:.2f}", _or_dash(found.processor_share)],
                ],
            ),
        ]
    parts += [
        "## Row level security: each statement of a warm search",
        table(
            ["statement", "walled ms", "without", "ratio"],
            [[s.sql, f"{s.walled_ms:.3f}", f"{s.open_ms:.3f}", f"{s.ratio:.2f}"] for s in report.statements],
        ),
        "## Storage",
        table(["table or index", "bytes an entry"], [[s.name, f"{s.bytes_an_entry:,.0f}"] for s in report.stored]),
    ]
    return "\n\n".join(parts) + "\n"


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _stages(searches: Sequence[Searches]) -> list[list[object]]:
    names = dict.fromkeys(name for each in searches for name in each.stages_ms)
    return [[name, *(f"{each.stages_ms.get(name, 0):.2f}" for each in searches)] for name in names]


def _growth(searches: Sequence[Searches]) -> list[str]:
    """How the same brain's p50 grows with the installation around it."""
    lines = []
    for size in dict.fromkeys(each.brain for each in searches):
        mine = [each for each in searches if each.brain == size]
        first, last = mine[0], mine[-1]
        if first is not last:
            lines.append(
                f"A brain of {size:,}: p50 at {last.installation:,} is {last.wall.p50 / first.wall.p50:.2f} times that "
                f"at {first.installation:,} ({last.over_floor / first.over_floor:.2f} times, each against its floor)."
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="entries in the installation, up to 1000000")
    parser.add_argument("--searches", type=int, default=300, choices=range(10, 5_001), metavar="10..5000")
    parser.add_argument("--minutes", type=float, default=20.0, help="the filling stops then (default: 20)")
    parser.add_argument("--no-ingest", action="store_true", help="leave out the import")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--drop", action="store_true", help="remove the invented people, measure nothing")
    options = parser.parse_args(arguments)
    if options.drop:
        crowd.drop()
        return 0
    try:
        sizes = [int(size) for size in options.sizes.split(",")]
    except ValueError:
        parser.error("--sizes: numbers with commas between them")
    if not all(2 * SMALL <= size <= 1_000_000 for size in sizes):
        parser.error(f"--sizes: each from {2 * SMALL:,} to 1,000,000")
    report = measure(sizes, count=options.searches, minutes=options.minutes, ingest=not options.no_ingest)
    text = markdown(report)
    print(text, end="")
    if options.markdown:
        options.markdown.write_text(text)
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
