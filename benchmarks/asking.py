"""Questions asked through recall: for the quality of the ranking, and for what an answer costs as it is by default."""

import statistics
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any
from unittest import mock

import psutil
from django.db import connection
from tqdm import tqdm

import memory.recall
from benchmarks.brains import Brains
from benchmarks.data import Data, Question
from benchmarks.scores import Outcome, means, places_of, saving
from memory import embedding
from memory.ranking import WEIGHTS, Weights
from memory.recall import Stopwatch, recall
from memory.types import Recall, Trace

PLACES, EVERY_TOKEN = 60, 10**9
COST_LIMIT = 10
MANY_TOKENS = 3_000
UNITS = ("turn", "session")


def only(signal: str) -> Weights:
    """Weights by which one signal alone decides."""
    return replace(Weights(**dict.fromkeys((each.name for each in fields(Weights)), 0.0)), **{signal: 1.0})


def without(signal: str) -> Weights:
    return replace(WEIGHTS, **{signal: 0.0})


@dataclass(frozen=True, slots=True)
class Variant:
    mode: str
    weights: Weights = WEIGHTS


VARIANTS = {
    "words only": Variant("exhaustive", only("words")),
    "vectors only": Variant("exhaustive", only("vector")),
    "exhaustive": Variant("exhaustive"),
    "auto": Variant("auto"),
}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a variant found. `outcomes`: by unit, of the questions that have evidence in it; routed: the share of the
    evidence whose node was among the warmed ones."""

    outcomes: dict[str, list[Outcome]]
    entries_read_share: float
    index_bytes: int
    routed: float | None


@dataclass(frozen=True, slots=True)
class BlockShown:
    """A kind of block beside the hits, in a category: in how many of n answers; the evidence in it, over the answers
    that show it: some, its mean share, some in the first 10 hits, some in either."""

    kind: str
    category: str
    n: int
    shown: int
    any_in_block: float
    share_in_block: float
    any_in_hits: float
    any_in_either: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Of an answer as it is by default, with its messages. Tokens: median; savings: median of each question's."""

    n: int
    entries: int
    any_at_10: float
    entries_read: int
    entries_read_share: float
    tokens: dict[str, int]
    tokens_each: list[int]
    parents_each: list[int]
    above_3000: float
    saved: dict[str, float]
    processor_ms: dict[str, float]
    backend_processor_ms_mean: float | None
    processor_ms_by_stage: dict[str, float]
    wall_ms_by_stage: dict[str, float]
    blocks: list[BlockShown]


@dataclass(slots=True)
class TwoClocks(Stopwatch):
    """The product's stopwatch with the processor's time beside the wall's."""

    processor: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.process_time()
        with Stopwatch.stage(self, name):
            yield
        self.processor[name] = self.processor.get(name, 0.0) + (time.process_time() - start) * 1_000


def remember_query_vectors() -> None:
    """Keep the vectors of questions, so that each is embedded once and times are told without it."""
    real = embedding.embedder()
    known: dict[str, Any] = {}
    embed = real.embed_query

    def embed_query(text: str) -> Any:
        if text not in known:
            known[text] = embed(text)
        return known[text]

    real.embed_query = embed_query  # type: ignore[method-assign]


def ask(brains: Brains, question: Question, variant: Variant, *, limit: int = PLACES) -> Recall:
    """For the quality of the ranking: many places, nothing cut."""
    return recall(
        brains.of(question),
        question.text,
        scope="personal",
        limit=limit,
        threshold=0.0,
        mode=variant.mode,
        max_tokens=EVERY_TOKEN,
        session=stands_alone(),
        asked_at=question.asked_at,
        weights=variant.weights,
    )


def stands_alone() -> str:
    """A session that nothing was discussed in: without one, the questions before would weigh."""
    return uuid.uuid4().hex


def outcome(brains: Brains, question: Question, answer: Recall, unit: str) -> Outcome:
    evidence = question.evidence[unit]
    places = places_of((brains.unit(hit.entry_id, unit) for hit in answer.hits), evidence)
    return Outcome(question.id, question.conversation, question.category, len(evidence), places)


