"""Index files: what a node holds, told by names, words, counts and dates, and never by a sentence of a memory.

Pure functions over frozen rows. The keys and their nesting are the specification's, letter for letter.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np
import numpy.typing as npt

from graph.models import Node
from graph.tree import Twig
from graph.words import MOST_WORDS_IN_A_NAME, REMEMBERED_WORDS, stem

LEAST_MEMORIES, LEAST_MEMORIES_DEEP = 5, 10
AGGREGATE_KEYWORDS, KEY_ENTITIES, SUB_NODE_KEYWORDS, SUB_NODES = 40, 20, 12, 200
# Between two labels the summary has at most this many words of memories: five in a row could be a quotation.
SUMMARY_WORDS = 4
# One in so many words of a list is kept for the newest memory.
FRESH_SHARE = 4

WORD = re.compile(r"\w+")
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Passage:
    """What an entry adds to the index of a node above it. `child`: the child of that node it lies below, if any.

    `recall_file`: its id as text; ids are in the order of their making.
    """

    child: UUID | None
    recall_file: str
    keywords: Sequence[str]
    entities: Sequence[str]


Span = tuple[datetime, datetime]
"""When the oldest and the newest entry took place."""


def least_memories(parent_type: str | None) -> int:
    """How many memories a node needs to have an index: 5 on the first three levels, 10 below. By its parent's type."""
    return LEAST_MEMORIES_DEEP if parent_type == Node.Type.TOPIC else LEAST_MEMORIES


def compose_index(
    node: Twig,
    *,
    parent_name: str | None,
    children: Sequence[Twig],
    passages: Iterable[Passage],
    spans: Mapping[UUID | None, Span],
    last_updated: str,
) -> dict[str, Any]:
    """The index file of a node from all entries of its subtree, of which there is at least one.

    `spans`: of the node's own entries (None), and of those below each child; without those that have none.
    Words are ranked by the number of recall files they occur in, then the newer ones first; but a quarter of each list
    is kept for the newest memory, so that what was just added can be seen. Children without entries are left out.
    """
    full = [child for child in children if child.id in spans]
    shown = sorted(full, key=lambda child: (-child.memory_count, child.name.casefold(), child.id))[:SUB_NODES]
    words = _Words(passages, [child.id for child in children])
    keywords = words.keywords.best(AGGREGATE_KEYWORDS)
    entities = words.entities.best(KEY_ENTITIES)
    dates = _date_range(spans.values())
    return {
        "node_id": str(node.id),
        "node_name": node.name,
        "parent_node": parent_name,
        "last_updated": last_updated,
        "sub_nodes": [
            {
                "name": child.name,
                "memory_count": child.memory_count,
                "keywords": words.keywords.best(SUB_NODE_KEYWORDS, words.places[child.id]),
                "date_range": _date_range([spans[child.id]]),
            }
            for child in shown
        ],
        "aggregate_keywords": keywords,
        "key_entities": entities,
        "summary": _summary(node, keywords, entities, dates),
        "total_memory_count": node.memory_count,
        "date_range": dates,
    }


def _summary(node: Twig, keywords: Sequence[str], entities: Sequence[str], dates: dict[str, str]) -> str:
    parts = [f"{node.name}, {node.memory_count} memories."]
    if topics := _few(keywords):
        parts.append(f"Keywords: {', '.join(topics)}.")
    if names := _few(entities):
        parts.append(f"Names: {', '.join(names)}.")
    parts.append(f"Dates: {dates['oldest']} to {dates['newest']}.")
    return " ".join(parts)


def _few(phrases: Iterable[str]) -> list[str]:
    """The first phrases, as long as they have no more than SUMMARY_WORDS words together."""
    found: list[str] = []
    left = SUMMARY_WORDS
    for phrase in phrases:
        left -= _length(phrase)
        if left < 0:
            break
        found.append(phrase)
    return found


def _date_range(spans: Iterable[Span]) -> dict[str, str]:
    oldest, newest = zip(*spans, strict=True)
    return {"oldest": _date(min(oldest)), "newest": _date(max(newest))}


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


