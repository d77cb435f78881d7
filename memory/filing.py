"""Filing: where the runs of the Inbox belong. A job of the worker, once their vectors are there.

A run is up to eight consecutive messages of one recall file; all its entries go to one node. Sure matches join a node;
many unfiled runs at once become topics of their own, grouped into concepts and named from their key phrases; what is
unsure waits in the Inbox with a suggestion. A node that a person chose is never changed here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Aggregate, BinaryField, Count, Func
from pgvector.django import HalfVectorField

from accounts.actor import Actor, BrainRef
from accounts.operations import record
from graph.cluster import RUN_MESSAGES, concepts, topics
from graph.models import inbox_id
from graph.naming import names
from graph.tree import find_or_make_node
from memory.corpus_version import lock_brain
from memory.embedding import Model, current_model
from memory.entries import move_entries
from memory.indexes import refresh_indexes
from memory.jobs import Claim
from memory.models import FiledBy, RagEmbedding, RagEntry, RecallFile
from memory.ranking import Floats

BULK_ENTRIES = 60  # so many unfiled entries make topics of their own
# Cosines of the bundled model; those of others are brought to its scale.
SURE_COSINE, SURE_MARGIN = 0.60, 0.04
SURE_ALONE = 0.80  # where one node alone is known, so that there is no next one
SUGGESTED_COSINE = 0.45
CENTRED_NODES, CENTRED_ENTRIES = 3, 200  # from here on what all nodes have in common is taken off
SURE_CENTRED, SURE_CENTRED_MARGIN, SUGGESTED_CENTRED = 0.50, 0.02, 0.35
FULL_ENTRIES = 200  # a node that would have to be split takes no more
CATEGORY = "Conversations"  # what a bulk import is filed under
DISTINCT_ENTRIES = 8  # a conversation this long, about nothing that has a node, gets one of its own
HALFVEC_HEADER_BYTES = 4


class MeanVector(Aggregate):
    function = "AVG"
    output_field = HalfVectorField()


@dataclass(frozen=True, slots=True)
class UnfiledRun:
    recall_file_id: UUID
    entry_ids: tuple[UUID, ...]
    vector: Floats
    phrases: Counter[str]
    speakers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Suggestion:
    node_id: UUID
    confidence: float


def file_brain(job: Claim) -> None:
    """File what waits in a brain's Inbox. Running twice changes nothing."""
    model = current_model()
    runs = _unfiled_runs(job.actor, job.brain, model)
    if not runs:
        return
    known = _known(job.actor, job.brain, model)
    joins, unsure = _match(runs, known)
    places, unsure = _distinct(unsure, known)
    if sum(len(run.entry_ids) for run in unsure) >= BULK_ENTRIES:
        places |= _new_places(unsure)
        unsure = []
    suggestions = _suggestions(unsure, known)
    with job.actor.session() as actor:
        revision = lock_brain(actor, job.brain)
        assigned = {node_id: [e for run in mine for e in run.entry_ids] for node_id, mine in joins.items()}
        for path, mine in places.items():
            node_id = find_or_make_node(actor, job.brain, path)
            assigned.setdefault(node_id, []).extend(e for run in mine for e in run.entry_ids)
        waiting = _waiting(actor, job.brain)  # a person may have chosen meanwhile
        for node_id, entry_ids in assigned.items():
            still = [entry_id for entry_id in entry_ids if entry_id in waiting]
            move_entries(actor, job.brain, still, node_id, revision, filed_by=FiledBy.RULE)
        touched = {run.recall_file_id for mine in (*joins.values(), *places.values()) for run in mine}
        _move_homes(actor, job.brain, touched)
        files = RecallFile.objects.writable_by(actor).filter(brain_id=job.brain.id)
        for recall_file_id, suggestion in suggestions.items():
            told = {"node_id": str(suggestion.node_id), "confidence": round(suggestion.confidence, 4)}
            files.filter(id=recall_file_id).update(filing_suggestion=told)
        if assigned:
            record(
                actor,
                job.brain,
                "file",
                target_kind="node",
                targets=list(assigned),
                data={"by": "rule", "entries": sum(map(len, assigned.values()))},
            )
    _refresh(job, list(assigned))


def _refresh(job: Claim, node_ids: Sequence[UUID]) -> None:
    """So that the first who reads these nodes' index files need not compute them."""
    with job.actor.session() as actor:
        refresh_indexes(actor, job.brain, node_ids)


def _waiting(actor: Actor, brain: BrainRef) -> set[UUID]:
    entries = RagEntry.objects.visible_to(actor).filter(brain_id=brain.id, node_id=inbox_id(brain.id))
    return set(entries.exclude(filed_by=FiledBy.PERSON).values_list("id", flat=True))


