"""Recall: find the memories that answer a question, and say how they were found.

Exhaustive mode: every entry of the actor's brains is compared by words and by vector; the best by either are the
candidates; their signals are fused and the messages attached. Every step notes its time and its numbers in the trace.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import structlog

from accounts.actor import Actor, BrainRef
from accounts.errors import Invalid, NotFound
from accounts.ids import uuid7
from graph.tree import paths
from graph.words import query_terms
from memory.corpus import Corpus, Ints, corpus_for
from memory.embedding import Model, current_model, embedder
from memory.memories import Filters, messages_by_id, nodes_below
from memory.models import RecallFile
from memory.providers import EmbedderUnavailable
from memory.ranking import Floats, Signals, fuse
from memory.text import check_text
from memory.traces import keep_trace
from memory.types import Hit, Recall, Trace

QUERY_CHARACTERS = 20_000
QUERY_TERMS = 256
LIMIT_MOST = 100
CANDIDATES_PER_NET = 200
NEIGHBOURS = 1  # messages attached before and after a hit
CHARACTERS_PER_TOKEN = 4  # a safe estimate for a budget; models differ
HIT_TOKENS, NEIGHBOUR_TOKENS = 250, 120

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Stopwatch:
    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + (time.perf_counter() - start) * 1_000


@dataclass(frozen=True, slots=True)
class Question:
    """A query as the machine sees it. `vector` is None when the embedder does not answer."""

    terms: tuple[int, ...]
    vector: Floats | None
    model: Model
    not_used: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of one brain's corpus that may answer, with their signals."""

    brain: BrainRef
    corpus: Corpus
    rows: Ints
    signals: Signals
    entries_total: int
    entries_read: int


def recall(
    actor: Actor,
    query: str,
    *,
    scope: str = "both",
    limit: int = 10,
    threshold: float = 0.5,
    mode: str = "exhaustive",
    filters: Filters | None = None,
    max_tokens: int | None = None,
    with_messages: bool = False,
) -> Recall:
    """The memories that answer a question, best first.

    threshold: least similarity (0..1, calibrated to the embedding model) of hits in which no word of the question
    occurs; 0 turns it off. Raises Invalid, TooLarge, Forbidden (a scope this actor may not read), NotFound (node).
    """
    check_text(query, "query", most=QUERY_CHARACTERS)
    filters = filters or Filters()
    filters.check()
    if not 1 <= limit <= LIMIT_MOST:
        raise Invalid(f"Must be between 1 and {LIMIT_MOST}.", field="limit")
    if not 0 <= threshold <= 1:
        raise Invalid("Must be between 0 and 1.", field="threshold")
    if mode not in ("auto", "exhaustive"):
        raise Invalid("Must be auto or exhaustive.", field="mode")
    if max_tokens is not None and max_tokens < 1:
        raise Invalid("Must be at least 1.", field="max_tokens")
    brains = actor.brains_to_read(scope)
    watch = Stopwatch()
    with watch.stage("understand"):
        question = understand(query)
    with actor.session():
        if filters.node and not any(nodes_below(actor, brain, filters.node) for brain in brains):
            raise NotFound("No such node.", field="node")
        found: list[Candidates] = []
        for brain in brains:
            with watch.stage("load"):
                corpus = corpus_for(actor, brain, question.model.id, question.model.dimensions)
            with corpus.lock:
                with watch.stage("filter"):
                    allowed = allowed_rows(actor, brain, corpus, filters)
                with watch.stage("search"):
                    found.append(search(brain, corpus, question, allowed))
        with watch.stage("fuse"):
            ranked, cut = rank(found, question, limit, threshold)
        with watch.stage("attach"):
            hits, truncated = attach(actor, found, ranked, max_tokens, with_messages)
    trace = Trace(
        mode="exhaustive",
        scopes_searched=tuple(str(brain.scope) for brain in brains),
        scopes_skipped=tuple(str(b.scope) for b in actor.readable if b not in brains),
        not_used=question.not_used,
        entries_total=sum(c.entries_total for c in found),
        entries_read=sum(c.entries_read for c in found),
        cut_by_threshold=cut,
        stages_ms={name: round(ms, 3) for name, ms in watch.stages.items()},
        scores=tuple(_scores(found[r.brain], r, question) for r in ranked),
    )
    trace_id = uuid7()
    keep_trace(actor, trace_id, trace)
    return Recall(hits=tuple(hits), trace=trace, trace_id=trace_id, truncated=truncated)


