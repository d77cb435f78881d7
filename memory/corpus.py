"""What is searched of one brain, as arrays in this process: words of every piece, vectors, and who is next to whom.

Derived from rag entries; kept up to date by the number of the latest change (corpus_version.py), so a search sees what
was captured just before it, whichever process did that. Nothing in here decides who may see what: the caller has an
open session that may read the brain.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock, RLock
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.conf import settings
from django.db.models import BinaryField, Func

from accounts.actor import Actor, BrainRef
from graph.models import Node
from graph.words import query_terms, unpack
from memory.arrays import Bools, Growing, Ints, Sketches
from memory.entries import split_packed
from memory.models import CorpusVersion, RagEmbedding, RagEntry, RemovedEntry
from memory.node_tree import Tree, TreeNode
from memory.ranking import Floats, bm25, idf

HALFVEC_HEADER_BYTES = 4
DAY_SECONDS = 86_400
POSTING_BYTES = 16  # a term's hash, its piece, its count
NO_VECTOR = -2.0  # below every cosine
WORDS_PER_COSINE = 60.0  # so much BM25 counts as a cosine of 1 in the choice of a piece to show
TAIL_SHARE = 0.1  # unsorted new postings, at most this share before they are sorted in
MOST_READ = 128  # terms whose postings are kept at hand
LEAST_SPARSE, DEAD_SHARE = 1_000, 0.25  # so many entries, and more than this share of them gone: made anew

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """What an answer needs to know of an entry besides its numbers."""

    id: UUID
    recall_file_id: UUID
    node_id: UUID
    entry_kind: str
    position: int
    last_position: int
    role: str
    speaker: str


@dataclass(frozen=True, slots=True)
class _Loaded:
    entry: Entry
    occurred_at: float
    characters: int
    traits: int
    terms: bytes
    vectors: dict[int, bytes]


class Corpus:
    """Entries, pieces and postings of one brain. Use under `lock`."""

    def __init__(self, dimensions: int) -> None:
        self.lock = RLock()
        self.revision = 0
        self.loaded = 0  # entries fetched by the latest `corpus_for`
        self.dimensions = dimensions
        self.tree = Tree([])
        self.entries: list[Entry] = []
        self.row_of: dict[UUID, int] = {}
        self._at: dict[tuple[UUID, int], int] = {}
        self._packed: list[bytes] = []
        self._packed_bytes = 0
        self._kept: dict[str, Any] = {}  # what follows from the entries, until one of them changes
        self._read: dict[int, tuple[Ints, Floats]] = {}  # postings of terms that were asked for, likewise
        self._node = Growing(np.int64)
        self._characters = Growing(np.int64)
        self._before = Growing(np.int64)
        self._after = Growing(np.int64)
        self._occurred = Growing(np.float64)
        self._alive = Growing(np.bool_)
        self._passage = Growing(np.bool_)
        self._file = Growing(np.int64)
        self._speaker = Growing(np.int64)
        self._person = Growing(np.bool_)
        self._traits = Growing(np.int64)
        self._length = Growing(np.float32)
        self._first_piece = Growing(np.int64)
        self._piece_entry = Growing(np.int64)
        self._piece_length = Growing(np.float32)
        self._vectors = Growing(np.float32, self.dimensions)
        self._has_vector = Growing(np.bool_)
        self._sketches = Sketches(self.dimensions)
        self._node_code: dict[UUID, int] = {}
        self._file_code: dict[UUID, int] = {}
        self._speaker_code: dict[str, int] = {}
        self._groups: tuple[Ints, int] | None = None  # made anew when entries come or go
        self._centroids: dict[int, Floats] = {}  # of nodes that have not changed since
        self._sorted = (np.zeros(0, np.uint32), np.zeros(0, np.int64), np.zeros(0, np.float32))
        self._tail_terms = Growing(np.uint32)
        self._tail_pieces = Growing(np.int64)
        self._tail_counts = Growing(np.float32)

    # -- what searches read --------------------------------------------------------------------------------------------

    @property
    def alive(self) -> Bools:
        return self._alive.values

    @property
    def passages(self) -> Bools:
        return self._passage.values

    @property
    def occurred(self) -> npt.NDArray[np.float64]:
        return self._occurred.values

    @property
    def nodes(self) -> Ints:
        """The node of each entry, as a position in `node_ids`."""
        return self._node.values

    @property
    def node_ids(self) -> list[UUID]:
        return list(self._node_code)

    @property
    def persons(self) -> Bools:
        """Entries that a person said, not an assistant or a tool."""
        return self._person.values

    @property
    def traits(self) -> Ints:
        """Bits of memory.traits.Trait, of each entry."""
        return self._traits.values

    @property
    def speakers(self) -> Ints:
        """The speaker of each entry, as a position in `speaker_names`."""
        return self._speaker.values

    @property
    def speaker_names(self) -> list[str]:
        return list(self._speaker_code)

    @property
    def groups(self) -> tuple[Ints, int]:
        """What belongs together, of each entry, and how many groups there are: the messages of one conversation, or
        the loose records (recall files of one message) of one day."""
        if self._groups is None:
            live = self.alive & self.passages
            sizes = np.bincount(self._file.values[live], minlength=len(self._file_code))
            days = np.floor_divide(self.occurred, DAY_SECONDS).astype(np.int64)
            is_loose = sizes[self._file.values] <= 1
            codes = np.where(is_loose, -1 - (days - days.min(initial=0)), self._file.values)
            distinct, inverse = np.unique(codes, return_inverse=True)
            self._groups = inverse.astype(np.int64), len(distinct)
        return self._groups

    @property
    def characters(self) -> Ints:
        return self._characters.values

    @property
    def sketch_bytes(self) -> int:
        return self._sketches.used_bytes

    @property
    def nbytes(self) -> int:
        arrays = (
            self._sketches,
            self._vectors,
            self._piece_entry,
            self._tail_terms,
            self._tail_pieces,
            self._tail_counts,
        )
        postings = sum(part.nbytes for part in self._sorted)
        postings += sum(pieces.nbytes + counts.nbytes for pieces, counts in list(self._read.values()))
        return sum(a.nbytes for a in arrays) + postings + self._packed_bytes + 600 * len(self.entries)

    def word_scores(self, terms: Iterable[int]) -> tuple[Floats, Floats, Floats]:
        """BM25 of every entry, by its whole text, and of every piece; 0 where no term occurs. And how much of the
        question's rarity occurs in each entry, 0..1."""
        alive, piece_entry = self.alive, self._piece_entry.values
        by_entry = np.zeros(len(alive), np.float32)
        by_piece = np.zeros(len(piece_entry), np.float32)
        covered = np.zeros(len(alive), np.float32)
        total = 0.0
        lengths = self._length.values
        piece_lengths = self._piece_length.values
        count, average, piece_alive, piece_count, piece_average = self._once("statistics", self._statistics)
        if not count:
            return by_entry, by_piece, covered
        for term in terms:
            pieces, counts = self._postings(term)
            keep = piece_alive[pieces]
            pieces, counts = pieces[keep], counts[keep]
            if not len(pieces):
                total += _idf(count, 0)
                continue
            of_pieces = piece_entry[pieces]  # ascending, as the pieces of a term are
            starts = np.flatnonzero(np.diff(of_pieces, prepend=-1))
            rows, sums = of_pieces[starts], np.add.reduceat(counts, starts)
            weight = _idf(count, len(rows))
            total += weight
            covered[rows] += weight
            by_entry[rows] += bm25(weight, sums, lengths[rows], average)
            by_piece[pieces] += bm25(_idf(piece_count, len(pieces)), counts, piece_lengths[pieces], piece_average)
        return by_entry, by_piece, covered / max(total, 1e-9)

    def _statistics(self) -> tuple[int, float, Bools, int, float]:
        """Living entries and their mean length; which pieces are theirs, how many, and their mean length."""
        piece_alive = self.alive[self._piece_entry.values]
        lengths, piece_lengths = self._length.values[self.alive], self._piece_length.values[piece_alive]
        if not len(lengths):
            return 0, 0.0, piece_alive, 0, 0.0
        return len(lengths), float(lengths.mean()), piece_alive, len(piece_lengths), float(piece_lengths.mean())

    def cosines(self, query: Floats, rows: Ints | None = None) -> Floats:
        """Cosine of the best piece of every entry, or of `rows`; NaN where no piece has a vector or was read."""
        if rows is None:
            similar = self._vectors.values @ query
        else:
            similar = np.full(self._piece_entry.size, NO_VECTOR, np.float32)
            pieces = self._pieces_of(rows)
            similar[pieces] = self._vectors.values[pieces] @ query
        similar[~self._has_vector.values] = NO_VECTOR
        best = self.of_best_piece(similar)
        best[best < NO_VECTOR / 2] = np.nan
        return best

    def count_without_vector(self) -> int:
        """Passages that have no vector of this model, or not of all their pieces: words alone find them."""
        without = np.zeros(len(self.alive), np.bool_)
        without[self._piece_entry.values[~self._has_vector.values]] = True
        return int((without & self.alive & self.passages).sum())

    def sketch_distances(self, query: Floats) -> Ints:
        """How many bits of each piece's sketch differ from the query's: no vector is read."""
        return self._sketches.distances(query, self._vectors, self._has_vector)

    def nearest_by_sketch(self, distances: Ints, count: int, allowed: Bools) -> Ints:
        """Some `count` entries whose sketches are nearest."""
        piece_entry = self._piece_entry.values
        pieces = np.flatnonzero(self._has_vector.values & allowed[piece_entry])
        if len(pieces) > count:
            pieces = pieces[np.argpartition(distances[pieces], count - 1)[:count]]
        return np.unique(piece_entry[pieces])

    def nearest_of(self, distances: Ints, rows: Ints, count: int) -> Ints:
        """The `count` entries of `rows` whose sketches are nearest, nearest first."""
        pieces = self._pieces_of(rows)
        pieces = pieces[self._has_vector.values[pieces]]
        ordered = self._piece_entry.values[pieces[np.argsort(distances[pieces], kind="stable")]]
        entries, first = np.unique(ordered, return_index=True)
        found: Ints = entries[np.argsort(first)][:count]
        return found

    def best_piece(self, row: int, query: Floats | None, by_piece: Floats) -> tuple[int, Floats | None]:
        """Number of the piece of an entry that fits best, by meaning and words, and its vector where it is known."""
        firsts = self._first_piece.values
        own = slice(firsts[row], firsts[row + 1] if row + 1 < len(firsts) else self._piece_entry.size)
        fit = by_piece[own] / WORDS_PER_COSINE
        known, vectors = self._has_vector.values[own], self._vectors.values[own]
        if query is not None:
            fit = fit + np.where(known, vectors @ query, 0)
        best = int(np.argmax(fit))
        return best, vectors[best] if known[best] else None

    def same_words(self, row: int, other: int) -> bool:
        """Whether two entries have the same words equally often."""
        return self._packed[row] == self._packed[other]

    def posting_bytes(self, terms: Iterable[int]) -> int:
        """Size of the postings that a question's terms scan."""
        with self.lock:  # asked for after the search
            return sum(POSTING_BYTES * len(self._postings(term)[0]) for term in terms)

    def characters_of(self, nodes: Collection[UUID]) -> int:
        """Characters of the nodes' own entries."""
        with self.lock:  # asked for after the search
            by_node = self._once("characters", self._node_characters)
            return sum(int(by_node[self._node_code[each]]) for each in set(nodes) if each in self._node_code)

    def _node_characters(self) -> Ints:
        live = self.alive & self.passages
        sums = np.bincount(self.nodes[live], weights=self.characters[live], minlength=len(self._node_code))
        return sums.astype(np.int64)

    def node_lengths(self) -> tuple[Ints, Floats]:
        """Of each node in `node_ids`, its own entries only: how many are searched, and the words in them."""
        return self._once("node_lengths", self._node_lengths)

    def _node_lengths(self) -> tuple[Ints, Floats]:
        live = self.alive & self.passages
        nodes = self.nodes[live]
        lengths = self._length.values[live].astype(np.float64)
        count = len(self._node_code)
        return (
            np.bincount(nodes, minlength=count).astype(np.int64),
            np.bincount(nodes, weights=lengths, minlength=count).astype(np.float32),
        )

    def node_word_scores(self, terms: Iterable[int]) -> Floats:
        """BM25 of each node's own text, taken as one document."""
        return self._document_scores(terms, self.nodes, len(self._node_code), "nodes")

    def group_word_scores(self, terms: Iterable[int]) -> Floats:
        """BM25 of each group's whole text, taken as one document."""
        return self._document_scores(terms, *self.groups, "groups")

    def _document_scores(self, terms: Iterable[int], document_of: Ints, count: int, name: str) -> Floats:
        """BM25 of documents that are made of entries: `document_of` says for each entry of which. `name`: of this kind
        of documents."""
        live = self.alive & self.passages

        def sums_of_lengths() -> Floats:
            return np.bincount(document_of[live], self._length.values[live], count).astype(np.float32)

        lengths = self._once(f"lengths of {name}", sums_of_lengths)
        scores = np.zeros(count, np.float32)
        filled = lengths > 0
        if not filled.any():
            return scores
        average = float(lengths[filled].mean())
        piece_entry = self._piece_entry.values
        for term in terms:
            pieces, counts = self._postings(term)
            rows = piece_entry[pieces]
            keep = live[rows]
            sums = np.bincount(document_of[rows[keep]], weights=counts[keep], minlength=count).astype(np.float32)
            found = np.flatnonzero(sums)
            if len(found):
                weight = _idf(int(filled.sum()), len(found))
                scores[found] += bm25(weight, sums[found], lengths[found], average)
        return scores

    def node_centroids(self) -> Floats:
        """The mean direction of each node's own vectors, shape (nodes, dimensions); NaN where it has none."""
        return self._once("centroids", self._node_centroids)

    def _node_centroids(self) -> Floats:
        missing = [code for code in range(len(self._node_code)) if code not in self._centroids]
        if missing:
            live_piece = self.alive[self._piece_entry.values]
            pieces = np.flatnonzero(live_piece & self._has_vector.values)
            piece_node = self.nodes[self._piece_entry.values[pieces]]
            order = np.argsort(piece_node, kind="stable")
            firsts = np.searchsorted(piece_node[order], missing, "left")
            ends = np.searchsorted(piece_node[order], missing, "right")
            for code, first, end in zip(missing, firsts, ends, strict=True):
                own = self._vectors.values[pieces[order[first:end]]]
                total = own.sum(axis=0, dtype=np.float32) if len(own) else np.full(self.dimensions, np.nan)
                self._centroids[code] = (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)
        if not self._node_code:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([self._centroids[code] for code in range(len(self._node_code))])

    def _pieces_of(self, rows: Ints) -> Ints:
        """The pieces of some entries, those of one entry side by side."""
        firsts = self._first_piece.values
        starts = firsts[rows]
        ends = np.where(rows + 1 < len(firsts), firsts[np.minimum(rows + 1, len(firsts) - 1)], self._piece_entry.size)
        counts = ends - starts
        before = np.cumsum(counts) - counts
        pieces: Ints = np.repeat(starts - before, counts) + np.arange(counts.sum())
        return pieces

    def of_best_piece(self, by_piece: Floats) -> Floats:
        """Pieces of an entry lie side by side, and every entry has one at least."""
        if not len(by_piece):
            return by_piece
        best: Floats = np.maximum.reduceat(by_piece, self._first_piece.values)
        return best

    def neighbour_rows(self, rows: Ints, step: int) -> Ints:
        """The entry of the message before (-1) or after (+1) in the same recall file; -1 where there is none."""
        return (self._before if step < 0 else self._after).values[rows]

    def _postings(self, term: int) -> tuple[Ints, Floats]:
        """The pieces that a term occurs in, ascending, and how often."""
        if (known := self._read.get(term)) is None:
            if len(self._read) >= MOST_READ:
                self._read.clear()
            known = self._read[term] = self._find_postings(term)
        return known

    def _find_postings(self, term: int) -> tuple[Ints, Floats]:
        terms, pieces, counts = self._sorted
        needle = np.uint32(term)  # of the array's own type, or all of it would be converted first
        low, high = np.searchsorted(terms, needle, "left"), np.searchsorted(terms, needle, "right")
        tail = np.flatnonzero(self._tail_terms.values == term)
        if not len(tail):
            return pieces[low:high], counts[low:high]
        return (
            np.concatenate([pieces[low:high], self._tail_pieces.values[tail]]).astype(np.int64, copy=False),
            np.concatenate([counts[low:high], self._tail_counts.values[tail]]).astype(np.float32, copy=False),
        )

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives; made again only after a change."""
        if name not in self._kept:
            self._kept[name] = make()
        found: T = self._kept[name]
        return found

    # -- keeping up ----------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        self._kept.clear()
        self._read.clear()

    def remove(self, ids: Iterable[UUID]) -> None:
        self._changed()
        for entry_id in ids:
            row = self.row_of.pop(entry_id, None)
            if row is None:
                continue
            entry = self.entries[row]
            self._alive.values[row] = False
            self._groups = None
            self._centroids.pop(int(self._node.values[row]), None)
            if self._at.get((entry.recall_file_id, entry.position)) == row:
                del self._at[entry.recall_file_id, entry.position]
            before, after = int(self._before.values[row]), int(self._after.values[row])
            if before >= 0:
                self._after.values[before] = -1
            if after >= 0:
                self._before.values[after] = -1

    def put(self, loaded: Iterable[_Loaded]) -> None:
        """Add entries, or replace what is known of them."""
        self._changed()
        for new in loaded:
            row = self.row_of.get(new.entry.id)
            if row is not None and self._packed[row] == new.terms:
                self.entries[row] = new.entry
                self._centroids.pop(int(self._node.values[row]), None)
                self._node.values[row] = self._code(new.entry.node_id)
                self._fill_vectors(row, new.vectors)
                continue
            self.remove([new.entry.id])
            self._append(new)
        self._tidy()

    def _append(self, new: _Loaded) -> None:
        row = len(self.entries)
        self.entries.append(new.entry)
        self.row_of[new.entry.id] = row
        self._link(row, new.entry)
        self._packed.append(new.terms)
        self._packed_bytes += len(new.terms)
        self._node.append(self._code(new.entry.node_id))
        self._characters.append(new.characters)
        self._file.append(self._file_code.setdefault(new.entry.recall_file_id, len(self._file_code)))
        self._speaker.append(self._speaker_code.setdefault(new.entry.speaker, len(self._speaker_code)))
        self._person.append(new.entry.role == "user")
        self._traits.append(new.traits)
        self._groups = None
        first = self._piece_entry.size
        pieces = [unpack(packed) for packed in split_packed(new.terms)]
        for number, piece in enumerate(pieces):
            self._tail_terms.extend(piece.hashes)
            self._tail_counts.extend(piece.counts)
            self._tail_pieces.extend(np.full(len(piece.hashes), first + number))
            self._piece_entry.append(row)
            self._piece_length.append(piece.length)
            self._has_vector.append(False)
        self._vectors.extend(np.zeros((len(pieces), self.dimensions), np.float32))
        self._occurred.append(new.occurred_at)
        self._alive.append(True)
        self._passage.append(new.entry.entry_kind == RagEntry.EntryKind.PASSAGE)
        self._length.append(sum(piece.length for piece in pieces))
        self._first_piece.append(first)
        self._fill_vectors(row, new.vectors)

    def _link(self, row: int, entry: Entry) -> None:
        """Tell a passage and those next to it of each other."""
        before = after = -1
        if entry.entry_kind == RagEntry.EntryKind.PASSAGE:
            self._at[entry.recall_file_id, entry.position] = row
            before = self._at.get((entry.recall_file_id, entry.position - 1), -1)
            after = self._at.get((entry.recall_file_id, entry.position + 1), -1)
        self._before.append(before)
        self._after.append(after)
        if before >= 0:
            self._after.values[before] = row
        if after >= 0:
            self._before.values[after] = row

    def _code(self, node_id: UUID) -> int:
        """The node's position; a node whose entries are about to change has no known centroid any more."""
        code = self._node_code.setdefault(node_id, len(self._node_code))
        self._centroids.pop(code, None)
        return code

    def _fill_vectors(self, row: int, vectors: dict[int, bytes]) -> None:
        first = int(self._first_piece.values[row])
        for number, raw in vectors.items():
            self._vectors.values[first + number] = np.frombuffer(raw, dtype=">f2", offset=HALFVEC_HEADER_BYTES)
            self._has_vector.values[first + number] = True
            self._sketches.forget(first + number)

    def _tidy(self) -> None:
        if self._tail_terms.size > max(4_096, TAIL_SHARE * len(self._sorted[0])):
            terms = np.concatenate([self._sorted[0], self._tail_terms.values])
            order = np.argsort(terms, kind="stable")
            pieces = np.concatenate([self._sorted[1], self._tail_pieces.values])
            counts = np.concatenate([self._sorted[2], self._tail_counts.values])
            self._sorted = (terms[order], pieces[order], counts[order])
            self._tail_terms, self._tail_pieces = Growing(np.uint32), Growing(np.int64)
            self._tail_counts = Growing(np.float32)

    @property
    def is_sparse(self) -> bool:
        return len(self.alive) > LEAST_SPARSE and float(self.alive.mean()) < 1 - DEAD_SHARE

    def compacted(self) -> "Corpus":
        """One of the living entries alone. A new one: whoever still reads this one has its row numbers in hand."""
        fresh = Corpus(self.dimensions)
        fresh.revision, fresh.loaded, fresh.tree = self.revision, self.loaded, self.tree
        for row in np.flatnonzero(self.alive):
            fresh._append(
                _Loaded(
                    self.entries[row],
                    float(self.occurred[row]),
                    int(self.characters[row]),
                    int(self.traits[row]),
                    self._packed[row],
                    {},
                )
            )
            first, at = int(self._first_piece.values[row]), int(fresh._first_piece.values[-1])
            count = fresh._piece_entry.size - at
            fresh._vectors.values[at:] = self._vectors.values[first : first + count]
            fresh._has_vector.values[at:] = self._has_vector.values[first : first + count]
            for piece in np.flatnonzero(fresh._has_vector.values[at:]):
                fresh._sketches.forget(at + int(piece))
        fresh._tidy()
        return fresh


