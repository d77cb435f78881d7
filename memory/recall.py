"""Recall: find the memories that answer a question, and say how they were found.

Seven steps. Understand the question; navigate the tree by what its indexes know; drill to the nodes that matter; choose
what to warm within the budget; search the warmed entries exactly, with two nets over the whole brain beside them; fuse;
attach the words with citations. Exhaustive mode reads every entry and fuses in the same way. Each step notes its time
and its numbers in the trace.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from accounts.actor import Actor, BrainRef
from accounts.errors import Invalid, NotFound
from accounts.ids import uuid7
from graph.route import z_scores
from memory.arrays import Bools, Ints
from memory.attach import CHARACTERS_PER_TOKEN, TOKENS_A_HIT, attach, attach_block, tokens
from memory.candidates import Candidates, Ranked, rank
from memory.corpus import Corpus, corpus_for
from memory.dates import date_fit
from memory.memories import Filters, nodes_below
from memory.models import RecallFile
from memory.navigate import Navigation, navigate, score
from memory.question import Question, understand
from memory.ranking import WEIGHTS, Floats, Signals, Weights
from memory.session import Session, get_session, keep_session
from memory.shadow import BEST, count_misses, is_sampled
from memory.text import check_text
from memory.traces import keep_trace
from memory.traits import Trait
from memory.types import Block, Clarify, Hit, Recall, Tokens, Trace

QUERY_CHARACTERS = 20_000
LIMIT_MOST = 100
CANDIDATES_PER_NET = 200  # exhaustive mode
NET = 20  # auto mode: entries that each brain-wide net adds to the warmed ones
DATE_MATCHES = 0.95  # of the best fit in the brain: entries for the net of dates
SKETCHED = 60  # pieces whose sketches are nearest; their vectors decide which of them the net keeps
SESSION_CHARACTERS = 20_000
SESSION_HITS = 5  # of an answer, whose nodes the session remembers
STANDING_SHOWN = 5
LISTED = 24  # entries of a list in the order of time
OVERVIEW_WEIGHTS = replace(WEIGHTS, standing=0.0, group_words=0.0, group_vector=0.0)  # of many conversations, not one
ORDER_WEIGHTS = replace(WEIGHTS, role=WEIGHTS.role * 2, standing=0.0)  # what a person brought up, not what was answered


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


def recall(
    actor: Actor,
    query: str,
    *,
    scope: str = "both",
    limit: int = 10,
    threshold: float = 0.5,
    mode: str = "auto",
    filters: Filters | None = None,
    max_tokens: int | None = None,
    session: str | None = None,
    with_messages: bool = False,
    asked_at: datetime | None = None,
    weights: Weights = WEIGHTS,
) -> Recall:
    """The memories that answer a question, best first.

    threshold: least similarity (0..1, calibrated to the embedding model) of hits in which no word of the question
    occurs; 0 turns it off. session: any string of the caller's; what it discussed weighs and stays warm. asked_at:
    the moment that "last week" is counted from, now by default. weights: another fusion, for measuring. Raises
    Invalid, TooLarge, Forbidden (a scope this actor may not read), NotFound (a node that none of its brains has).
    """
    check_text(query, "query", most=QUERY_CHARACTERS)
    check_text(session or "", "session", most=SESSION_CHARACTERS, blank=True)
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
        question = understand(query, asked_at)
        discussed = get_session(actor, session)
    with actor.session():
        if filters.node and not any(nodes_below(actor, brain, filters.node) for brain in brains):
            raise NotFound("No such node.", field="node")
        found: list[Candidates] = []
        shadow: list[Candidates] = []  # the same question over everything, for some
        is_shadowed = mode == "auto" and is_sampled()
        for brain in brains:
            with watch.stage("load"):
                corpus = corpus_for(actor, brain, question.model.id, question.model.dimensions)
            with corpus.lock:
                with watch.stage("filter"):
                    allowed = allowed_rows(actor, brain, corpus, filters) & corpus.passages
                with watch.stage("words"):
                    seen = look_over(corpus, question)
                with watch.stage("navigate"):
                    way = find_way(corpus, question, seen, allowed, discussed, filters) if mode == "auto" else None
                with watch.stage("search"):
                    found.append(search(brain, corpus, question, seen, allowed, discussed, way, limit))
                if is_shadowed:
                    with watch.stage("shadow"):
                        shadow.append(search(brain, corpus, question, seen, allowed, discussed, None, limit))
        with watch.stage("fuse"):
            ranked, cut = rank(found, question, limit, threshold, weights)
        budget = max_tokens or TOKENS_A_HIT * limit
        with watch.stage("blocks"):
            beside, spent = blocks(actor, found, question, ranked, budget // 2)
        with watch.stage("attach"):
            hits, truncated = attach(actor, ranked, budget=budget - spent, with_messages=with_messages)
    if is_shadowed:
        count_misses(found, rank(shadow, question, BEST, threshold, weights)[0])
    clarify = clarify_from(found)
    if mode == "auto":
        offered = [choice.node.id for choice in clarify.choices] if clarify else []
        keep_session(actor, session, discussed, [hit.node.id for hit in hits[:SESSION_HITS]], offered)
    trace = trace_of(mode, actor, brains, question, found, ranked, hits, beside, cut, watch)
    trace_id = uuid7()
    keep_trace(actor, trace_id, trace)
    ways = [c.navigation for c in found if c.navigation]
    return Recall(
        hits=tuple(hits),
        blocks=beside,
        trace=trace,
        trace_id=trace_id,
        warmed=tuple(node for way in ways for node in way.warmed),
        cold=tuple(node for way in ways for node in way.cold),
        clarify=clarify,
        truncated=truncated,
    )


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


@dataclass(frozen=True, slots=True)
class Brainwide:
    """What a question's words, dates and names say of every entry of a brain, before any vector is read."""

    words: Floats
    by_piece: Floats  # words again, of each piece
    coverage: Floats
    date: Floats | None  # None when the question names no time
    group_words: Floats  # of each group
    speakers: Bools  # of each speaker: named in the question