def understand(query: str) -> Question:
    """Words and vector of a question. Without an embedder the words alone are searched, and the answer says so."""
    terms = query_terms(query)[:QUERY_TERMS]
    not_used: list[str] = []
    try:
        vector: Floats | None = embedder().embed_query(query)
    except EmbedderUnavailable as error:
        log.warning("embedder unavailable", error=str(error))
        vector = None
        not_used.append("vectors: the embedder does not answer")
    if not terms:
        not_used.append("words: the query has none")
    return Question(terms, vector, current_model(), tuple(not_used))


def allowed_rows(actor: Actor, brain: BrainRef, corpus: Corpus, filters: Filters) -> np.ndarray:
    """Mask of the corpus' rows that are alive and pass the filters."""
    allowed = corpus.alive.copy()
    if filters.since:
        allowed &= corpus.occurred >= filters.since.timestamp()
    if filters.until:
        allowed &= corpus.occurred <= filters.until.timestamp()
    if filters.category or filters.tags:
        files = RecallFile.objects.visible_to(actor).filter(brain_id=brain.id)
        named = Filters(category=filters.category, tags=filters.tags)
        ids = set(named.narrow(files).values_list("id", flat=True))
        allowed &= np.fromiter((e.recall_file_id in ids for e in corpus.entries), bool, len(corpus.entries))
    if filters.node:
        nodes = set(nodes_below(actor, brain, filters.node))
        allowed &= np.fromiter((e.node_id in nodes for e in corpus.entries), bool, len(corpus.entries))
    return allowed


def search(brain: BrainRef, corpus: Corpus, question: Question, allowed: np.ndarray) -> Candidates:
    """Both nets over the whole brain, and the signals of what they caught."""
    words, piece_words = corpus.word_scores(question.terms)
    if question.vector is not None:
        vector = corpus.cosines(question.vector)
    else:
        vector = np.full(len(corpus.entries), np.nan, np.float32)
    eligible = allowed & corpus.passages
    by_words = _best(np.where(eligible & (words > 0), words, -np.inf))
    by_vector = _best(np.where(eligible & ~np.isnan(vector), vector, -np.inf))
    rows = np.union1d(by_words, by_vector)
    near = np.concatenate([corpus.neighbour_rows(rows, -1), corpus.neighbour_rows(rows, +1)])
    near = near[near >= 0]
    rows = np.union1d(rows, near[eligible[near]]).astype(np.int64)
    before, after = corpus.neighbour_rows(rows, -1), corpus.neighbour_rows(rows, +1)
    signals = Signals(
        vector=vector[rows],
        words=words[rows],
        piece_words=piece_words[rows],
        vector_before=_at(vector, before),
        vector_after=_at(vector, after),
        words_before=_at(words, before),
        words_after=_at(words, after),
    )
    alive = int(corpus.alive.sum())
    return Candidates(brain, corpus, rows, signals, entries_total=alive, entries_read=int(allowed.sum()))


def _best(scores: Floats) -> Ints:
    count = min(CANDIDATES_PER_NET, int(np.isfinite(scores).sum()))
    if not count:
        return np.zeros(0, np.int64)
    return np.argpartition(-scores, count - 1)[:count].astype(np.int64)


def _at(values: Floats, rows: Ints) -> Floats:
    found: Floats = np.where(rows >= 0, values[rows] if len(values) else np.nan, np.nan).astype(np.float32)
    return found


@dataclass(frozen=True, slots=True)
class Ranked:
    brain: int  # position in the list of candidates
    row: int
    at: int  # position among the brain's candidates
    score: float
    cosine: float | None


