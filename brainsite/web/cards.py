"""What a page shows of memories and hits: openings, the reasons of a hit, and the names of those who wrote."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from accounts.actor import Actor
from accounts.models import Agent, User
from brainsite.web.reading import SHOWN_CHARACTERS, ListPage, page_start
from graph.words import query_terms, terms
from memory.types import Hit, Memory, Recall

LOOKED_AT_CHARACTERS = 20_000  # of a long text, for the words that matched
BEFORE_A_MATCH_CHARACTERS = 160
WORD = re.compile(r"\w+")

YOU = "you"
SIGNALS = {
    "vector": "its meaning",
    "words": "its words",
    "piece_words": "the words of this part",
    "vector_before": "the message before it",
    "vector_after": "the message after it",
    "words_before": "words of the message before it",
    "words_after": "words of the message after it",
    "group_words": "the words of its conversation or day",
    "group_vector": "the meaning of its conversation or day",
    "date": "its date",
    "speaker": "who said it",
    "role": "a person said it",
    "coverage": "the rare words of the question",
    "standing": "it says how things are always wanted",
    "after_question": "it answers a question",
    "timed": "it says when",
    "node": "the node it lies in",
}
BLOCKS = {
    "standing": "What is always wanted",
    "overview": "An overview, in the order of time",
    "in_order": "In the order of time",
}


@dataclass(frozen=True, slots=True)
class Card:
    memory: Memory
    text: str
    is_cut: bool
    who: str


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a hit's text; `matched` when it is a word of the question."""

    text: str
    matched: bool


@dataclass(frozen=True, slots=True)
class HitCard:
    hit: Hit
    parts: tuple[Part, ...]
    starts_late: bool
    is_cut: bool
    words: tuple[str, ...]
    who: str
    page_start: int
    reasons: tuple[tuple[str, float, int], ...]  # the signal in words, what it gave, its place by that signal alone


def names_of(actor: Actor, ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """Names of people and agents of the actor's organization. Outside of a session: these are global rows."""
    wanted = {principal for principal in ids if principal is not None} - {actor.user_id}
    names = {actor.user_id: YOU} if actor.user_id else {}
    if wanted:
        organization_id = cast(UUID, actor.organization_id)  # every person acts in one
        people = User.objects.filter(id__in=wanted, memberships__organization_id=organization_id)
        names |= {id: name or email for id, name, email in people.values_list("id", "name", "email")}
        agents = Agent.objects.filter(id__in=wanted, organization_id=organization_id)
        names |= {id: f"{name} (agent)" for id, name in agents.values_list("id", "name")}
    return names


def name_of(principal: UUID | None, names: Mapping[UUID, str]) -> str:
    return names.get(principal, "a former member") if principal else "nobody named"


def cards(actor: Actor, page: ListPage) -> tuple[Card, ...]:
    names = names_of(actor, (memory.contributed_by for memory in page.memories))
    shown = []
    for memory in page.memories:
        text = page.openings.get(memory.id, "")
        cut = len(text) > SHOWN_CHARACTERS
        shown.append(Card(memory, text[:SHOWN_CHARACTERS], cut, name_of(memory.contributed_by, names)))
    return tuple(shown)


@dataclass(frozen=True, slots=True)
class Beside:
    """One line of a block beside the hits."""

    hit: Hit
    is_cut: bool
    page_start: int


def blocks_beside(answer: Recall) -> tuple[tuple[str, tuple[Beside, ...]], ...]:
    """What stands beside the hits, each block with its heading."""
    return tuple(
        (
            BLOCKS[block.kind],
            tuple(
                Beside(hit, hit.start + len(hit.text) < hit.characters, page_start(hit.first_message))
                for hit in block.hits
            ),
        )
        for block in answer.blocks
    )


def hit_cards(actor: Actor, query: str, answer: Recall) -> tuple[HitCard, ...]:
    names = names_of(actor, (hit.contributed_by for hit in answer.hits))
    return tuple(_hit_card(hit, query, names) for hit in answer.hits)


def _hit_card(hit: Hit, query: str, names: Mapping[UUID, str]) -> HitCard:
    asked = frozenset(query_terms(query))
    looked_at = hit.text[:LOOKED_AT_CHARACTERS]
    first = next((match.start() for match in WORD.finditer(looked_at) if _matches(match[0], asked)), 0)
    start = 0
    if first > SHOWN_CHARACTERS - BEFORE_A_MATCH_CHARACTERS:
        start = first - BEFORE_A_MATCH_CHARACTERS
    shown = hit.text[start : start + SHOWN_CHARACTERS]
    found = terms(looked_at).counts.keys()
    words = dict.fromkeys(word for word in WORD.findall(query) if asked & set(query_terms(word)) & found)
    return HitCard(
        hit=hit,
        parts=_parts(shown, asked),
        starts_late=hit.start + start > 0,
        is_cut=hit.start + start + SHOWN_CHARACTERS < hit.characters,
        words=tuple(words),
        who=name_of(hit.contributed_by, names),
        page_start=page_start(hit.first_message),
        reasons=tuple((SIGNALS[reason.signal], reason.gave, reason.rank) for reason in hit.why),
    )


def _matches(word: str, asked: frozenset[int]) -> bool:
    return not asked.isdisjoint(terms(word).counts)


def _parts(text: str, asked: frozenset[int]) -> tuple[Part, ...]:
    parts: list[Part] = []
    done = 0
    for match in WORD.finditer(text):
        if _matches(match[0], asked):
            parts += [Part(text[done : match.start()], False), Part(match[0], True)]
            done = match.end()
    parts.append(Part(text[done:], False))
    return tuple(part for part in parts if part.text)