def look_over(corpus: Corpus, question: Question) -> Brainwide:
    words, by_piece, coverage = corpus.word_scores(question.terms)
    spans = question.spans(corpus)
    return Brainwide(
        words=words,
        by_piece=by_piece,
        coverage=coverage,
        date=date_fit(corpus.occurred, spans) if spans else None,
        group_words=corpus.group_word_scores(question.terms),
        speakers=question.speakers(corpus),
    )


def find_way(
    corpus: Corpus, question: Question, seen: Brainwide, allowed: Bools, discussed: Session, filters: Filters
) -> Navigation:
    only: frozenset[UUID] | None = None
    if filters.node:  # `allowed` holds the subtree's rows alone
        only = frozenset(corpus.entries[row].node_id for row in np.flatnonzero(allowed))
    return navigate(
        corpus,
        question.terms,
        question.vector,
        seen.words,
        seen.date,
        allowed=allowed,
        session=discussed.nodes,
        offered=discussed.offered,
        only=only,
    )


def search(
    brain: BrainRef,
    corpus: Corpus,
    question: Question,
    seen: Brainwide,
    allowed: Bools,
    discussed: Session,
    way: Navigation | None,
    limit: int,
) -> Candidates:
    """The candidates and their signals: the warmed entries and what the nets catch, or the best of everything."""
    most = CANDIDATES_PER_NET if way is None else NET
    nets = [_best(np.where(allowed & (seen.words > 0), seen.words, -np.inf), most)]
    dated = allowed & (seen.date >= DATE_MATCHES * seen.date.max()) if seen.date is not None else None
    if dated is not None:
        nets.append(_best(np.where(dated & (seen.words > 0), seen.words, -np.inf), most))
    distances = None if question.vector is None else corpus.sketch_distances(question.vector)
    if question.vector is None or distances is None:
        vector = np.full(len(corpus.entries), np.nan, np.float32)
        read = np.zeros(0, np.int64)
    elif way is None:
        vector = corpus.cosines(question.vector)
        known = np.where(np.isnan(vector), -np.inf, vector)
        nets += [_best(np.where(mask, known, -np.inf), most) for mask in (allowed, dated) if mask is not None]
        read = np.flatnonzero(allowed)
    else:
        near = corpus.nearest_by_sketch(distances, SKETCHED, allowed)
        if dated is not None:
            nets.append(corpus.nearest_by_sketch(distances, NET, dated))
        read = _with_neighbours(corpus, _union(*nets, near), allowed)
        read = _union(read, way.rows)
        vector = corpus.cosines(question.vector, read)
        nets.append(near[_best(np.nan_to_num(vector[near], nan=-np.inf), NET)])
    rows = _with_neighbours(corpus, _union(*nets), allowed)
    if way is None:
        node_score = score(corpus, question.terms, question.vector, seen.words, seen.date, discussed.nodes)
    else:
        node_score = way.node_score
        rows = _union(rows, way.rows)

    def has(trait: Trait) -> Bools:
        return (corpus.traits & trait) > 0

    before, after = corpus.neighbour_rows(rows, -1), corpus.neighbour_rows(rows, +1)
    group_of, group_count = corpus.groups
    signals = Signals(
        vector=vector[rows],
        words=seen.words[rows],
        piece_words=corpus.of_best_piece(seen.by_piece)[rows],
        vector_before=_at(vector, before),
        vector_after=_at(vector, after),
        words_before=_at(seen.words, before),
        words_after=_at(seen.words, after),
        group_words=seen.group_words[group_of[rows]],
        group_vector=_best_of_groups(vector, group_of, group_count)[group_of[rows]],
        date=_flags(len(rows), seen.date, rows),
        speaker=_flags(len(rows), seen.speakers, corpus.speakers[rows]),
        role=_flags(len(rows), corpus.persons if question.is_of_self else None, rows),
        coverage=seen.coverage[rows],
        standing=_flags(len(rows), has(Trait.STANDING) if question.wants_standing else None, rows),
        after_question=np.where(before >= 0, _flags(len(rows), has(Trait.QUESTION), before), 0).astype(np.float32),
        timed=_flags(len(rows), has(Trait.TIMED) if question.wants_time else None, rows),
        node=z_scores(node_score)[corpus.nodes[rows]] if len(rows) else np.zeros(0, np.float32),
    )
    standing = np.flatnonzero(has(Trait.STANDING) & allowed)[::-1] if question.wants_standing else np.zeros(0, np.int64)
    if distances is not None:  # nearest first; what has no vector yet, newest first, after them
        near = corpus.nearest_of(distances, standing, STANDING_SHOWN + limit)
        standing = np.concatenate([near, standing[~np.isin(standing, near)][:STANDING_SHOWN]])
    return Candidates(brain, corpus, way, rows, signals, seen.by_piece, standing, int(corpus.alive.sum()), len(read))