def _idf(count: int, frequency: int) -> float:
    return float(idf(count, np.array([frequency]))[0])


# -- the cache of this process -----------------------------------------------------------------------------------------

_corpora: OrderedDict[tuple[UUID, int], Corpus] = OrderedDict()
_corpora_lock = Lock()


def corpus_for(actor: Actor, brain: BrainRef, model_id: int, dimensions: int) -> Corpus:
    """The brain's corpus, as new as this session sees it. Use it under its lock. Needs an open session of `actor`.

    model_id: the embedding model whose vectors are loaded.
    """
    version = CorpusVersion.objects.visible_to(actor).filter(brain_id=brain.id)
    revision, oldest_removal = next(iter(version.values_list("revision", "oldest_removal")), (0, 0))
    with _corpora_lock:
        corpus = _corpora.setdefault((brain.id, model_id), Corpus(dimensions))
        _corpora.move_to_end((brain.id, model_id))
    with corpus.lock:
        corpus.loaded = 0
        if corpus.revision < revision:
            known = corpus
            if corpus.revision < oldest_removal:  # what went meanwhile is no longer listed
                corpus = Corpus(dimensions)
            _catch_up(actor, brain, model_id, corpus)
            corpus.tree = _tree(actor, brain)
            corpus.revision = max(corpus.revision, revision)
            if corpus.is_sparse:
                corpus = corpus.compacted()
            if corpus is not known:
                with _corpora_lock:
                    _corpora[brain.id, model_id] = corpus
    _make_room((brain.id, model_id))
    return corpus


