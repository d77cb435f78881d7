"""Attach: the words of the hits with their citations, cut around what fits, within the budget of tokens."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from accounts.actor import Actor
from memory.candidates import Ranked
from memory.corpus import Corpus
from memory.embedding import current_model
from memory.memories import messages_by_id
from memory.models import RecallFile
from memory.pieces import pieces
from memory.types import Block, Hit, MessageView

CHARACTERS_PER_TOKEN = 4  # a safe estimate for a budget; models differ
TOKENS_A_HIT = 300  # of the budget, when the caller names none
EXCERPT_CHARACTERS = 900  # of a hit's own message
NEIGHBOURS, NEIGHBOUR_CHARACTERS = 1, 320  # messages before and after a hit, and what is shown of each
BLOCK_CHARACTERS = 240


def tokens(text: str) -> int:
    """An estimate that errs on the high side for prose."""
    return len(text) // CHARACTERS_PER_TOKEN + 1


def attach(actor: Actor, ranked: Sequence[Ranked], *, budget: int, with_messages: bool) -> tuple[list[Hit], bool]:
    """Hits with their words; True when the budget of tokens left some out. What is around a hit gives way first."""
    hits = _hits(actor, ranked, with_messages=with_messages)
    kept: list[Hit] = []
    spent = 0
    for place, hit in enumerate(hits):
        fair = (budget - spent) / (len(hits) - place)  # the later ones want their share too
        own = tokens(hit.text)
        if spent + own > budget:
            return kept, True
        if hit.messages is not None and sum(tokens(m.content) for m in hit.messages) > max(fair, own):
            hit = replace(hit, messages=tuple(m for m in hit.messages if m.position == hit.first_message))
        spent += sum(tokens(m.content) for m in hit.messages) if hit.messages is not None else own
        kept.append(hit)
    return kept, False


def attach_block(actor: Actor, kind: str, ranked: Sequence[Ranked], *, budget: int) -> Block:
    """A block beside the hits, of entries with few words each, as many as the budget of tokens takes."""
    hits = _hits(actor, ranked, with_messages=False, most=BLOCK_CHARACTERS) if ranked else []
    spent = list(accumulate(tokens(hit.text) for hit in hits))
    return Block(kind, tuple(hit for hit, sum_to in zip(hits, spent, strict=True) if sum_to <= budget))


def _hits(actor: Actor, ranked: Sequence[Ranked], *, with_messages: bool, most: int = EXCERPT_CHARACTERS) -> list[Hit]:
    around = [_around(r.corpus, r.row) if with_messages else [r.row] for r in ranked]
    ids = {r.corpus.entries[row].id for r, rows in zip(ranked, around, strict=True) for row in rows}
    file_ids = {r.corpus.entries[r.row].recall_file_id for r in ranked}
    texts = messages_by_id(actor, ids, file_ids)
    files = RecallFile.objects.visible_to(actor).filter(id__in=file_ids)
    named = files.values_list("id", "recall_id", "kind", "scope", "contributed_by", "trust", "occurred_at", named=True)
    memories = {row.id: row for row in named}
    model = current_model()
    hits: list[Hit] = []
    for r, rows in zip(ranked, around, strict=True):
        corpus, entry = r.corpus, r.corpus.entries[r.row]
        own, memory = texts.get(entry.id), memories.get(entry.recall_file_id)
        if memory is None or own is None:
            continue  # deleted between two statements of this session
        shown = _excerpt(own, r.piece, most)
        window = [texts[i] for i in (corpus.entries[row].id for row in rows) if i in texts]
        hits.append(
            Hit(
                id=memory.id,
                recall_id=memory.recall_id,
                entry_id=entry.id,
                kind=memory.kind,
                entry_kind=entry.entry_kind,
                scope=memory.scope,
                text=shown.content,
                score=round(r.score, 4),
                similarity=None if r.cosine is None else round(model.similarity(r.cosine), 4),
                occurred_at=own.timestamp or memory.occurred_at,
                node=corpus.tree.path(entry.node_id),
                contributed_by=memory.contributed_by,
                trust=memory.trust,
                role=entry.role,
                speaker=entry.speaker,
                first_message=entry.position,
                last_message=entry.last_position,
                start=shown.start,
                characters=len(own.content),
                why=r.reasons,
                repeats=tuple(corpus.entries[row].id for row in r.repeats),
                newer=None if r.newer is None else corpus.entries[r.newer].id,
                messages=tuple(shown if m is own else _beside(m, own.position) for m in window)
                if with_messages
                else None,
            )
        )
    return hits


def _excerpt(message: MessageView, piece: int, most: int) -> MessageView:
    """The message, or of a long one the piece that fits best, word for word."""
    if len(message.content) <= most:
        return message
    cut = pieces(message.content)
    chosen = cut[min(piece, len(cut) - 1)]
    text = _until_word(message.content[chosen.start : chosen.end], most)
    return replace(message, content=text, start=chosen.start, characters=len(message.content))


def _beside(message: MessageView, position: int) -> MessageView:
    """What is next to the hit: the end of the message before it, the start of the one after."""
    text = message.content
    if len(text) <= NEIGHBOUR_CHARACTERS:
        return message
    if message.position > position:
        return replace(message, content=_until_word(text, NEIGHBOUR_CHARACTERS), characters=len(text))
    start = len(text) - NEIGHBOUR_CHARACTERS
    start += text[start:].find(" ") + 1
    return replace(message, content=text[start:], start=start, characters=len(text))


def _until_word(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    cut = text.rfind(" ", most // 2, most)
    return text[: cut if cut > 0 else most]


def _around(corpus: Corpus, row: int) -> list[int]:
    """The entry's row with those of the messages just before and after, in order."""
    steps = range(-NEIGHBOURS, NEIGHBOURS + 1)
    rows = [corpus.neighbour_rows(np.array([row]), step)[0] if step else row for step in steps]
    return [int(row) for row in rows if row >= 0]
