"""A corpus that is kept up to date says what one made anew of the same entries says."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from graph.words import Terms, pack
from memory.corpus import HALFVEC_HEADER_BYTES, Corpus, Entry, _Loaded
from memory.entries import join_packed

DIMENSIONS = 48
STEPS = 30
TERMS = tuple(range(12))


class World:
    """Entries come, change, move and go; `there` is what there is."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.corpus = Corpus(DIMENSIONS)
        self.there: dict[UUID, _Loaded] = {}
        self.nodes, self.files = ([self.uuid() for _ in range(count)] for count in (7, 9))

    def uuid(self) -> UUID:
        return UUID(int=self.random.getrandbits(128))

    def put(self, *loaded: _Loaded) -> None:
        self.there |= {each.entry.id: each for each in loaded}
        self.corpus.put(loaded)

    def some(self) -> _Loaded:
        return self.there[self.random.choice(list(self.there))]

    def entry(self) -> _Loaded:
        pieces = self.random.choice([1, 1, 3])
        terms = [
            {self.random.choice((*TERMS, *range(500))): self.random.randint(1, 3) for _ in range(9)}
            for _ in range(pieces)
        ]
        vector = np.random.default_rng(self.random.getrandbits(32)).normal(size=DIMENSIONS)
        raw = bytes(HALFVEC_HEADER_BYTES) + vector.astype(">f2").tobytes()
        position = len(self.there)  # no two entries of one place
        return _Loaded(
            Entry(
                self.uuid(), self.random.choice(self.files), self.random.choice(self.nodes),
                self.random.choice(["passage", "passage", "summary"]), position, position, "user", "Ann",
            ),
            occurred_at=self.random.uniform(0, 10**8),
            characters=self.random.randint(5, 900),
            traits=0,
            terms=join_packed(pack(Terms(counts, sum(counts.values()))) for counts in terms),
            vectors={number: raw for number in range(pieces) if self.random.random() < 0.8},
        )  # fmt: skip

    def step(self) -> None:
        what = self.random.choice(["add", "remove", "rewrite", "move", "compact"])
        if what == "add":
            self.put(*(self.entry() for _ in range(self.random.choice([1, 40]))))
        if what == "remove":
            gone = self.some().entry.id
            del self.there[gone]
            self.corpus.remove([gone])
        if what == "rewrite":
            self.put(replace(self.some(), terms=self.entry().terms, vectors={}))
        if what == "move":
            known = self.some()
            self.put(replace(known, entry=replace(known.entry, node_id=self.random.choice(self.nodes))))
        if what == "compact":
            self.corpus = self.corpus.compacted()


def answers(corpus: Corpus, nodes: list[UUID]) -> Mapping[str, object]:
    """All that a search reads, by ids, for rows and codes are a corpus' own."""
    query = np.linspace(-1, 1, DIMENSIONS, dtype=np.float32)
    rows = np.flatnonzero(corpus.alive)
    of_entries = dict(zip(("words", "pieces", "coverage"), corpus.word_scores(TERMS), strict=True))
    of_entries["pieces"] = corpus.of_best_piece(of_entries["pieces"])
    of_entries["cosines"] = corpus.cosines(query)
    of_entries["groups"] = corpus.group_word_scores(TERMS)[corpus.groups[0]]
    counts, lengths = corpus.node_lengths()
    of_nodes: dict[str, Any] = {
        "counts": counts, "lengths": lengths, "words": corpus.node_word_scores(TERMS),
        "centroids": corpus.node_centroids() @ query,
    }  # fmt: skip
    found: dict[str, object] = {"characters": [corpus.characters_of([node]) for node in nodes]}
    for name, values in of_entries.items():
        found[name] = {str(corpus.entries[row].id): _told(values[row]) for row in rows}
    for name, values in of_nodes.items():
        by_id = dict(zip(corpus.node_ids, values, strict=True))
        found[f"nodes' {name}"] = {
            str(node): _told(by_id[node])
            for node in nodes
            if by_id.get(node, 0) and counts[corpus.node_ids.index(node)]
        }
    return found


def _told(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)


@pytest.mark.parametrize("seed", range(4))
def test_kept_up_to_date_it_says_what_a_new_one_says(seed: int) -> None:
    world = World(seed)
    world.put(*(world.entry() for _ in range(60)))
    for _ in range(STEPS):
        world.step()
        fresh = Corpus(DIMENSIONS)
        fresh.put(world.there.values())
        assert answers(world.corpus, world.nodes) == answers(fresh, world.nodes)