@lru_cache(REMEMBERED_WORDS)
def _stem(word: str) -> str:
    return stem(word)


def _name(written: str) -> str | None:
    return written.casefold() if _length(written) <= MOST_WORDS_IN_A_NAME else None


def _length(text: str) -> int:
    """Its number of words, however one cuts them: "1.5" is two of them, and so is "& Sons"."""
    return max(len(text.split()), len(WORD.findall(text)))


class _Words:
    """What all passages of a node say, read once. `places`: a child → its number; 0 is the node itself."""

    def __init__(self, passages: Iterable[Passage], children: Sequence[UUID]) -> None:
        self.places: dict[UUID | None, int] = {None: 0, **{child: at for at, child in enumerate(children, start=1)}}
        self.keywords, self.entities = _Tally(_stem), _Tally(_name)
        files: list[str] = []
        places: list[int] = []
        for passage in passages:
            files.append(passage.recall_file)
            places.append(self.places[passage.child])
            self.keywords.add(passage.keywords)
            self.entities.add(passage.entities)
        rank = {file: at for at, file in enumerate(sorted(set(files)))}
        ranks = np.array([rank[file] for file in files], dtype=np.int64)
        for tally in (self.keywords, self.entities):
            tally.close(ranks, np.array(places, dtype=np.int64))


class _Tally:
    """Which words occur in which recall files, as numbers. `same`: what a written word counts as; None: not at all."""

    def __init__(self, same: Callable[[str], str | None]) -> None:
        self._same = same
        self._codes: dict[str, int] = {}
        self._said: list[int] = []
        self._sizes: list[int] = []

    def add(self, words: Sequence[str]) -> None:
        codes = self._codes
        self._said += [codes.setdefault(word, len(codes)) for word in words]
        self._sizes.append(len(words))

    def close(self, files: Integers, places: Integers) -> None:
        """After the last passage: the recall file (its rank) and the place of each of them."""
        written = list(self._codes)
        same = [self._same(word) for word in written]
        names = sorted({name for name in same if name is not None})
        number: dict[str | None, int] = {None: -1, **{name: at for at, name in enumerate(names)}}
        key_of = np.array([number[name] for name in same], dtype=np.int64)
        said = np.array(self._said, dtype=np.int64)
        passage = np.repeat(np.arange(len(self._sizes)), self._sizes)
        counts = key_of[said] >= 0
        said, passage = said[counts], passage[counts]
        self._keys, self._files, self._places = key_of[said], files[passage], places[passage]
        self._by_place = np.argsort(self._places, kind="stable")
        # Ties stand in an order that no text has: a list must not read like one.
        self._shuffle = np.array([crc32(name.encode()) for name in names], dtype=np.int64)
        frequency = np.bincount(said, minlength=len(written))
        forms = sorted(range(len(written)), key=lambda code: (frequency[code], written[code]))
        self._shown = {int(key_of[code]): written[code] for code in forms}  # the most frequent form comes last

    def best(self, most: int, place: int | None = None) -> list[str]:
        rows: slice | Integers = slice(None)
        if place is not None:
            start, end = np.searchsorted(self._places, [place, place + 1], sorter=self._by_place)
            rows = self._by_place[start:end]
        if not len(self._keys[rows]):
            return []
        files = self._files[rows]
        width = int(files.max()) + 1
        pairs = np.sort(self._keys[rows] * width + files)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        keys = pairs // width
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(firsts, append=len(keys))
        keys, newest = keys[firsts], pairs[firsts + counts - 1] % width
        order = np.lexsort((keys, self._shuffle[keys], -newest, -counts))
        ranked, is_fresh = keys[order].tolist(), (newest[order] == width - 1).tolist()
        fresh = [key for key, new in zip(ranked, is_fresh, strict=True) if new][: most // FRESH_SHARE]
        unseen = [key for key in fresh if key not in ranked[:most]]
        return [self._shown[key] for key in [*ranked[: most - len(unseen)], *unseen]]