def _flags(count: int, values: np.ndarray | None, at: Ints) -> Floats:
    """The values at some places as numbers; zeros where there are none."""
    return np.zeros(count, np.float32) if values is None or not count else values[at].astype(np.float32)


def _best_of_groups(vector: Floats, group_of: Ints, count: int) -> Floats:
    """The best cosine that was read in each group; NaN where none was."""
    best = np.full(count, -np.inf, np.float32)
    read = np.flatnonzero(~np.isnan(vector))
    np.maximum.at(best, group_of[read], vector[read])
    best[np.isneginf(best)] = np.nan
    return best


def _union(*rows: Ints) -> Ints:
    return np.unique(np.concatenate(rows)).astype(np.int64)


def _with_neighbours(corpus: Corpus, rows: Ints, allowed: Bools) -> Ints:
    near = np.concatenate([corpus.neighbour_rows(rows, -1), corpus.neighbour_rows(rows, +1)]).astype(np.int64)
    near = near[near >= 0]
    return _union(rows, near[allowed[near]])


def _best(scores: Floats, most: int) -> Ints:
    count = min(most, int(np.isfinite(scores).sum()))
    if not count:
        return np.zeros(0, np.int64)
    return np.argpartition(-scores, count - 1)[:count].astype(np.int64)


def _at(values: Floats, rows: Ints) -> Floats:
    found: Floats = np.where(rows >= 0, values[rows] if len(values) else np.nan, np.nan).astype(np.float32)
    return found


def blocks(
    actor: Actor, found: Sequence[Candidates], question: Question, ranked: Sequence[Ranked], budget: int
) -> tuple[tuple[Block, ...], int]:
    """What similarity does not serve, where the question asks for it: beside the hits, so that they lose no place.

    And the tokens it takes, within `budget`.
    """
    made: list[Block] = []
    spent = 0

    def add(kind: str, of: Sequence[Ranked]) -> None:
        nonlocal spent
        block = attach_block(actor, kind, of, budget=budget - spent)
        if block.hits:
            made.append(block)
            spent += sum(tokens(hit.text) for hit in block.hits)

    if question.wants_standing:
        among = {(r.brain, r.row) for r in ranked}
        standing = [
            Ranked(index, c.corpus, int(row), 0, 0.0, None)
            for index, c in enumerate(found)
            for row in c.standing
            if (index, int(row)) not in among
        ]
        add("standing", standing[:STANDING_SHOWN])
    for kind, is_wanted, weights in (
        ("in_order", question.wants_order, ORDER_WEIGHTS),
        ("overview", question.wants_overview, OVERVIEW_WEIGHTS),
    ):
        if is_wanted:
            listed, _ = rank(found, question, LISTED, 0.0, weights)
            add(kind, sorted(listed, key=lambda r: (r.corpus.occurred[r.row], r.corpus.entries[r.row].id.int)))
    return tuple(made), spent