def _unfiled_runs(actor: Actor, brain: BrainRef, model: Model) -> list[UnfiledRun]:
    """Runs of the Inbox whose entries have vectors and no person's choice, in the order of their recall files."""
    inbox = inbox_id(brain.id)
    with actor.session():
        entries = RagEntry.objects.visible_to(actor).filter(brain_id=brain.id, node_id=inbox)
        entries = entries.filter(entry_kind=RagEntry.EntryKind.PASSAGE).exclude(filed_by=FiledBy.PERSON)
        rows = list(
            entries.order_by("recall_file_id", "first_message").values_list(
                "id", "recall_file_id", "first_message", "keywords", "entities", "speaker"
            )
        )
        vectors = RagEmbedding.objects.visible_to(actor).filter(
            brain_id=brain.id, node_id=inbox, embedding_model_id=model.id
        )
        raw = vectors.annotate(raw=Func("embedding", function="halfvec_send", output_field=BinaryField()))
        sums: dict[UUID, Floats] = {}
        for entry_id, value in raw.values_list("entry_id", "raw").iterator(chunk_size=2_000):
            vector = np.frombuffer(bytes(value), dtype=">f2", offset=HALFVEC_HEADER_BYTES).astype(np.float32)
            sums[entry_id] = sums[entry_id] + vector if entry_id in sums else vector
    groups: dict[tuple[UUID, int], list[tuple[UUID, list[str], str]]] = {}
    for entry_id, recall_file_id, position, keywords, entities, speaker in rows:
        if entry_id in sums:
            group = groups.setdefault((recall_file_id, position // RUN_MESSAGES), [])
            group.append((entry_id, [*keywords, *entities], speaker))
    return [
        UnfiledRun(
            recall_file_id=recall_file_id,
            entry_ids=tuple(entry_id for entry_id, _, _ in group),
            vector=_unit(np.sum([_unit(sums[entry_id]) for entry_id, _, _ in group], axis=0)),
            phrases=Counter(phrase for _, phrases, _ in group for phrase in set(phrases)),
            speakers=frozenset(speaker for _, _, speaker in group if speaker),
        )
        for (recall_file_id, _), group in groups.items()
    ]


def _unit(vector: Floats) -> Floats:
    unit: Floats = (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
    return unit


@dataclass(frozen=True, slots=True)
class Known:
    """What runs are compared with: the mean direction of each node's own vectors, the Inbox left out.

    centre: what all have in common, taken off both sides in a brain of some size; without that, everything that two
    friends ever said looks alike. full: nodes that would have to be split, which take no more.
    """

    model: Model
    nodes: Mapping[UUID, Floats]
    full: frozenset[UUID] = frozenset()
    centre: Floats | None = None

    def cosines(self, run: UnfiledRun) -> Floats:
        """The run's cosine to each of `nodes`, in their order."""
        vector = run.vector if self.centre is None else _unit(run.vector - self.centre)
        found: Floats = np.stack(list(self.nodes.values())) @ vector
        return self.model.standard(found) if self.centre is None else found

    @property
    def sure(self) -> tuple[float, float]:
        """The least cosine, and margin to the next node, of a sure match."""
        if self.centre is not None:
            return SURE_CENTRED, SURE_CENTRED_MARGIN
        return (SURE_COSINE, SURE_MARGIN) if len(self.nodes) > 1 else (SURE_ALONE, 0.0)

    @property
    def suggested(self) -> float:
        return SUGGESTED_COSINE if self.centre is None else SUGGESTED_CENTRED


def _known(actor: Actor, brain: BrainRef, model: Model) -> Known:
    with actor.session():
        vectors = RagEmbedding.objects.visible_to(actor).filter(
            brain_id=brain.id, embedding_model_id=model.id, node__archived_at=None
        )
        rows = list(
            vectors.exclude(node_id=inbox_id(brain.id))
            .order_by()
            .values("node_id")
            .annotate(mean=MeanVector("embedding"), entries=Count("entry_id", distinct=True))
            .values_list("node_id", "mean", "entries")
        )
    nodes = {node_id: _unit(np.asarray(mean, np.float32)) for node_id, mean, _ in rows}
    counts = {node_id: int(entries) for node_id, _, entries in rows}
    full = frozenset(node_id for node_id, entries in counts.items() if entries >= FULL_ENTRIES)
    if len(nodes) < CENTRED_NODES or sum(counts.values()) < CENTRED_ENTRIES:
        return Known(model, nodes, full)
    centre = np.average(np.stack(list(nodes.values())), axis=0, weights=list(counts.values())).astype(np.float32)
    return Known(model, {node_id: _unit(mean - centre) for node_id, mean in nodes.items()}, full, centre)


def _match(runs: Sequence[UnfiledRun], known: Known) -> tuple[dict[UUID, list[UnfiledRun]], list[UnfiledRun]]:
    """Runs that surely belong to a node, and the rest."""
    joins: dict[UUID, list[UnfiledRun]] = {}
    unsure: list[UnfiledRun] = []
    if not known.nodes:
        return joins, list(runs)
    ids, (least, margin) = list(known.nodes), known.sure
    for run in runs:
        cosines = known.cosines(run)
        order = np.argsort(-cosines)
        best, second = cosines[order[0]], cosines[order[1]] if len(order) > 1 else -1.0
        node_id = ids[int(order[0])]
        if best >= least and best - second >= margin and node_id not in known.full:
            joins.setdefault(node_id, []).append(run)
        else:
            unsure.append(run)
    return joins, unsure


def _distinct(runs: Sequence[UnfiledRun], known: Known) -> tuple[dict[str, list[UnfiledRun]], list[UnfiledRun]]:
    """Path → the runs of a long conversation that is about nothing the tree has a node for; and the rest.

    Only where there is a tree to be distinct from, and not for many at once: those are clustered.
    """
    by_file: dict[UUID, list[UnfiledRun]] = {}
    for run in runs:
        by_file.setdefault(run.recall_file_id, []).append(run)
    is_bulk = sum(len(run.entry_ids) for run in runs) >= BULK_ENTRIES and len(by_file) > 1
    if not known.nodes or is_bulk:
        return {}, list(runs)
    places: dict[str, list[UnfiledRun]] = {}
    for mine in by_file.values():
        entries = sum(len(run.entry_ids) for run in mine)
        if entries >= DISTINCT_ENTRIES and all(float(known.cosines(run).max()) < known.suggested for run in mine):
            speakers = frozenset[str]().union(*(run.speakers for run in mine))
            (name,) = names([sum((run.phrases for run in mine), Counter[str]())], speakers=speakers)
            places.setdefault(f"{CATEGORY}/{name}", []).extend(mine)
    placed = {id(run) for mine in places.values() for run in mine}
    return places, [run for run in runs if id(run) not in placed]


def _suggestions(runs: Sequence[UnfiledRun], known: Known) -> dict[UUID, Suggestion]:
    """For each recall file that waits, the node that fits best, when one fits at all."""
    found: dict[UUID, Suggestion] = {}
    for run in runs if known.nodes else ():
        for node_id, cosine in zip(known.nodes, known.cosines(run).tolist(), strict=True):
            better = run.recall_file_id not in found or cosine > found[run.recall_file_id].confidence
            if cosine >= known.suggested and better:
                found[run.recall_file_id] = Suggestion(node_id, cosine)
    return found


def _new_places(runs: Sequence[UnfiledRun]) -> dict[str, list[UnfiledRun]]:
    """Path → the runs of a new topic: clustered, grouped into concepts, named by what sets each apart."""
    sizes = np.array([len(run.entry_ids) for run in runs])
    labels = topics(np.stack([run.vector for run in runs]), sizes)
    members = [[run for run, label in zip(runs, labels, strict=True) if label == t] for t in range(labels.max() + 1)]
    phrases = [sum((run.phrases for run in mine), Counter[str]()) for mine in members]
    centres = np.stack([_unit(np.sum([run.vector * len(run.entry_ids) for run in mine], axis=0)) for mine in members])
    weights = np.array([sum(len(run.entry_ids) for run in mine) for mine in members])
    concept_of = concepts(centres, weights)
    background = sum(phrases, Counter[str]())
    speakers = frozenset().union(*(run.speakers for run in runs))
    topic_names = names(phrases, background=background, speakers=speakers)
    concept_phrases = [
        sum((phrases[t] for t in np.flatnonzero(concept_of == c)), Counter[str]()) for c in range(concept_of.max() + 1)
    ]
    concept_names = names(concept_phrases, taken=topic_names, background=background, speakers=speakers)
    return {f"{CATEGORY}/{concept_names[concept_of[t]]}/{topic_names[t]}": mine for t, mine in enumerate(members)}


def _move_homes(actor: Actor, brain: BrainRef, recall_files: set[UUID]) -> None:
    """A recall file's home is the node that holds most of its entries."""
    entries = RagEntry.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id__in=recall_files)
    counts: dict[UUID, Counter[UUID]] = {}
    for recall_file_id, node_id in entries.values_list("recall_file_id", "node_id"):
        counts.setdefault(recall_file_id, Counter())[node_id] += 1
    homes: dict[UUID, list[UUID]] = {}
    for recall_file_id, nodes in counts.items():
        homes.setdefault(max(nodes, key=lambda n: (nodes[n], n.int)), []).append(recall_file_id)
    files = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id)
    for node_id, ids in homes.items():
        files.filter(id__in=ids).update(node_id=node_id, filed_by=FiledBy.RULE, filing_suggestion=None)
