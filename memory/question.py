"""Understand: what a question says about where, when and by whom its answer was said."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import structlog

from graph.words import entities, query_terms
from memory.arrays import Bools
from memory.corpus import Corpus
from memory.dates import Known, Span, find_from_event, find_spans
from memory.embedding import Model, current_model, embedder, unread_language
from memory.providers import EmbedderUnavailable
from memory.ranking import Floats

QUERY_TERMS = 256
EVENTS, EVENT_COVERED = 3, 0.6  # memories that tell when an event was, and how much of its words they must have
ROLE_NAMES = frozenset({"user", "assistant", "system", "tool", "human", "ai"})
LEAST_NAME_CHARACTERS = 2

_WORD = re.compile(r"\w+")
_OF_SELF = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|myself)\b")
_OF_ASSISTANT = re.compile(
    r"\byou(?:'ve|\s+have|\s+had)?\s+(?:suggested|told|recommended|said|gave|given|mentioned|explained|provided|listed|"
    r"advised)\b|\bdid\s+you\s+\w+|\bremind\s+me\b|\bprevious\s+(?:chat|conversation)",
    re.IGNORECASE,
)
_OF_THE_PAST = re.compile(
    r"\b(?:original(?:ly)?|initial(?:ly)?|at\s+first|the\s+first\s+time|earli(?:er|est)|used\s+to|previous(?:ly)?|before|"
    r"first|history|changed?|evolve[ds]?|old(?:er|est)?)\b",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"\b(?:what|when|where|which|who|how\s+(?:many|much|often|long|old|far))\b[^?.]{0,60}?"
    r"\b(?:is|are|am|'s|do|does|have|has|should|can)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\bwhen\b|\bhow\s+(?:long|old|often)\b|\b(?:what|which)\s+(?:dates?|times?|days?|weeks?|months?|years?)\b",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(
    r"\b(?:summar(?:y|i[sz]e|ies)|overview|recap|catch\s+me\s+up|bring\s+me\s+up\s+to\s+(?:date|speed)|"
    r"over\s+time|evolve[ds]?|(?:have|has|did)\s+\w+(?:\s+\w+){0,8}\s+(?:develop|progress|change|grow)\w*)\b",
    re.IGNORECASE,
)
_IN_ORDER = re.compile(
    r"\b(?:in\s+(?:chronological\s+)?order|order\s+(?:in\s+which|of)|chronolog\w+|timeline|sequence\s+of|"
    r"step\s+by\s+step\s+how|what\s+happened\s+(?:when|over))\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:(?:can|could|would|will)\s+you|please|help|show|give|write|draft|recommend|suggest|explain|plan|make|create|"
    r"list|compare|teach|walk)\b"
    r"|\b(?:how\s+(?:do|can|should|would|might|to)|what(?:'s|\s+is|\s+are|\s+would|\s+kind|(?:\s+\w+){0,3}\s+should)|"
    r"should\s+I|where\s+(?:do\s+you|should|can)|which\s+\w+\s+should|any\s+(?:tips|ideas|advice|suggestions)|"
    r"advice|recommend\w*|suggest\w*)\b",
    re.IGNORECASE,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A query as the machine sees it. `vector` is None when the embedder does not answer.

    is_of_self: it asks about the asker ("my", "I"), so a person said it rather than an assistant. wants_current: it
    asks how things are now, so of several statements the newest holds. wants_standing: it asks
    for something to be made, or for nothing the asker has said, so what is always wanted matters.
    """

    text: str
    asked_at: datetime
    terms: tuple[int, ...]
    vector: Floats | None
    model: Model
    is_of_self: bool
    wants_current: bool
    wants_standing: bool
    wants_time: bool
    wants_overview: bool
    wants_order: bool
    not_used: tuple[str, ...]

    def spans(self, corpus: Corpus) -> tuple[Span, ...]:
        """The spans of time it names; a date without a year is of a year in which there are memories."""
        if not len(corpus.occurred):
            return ()
        first = datetime.fromtimestamp(float(corpus.occurred.min()), UTC).year
        last = min(datetime.fromtimestamp(float(corpus.occurred.max()), UTC).year, self.asked_at.year)
        spans = find_spans(self.text, Known(self.asked_at, tuple(range(last, first - 1, -1))))
        return (*spans, *self._spans_from_event(corpus))

    def _spans_from_event(self, corpus: Corpus) -> Iterator[Span]:
        """ "Two weeks before the trip": counted from the memories that have the event's words."""
        wanted = find_from_event(self.text)
        if wanted is None:
            return
        by_words, _, covered = corpus.word_scores(query_terms(wanted.event))
        if not (by_words > 0).any():
            return
        of_event = np.where(covered >= EVENT_COVERED, by_words, 0)
        for row in np.argsort(-of_event, kind="stable")[:EVENTS]:
            if of_event[row] > 0:
                weight = float(of_event[row] / of_event.max())
                yield wanted.span(float(corpus.occurred[row]), weight)

    def not_used_of(self, corpora: Sequence[Corpus]) -> tuple[str, ...]:
        """`not_used`, and how much of what is searched has no vectors of the current model."""
        if self.vector is None:
            return self.not_used
        count = total = 0
        for corpus in corpora:
            with corpus.lock:
                count += corpus.count_without_vector()
                total += int((corpus.alive & corpus.passages).sum())
        if not count:
            return self.not_used
        return (*self.not_used, f"vectors: the embedding model has read {total - count:,} of {total:,} entries so far")

    def speakers(self, corpus: Corpus) -> Bools:
        """For each of the corpus' speakers, whether the question names them."""
        said = {word.casefold() for word in _WORD.findall(self.text)}
        return np.array([_is_named(name, said) for name in corpus.speaker_names], np.bool_)


def _is_named(name: str, said: set[str]) -> bool:
    words = [word.casefold() for word in _WORD.findall(name)]
    if not words or name.casefold() in ROLE_NAMES:
        return False
    return any(len(word) >= LEAST_NAME_CHARACTERS and word in said for word in (words[0], words[-1]))


def understand(query: str, asked_at: datetime | None) -> Question:
    """Words and vector of a question. Without an embedder the words alone are searched, and the answer says so."""
    terms = query_terms(query)[:QUERY_TERMS]
    not_used: list[str] = []
    try:
        vector: Floats | None = embedder().embed_query(query)
    except EmbedderUnavailable as error:
        log.warning("embedder unavailable", error=str(error))
        vector = None
        not_used.append("vectors: the embedder does not answer")
    not_used += unread_language(query)
    if not terms:
        not_used.append("words: the query has none")
    is_of_assistant = bool(_OF_ASSISTANT.search(query))
    wants_order = bool(_IN_ORDER.search(query))
    wants_overview = bool(_OVERVIEW.search(query)) and not wants_order
    # an overview tells what came of it, which is what others answered as much as what the asker said
    is_of_self = bool(_OF_SELF.search(query)) and not (is_of_assistant or wants_overview)
    is_request = bool(_REQUEST.search(query))
    wants_time = bool(_WHEN.search(query))
    is_of_what_was_said = is_of_assistant or wants_overview or wants_order or wants_time
    return Question(
        text=query,
        asked_at=asked_at or datetime.now(UTC),
        terms=tuple(terms),
        vector=vector,
        model=current_model(),
        is_of_self=is_of_self,
        wants_current=bool(_CURRENT.search(query)) and not _OF_THE_PAST.search(query),
        wants_standing=not is_of_what_was_said and (is_request or not (is_of_self or entities(query, 1))),
        wants_time=wants_time,
        wants_overview=wants_overview,
        wants_order=wants_order,
        not_used=tuple(not_used),
    )