def ask_all(data: Data, brains: Brains, name: str, variant: Variant, *, limit: int = PLACES) -> Answers:
    outcomes: dict[str, list[Outcome]] = {unit: [] for unit in UNITS}
    nodes = brains.nodes(data.kind.unit)
    read: list[float] = []
    touched: list[int] = []
    routed: list[bool] = []
    for question in tqdm(data.questions, desc=f"{data.name}: {name}", unit="question", leave=False):
        answer = ask(brains, question, variant, limit=limit)
        for unit in UNITS:
            if question.evidence[unit]:
                outcomes[unit].append(outcome(brains, question, answer, unit))
        read.append(answer.trace.entries_read / max(answer.trace.entries_total, 1))
        touched.append(answer.trace.index_bytes)
        warm = {each.node.id for each in answer.warmed}
        routed += [bool(warm & nodes[unit]) for unit in question.evidence[data.kind.unit] if unit in nodes]
    return Answers(
        {unit: found for unit, found in outcomes.items() if found},
        round(statistics.fmean(read), 4),
        round(statistics.median(touched)),
        round(statistics.fmean(routed), 4) if routed and variant.mode == "auto" else None,
    )


def cost(data: Data, brains: Brains) -> Cost:
    """The answers of a door's defaults: 10 hits with their context."""
    for question in data.questions:  # each brain once before, so that none is read from the database while it counts
        ask(brains, question, VARIANTS["auto"], limit=1)
    traces: list[Trace] = []
    clocks: list[TwoClocks] = []
    processor: list[float] = []
    answers: list[Recall] = []

    def new_clocks() -> TwoClocks:
        clocks.append(TwoClocks())
        return clocks[-1]

    with mock.patch.object(memory.recall, "Stopwatch", new_clocks):
        backend = backend_seconds()
        for question in tqdm(data.questions, desc=f"{data.name}: cost", unit="question", leave=False):
            start = time.process_time()
            answer = recall(
                brains.of(question),
                question.text,
                scope="personal",
                limit=COST_LIMIT,
                session=stands_alone(),
                with_messages=True,
                asked_at=question.asked_at,
            )
            processor.append((time.process_time() - start) * 1_000)
            traces.append(answer.trace)
            answers.append(answer)
        after = backend_seconds()
    handed = [trace.tokens.handed_over for trace in traces]
    baselines = ("warmed_nodes", "parent_nodes", "everything")
    whole = {name: [getattr(trace.tokens, name) for trace in traces] for name in baselines}
    count = len(traces)
    median = statistics.median
    outcomes = [outcome(brains, q, a, data.kind.unit) for q, a in zip(data.questions, answers, strict=True)]
    return Cost(
        n=count,
        entries=round(median(trace.entries_total for trace in traces)),
        any_at_10=round(statistics.fmean(each.value("any", 10) for each in outcomes), 4),
        entries_read=round(median(trace.entries_read for trace in traces)),
        entries_read_share=round(statistics.fmean(t.entries_read / max(t.entries_total, 1) for t in traces), 4),
        tokens={"handed_over": round(median(handed)), **{name: round(median(each)) for name, each in whole.items()}},
        tokens_each=handed,
        parents_each=whole["parent_nodes"],
        above_3000=round(sum(tokens > MANY_TOKENS for tokens in handed) / count, 4),
        saved={name: saving(handed, each) for name, each in whole.items()},
        processor_ms={
            "mean": round(statistics.fmean(processor), 3),
            "median": round(median(processor), 3),
            "p95": round(sorted(processor)[int(0.95 * (count - 1))], 3),
        },
        backend_processor_ms_mean=(
            round((after - backend) * 1_000 / count, 3) if backend is not None and after is not None else None
        ),
        processor_ms_by_stage=means([each.processor for each in clocks], statistics.fmean),
        wall_ms_by_stage=means([each.stages for each in clocks], statistics.median),
        blocks=blocks_shown(data, brains, answers),
    )


def blocks_shown(data: Data, brains: Brains, answers: Sequence[Recall]) -> list[BlockShown]:
    unit = data.kind.unit
    pairs = list(zip(data.questions, answers, strict=True))
    kinds = sorted({block.kind for _, answer in pairs for block in answer.blocks})
    found: list[BlockShown] = []
    for kind in kinds:
        for category in ["all", *sorted({question.category for question, _ in pairs})]:
            mine = [(q, a) for q, a in pairs if category in ("all", q.category)]
            rows: list[tuple[float, float, float, float]] = []
            for question, answer in mine:
                shown = [hit for block in answer.blocks if block.kind == kind for hit in block.hits]
                if not shown:
                    continue
                evidence = question.evidence[unit]
                beside = {brains.unit(hit.entry_id, unit) for hit in shown} & evidence
                hits = {brains.unit(hit.entry_id, unit) for hit in answer.hits} & evidence
                rows.append((bool(beside), len(beside) / len(evidence), bool(hits), bool(beside | hits)))
            means_ = [round(statistics.fmean(column), 4) for column in zip(*rows, strict=True)] or [0.0] * 4
            found.append(BlockShown(kind, category, len(mine), len(rows), *means_))
    return found


def backend_seconds() -> float | None:
    """Processor seconds of this connection's Postgres backend, when it runs on this machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)