def _scores(candidates: Candidates, ranked: Ranked) -> Mapping[str, float | str]:
    entry = candidates.corpus.entries[ranked.row]
    signals = candidates.signals
    values = {name: float(getattr(signals, name)[ranked.at]) for name in Signals.__dataclass_fields__}
    return {
        "entry_id": str(entry.id),
        "score": round(ranked.score, 4),
        **{name: round(value, 4) for name, value in values.items() if not np.isnan(value)},
    }


def clarify_from(found: Sequence[Candidates]) -> Clarify | None:
    """The question back, of the first brain in which the query names a node with several below it."""
    for candidates in found:
        if candidates.navigation and candidates.navigation.choices:
            choices = candidates.navigation.choices
            names = [choice.name for choice in choices]
            listed = f"{', '.join(names[:-1])} or {names[-1]}"
            return Clarify(f"Which one do you mean: {listed}?", choices)
    return None


def trace_of(
    mode: str,
    actor: Actor,
    brains: Sequence[BrainRef],
    question: Question,
    found: Sequence[Candidates],
    ranked: Sequence[Ranked],
    hits: Sequence[Hit],
    beside: Sequence[Block],
    cut: int,
    watch: Stopwatch,
) -> Trace:
    ways = {str(c.brain.scope): c.navigation for c in found if c.navigation}
    return Trace(
        mode=mode,
        scopes_searched=tuple(str(brain.scope) for brain in brains),
        scopes_skipped=tuple(str(b.scope) for b in actor.readable if b not in brains),
        not_used=question.not_used_of([c.corpus for c in found]),
        navigation={scope: {"reason": way.reason, "levels": way.levels} for scope, way in ways.items()},
        indexes_read=sum(way.indexes_read for way in ways.values()),
        index_bytes=sum(_index_bytes(c, question) for c in found),
        entries_total=sum(c.entries_total for c in found),
        entries_read=sum(c.entries_read for c in found),
        entries_loaded=sum(c.corpus.loaded for c in found),
        cut_by_threshold=cut,
        tokens=_tokens(found, hits, beside),
        stages_ms={name: round(ms, 3) for name, ms in watch.stages.items()},
        scores=tuple(_scores(found[r.brain], r) for r in ranked),
    )


def _index_bytes(candidates: Candidates, question: Question) -> int:
    """Of the sketches and postings that were scanned to choose what to warm."""
    if candidates.navigation is None:
        return 0
    with candidates.corpus.lock:
        return candidates.corpus.sketch_bytes + candidates.corpus.posting_bytes(question.terms)


def _tokens(found: Sequence[Candidates], hits: Sequence[Hit], beside: Sequence[Block]) -> Tokens:
    warmed = parents = everything = 0
    for c in found:
        with c.corpus.lock:  # other searches bring it up to date
            live = c.corpus.alive & c.corpus.passages
            everything += int(c.corpus.characters[live].sum())
            if c.navigation is None:
                continue
            nodes = {warm.node.id for warm in c.navigation.warmed}
            tree = c.corpus.tree
            above = {tree.nodes[n].parent_id or n for n in nodes if n in tree.nodes}
            below = {each for node in above for each in tree.below(node)}
            warmed += c.corpus.characters_of(nodes)
            parents += c.corpus.characters_of(below)
    shown = [*hits, *(hit for block in beside for hit in block.hits)]
    handed = sum(sum(tokens(m.content) for m in hit.messages or ()) or tokens(hit.text) for hit in shown)
    return Tokens(
        handed,
        warmed // CHARACTERS_PER_TOKEN,
        parents // CHARACTERS_PER_TOKEN,
        everything // CHARACTERS_PER_TOKEN,
    )