def rank(found: Sequence[Candidates], question: Question, limit: int, threshold: float) -> tuple[list[Ranked], int]:
    """The best `limit` of all brains together, by one fusion; and how many the threshold cut from the places."""
    parts = [c for c in found if len(c.rows)]
    if not parts:
        return [], 0
    joined = Signals(
        *(np.concatenate([getattr(c.signals, name) for c in found]) for name in Signals.__dataclass_fields__)
    )
    scores = fuse(joined)
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
        if joined.words[position] <= 0 and similarity < threshold:
            cut += 1
            continue
        candidate = found[int(brain_of[position])]
        row = int(candidate.rows[int(at[position])])
        ranked.append(
            Ranked(int(brain_of[position]), row, int(at[position]), float(scores[position]), cosine if known else None)
        )
    return ranked, cut


def attach(
    actor: Actor, found: Sequence[Candidates], ranked: Sequence[Ranked], max_tokens: int | None, with_messages: bool
) -> tuple[list[Hit], bool]:
    """Hits with their words, within the token budget; True when the budget left some out."""
    entries = [found[r.brain].corpus.entries[r.row] for r in ranked]
    around = [_around(found[r.brain].corpus, r.row) if with_messages else [r.row] for r in ranked]
    ids = {found[r.brain].corpus.entries[row].id for r, rows in zip(ranked, around, strict=True) for row in rows}
    texts = messages_by_id(actor, ids)
    files = RecallFile.objects.visible_to(actor).filter(id__in={entry.recall_file_id for entry in entries})
    memories = {
        row.id: row for row in files.only("recall_id", "kind", "scope", "contributed_by", "trust", "occurred_at")
    }
    nodes = paths(actor, {entry.node_id for entry in entries})
    model = current_model()
    hits: list[Hit] = []
    spent = 0
    for r, entry, rows in zip(ranked, entries, around, strict=True):
        own, memory = texts.get(entry.id), memories.get(entry.recall_file_id)
        if memory is None or own is None:
            continue  # deleted between two statements of this session
        corpus = found[r.brain].corpus
        window = tuple(texts[i] for i in (corpus.entries[row].id for row in rows) if i in texts)
        cost = sum(tokens(message.content) for message in window)
        if max_tokens is not None and spent + cost > max_tokens:
            return hits, True
        spent += cost
        hits.append(
            Hit(
                id=memory.id,
                recall_id=memory.recall_id,
                entry_id=entry.id,
                kind=memory.kind,
                entry_kind=entry.entry_kind,
                scope=memory.scope,
                text=own.content,
                score=round(r.score, 4),
                similarity=None if r.cosine is None else round(model.similarity(r.cosine), 4),
                occurred_at=own.timestamp or memory.occurred_at,
                node=nodes[entry.node_id],
                contributed_by=memory.contributed_by,
                trust=memory.trust,
                role=entry.role,
                speaker=entry.speaker,
                first_message=entry.position,
                last_message=entry.last_position,
                messages=window if with_messages else None,
            )
        )
    return hits, False


def _around(corpus: Corpus, row: int) -> list[int]:
    """The entry's row with those of the messages just before and after, in order."""
    steps = range(-NEIGHBOURS, NEIGHBOURS + 1)
    rows = [corpus.neighbour_rows(np.array([row]), step)[0] if step else row for step in steps]
    return [int(row) for row in rows if row >= 0]


def tokens(text: str) -> int:
    """An estimate that errs on the high side for prose."""
    return len(text) // CHARACTERS_PER_TOKEN + 1


def _scores(candidates: Candidates, ranked: Ranked, question: Question) -> dict[str, float | str]:
    entry = candidates.corpus.entries[ranked.row]
    signals = candidates.signals
    values = {name: float(getattr(signals, name)[ranked.at]) for name in Signals.__dataclass_fields__}
    return {
        "entry_id": str(entry.id),
        "score": round(ranked.score, 4),
        **{name: round(value, 4) for name, value in values.items() if not np.isnan(value)},
    }