def _catch_up(actor: Actor, brain: BrainRef, model_id: int, corpus: Corpus) -> None:
    if corpus.revision:
        removed = RemovedEntry.objects.visible_to(actor).filter(brain_id=brain.id, revision__gt=corpus.revision)
        corpus.remove(removed.values_list("entry_id", flat=True))
    changed = RagEntry.objects.visible_to(actor).filter(brain_id=brain.id, revision__gt=corpus.revision)
    vectors = RagEmbedding.objects.visible_to(actor).filter(brain_id=brain.id, embedding_model_id=model_id)
    if corpus.revision:
        vectors = vectors.filter(entry_id__in=changed.values("id"))
    raw: dict[UUID, dict[int, bytes]] = {}
    sent = vectors.annotate(raw=Func("embedding", function="halfvec_send", output_field=BinaryField()))
    for entry_id, piece, value in sent.values_list("entry_id", "piece", "raw").iterator(chunk_size=2_000):
        raw.setdefault(entry_id, {})[piece] = bytes(value)
    rows = changed.filter(duplicate_of=None).order_by("revision", "id").values_list(
        "id", "recall_file_id", "node_id", "entry_kind", "first_message", "last_message", "role", "speaker",
        "occurred_at", "characters", "traits", "terms",
    )  # fmt: skip
    found = list(rows.iterator(chunk_size=2_000))
    corpus.loaded = len(found)
    corpus.put(
        _Loaded(Entry(*row[:8]), row[8].timestamp(), row[9], row[10], bytes(row[11]), raw.get(row[0], {}))
        for row in found
    )


def _tree(actor: Actor, brain: BrainRef) -> Tree:
    rows = Node.objects.visible_to(actor).filter(brain_id=brain.id, archived_at=None)
    named = rows.values_list("id", "name", "type", "parent_id", "memory_count", "aliases")
    return Tree(
        TreeNode(node_id, name, kind, parent, count, _name_terms(" ".join([name, *aliases])))
        for node_id, name, kind, parent, count, aliases in named
    )


@lru_cache(maxsize=16_384)
def _name_terms(names: str) -> frozenset[int]:
    """Remembered, since each change of a brain reads its tree again."""
    return frozenset(query_terms(names))


def forget_all() -> None:
    """Drop every cached corpus, as a new process would start."""
    with _corpora_lock:
        _corpora.clear()


def _make_room(in_use: tuple[UUID, int]) -> None:
    """Forget the brains searched longest ago while all together take more than their share of memory."""
    with _corpora_lock:
        while len(_corpora) > 1 and sum(c.nbytes for c in _corpora.values()) > settings.CORPUS_CACHE_BYTES:
            oldest = next(iter(_corpora))
            if oldest == in_use:
                break
            del _corpora[oldest]
