"""Vectors: which model makes them here, the job that makes them, and what a cosine of that model means.

The embedder works outside of any transaction; its vectors are then written in a short one, batch by batch, so that a
job that is killed goes on where it was.
"""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from pgvector import HalfVector

from graph.models import inbox_id
from graph.words import language_of
from memory.calibration import calibrate
from memory.corpus_version import lock_brain
from memory.jobs import Claim, ask_to_file, keep
from memory.models import EmbeddingModel, Message, RagEmbedding, RagEntry, RecallFile
from memory.pieces import embedded_texts
from memory.providers import Embedder, EmbedderUnavailable, InvalidVectors, TooSlow, Vectors
from memory.providers.local import MODEL_NAME, LocalEmbedder
from memory.providers.onnx import OnnxEmbedder

BATCH_PIECES = 64  # at most: some seconds of work, well within a lease
QUICK_SECONDS = 6.0  # twice as many pieces are then done in time, too
STANDARD = (0.05, 0.75)  # the scale of the cosines that are constants of filing and ranking: the bundled model's

Cosine = TypeVar("Cosine", float, Vectors)


@dataclass(frozen=True, slots=True)
class Model:
    """The embedding model of this installation. Cosines `low` and `high` count as similarity 0 and 1."""

    id: int
    name: str
    dimensions: int
    low: float
    high: float

    def similarity(self, cosine: float) -> float:
        return min(1.0, max(0.0, (cosine - self.low) / (self.high - self.low)))

    @property
    def spread(self) -> float:
        """How far apart this model's cosines lie, 1 for the bundled one."""
        return (self.high - self.low) / (STANDARD[1] - STANDARD[0])

    def standard(self, cosine: Cosine) -> Cosine:
        """The cosine that the bundled model would have for what this model gave `cosine`."""
        return STANDARD[0] + (cosine - self.low) / self.spread


# Raw cosines of unrelated and of well matching pairs, of models that were measured; docs/decisions/0006-calibration.md.
CALIBRATION = {MODEL_NAME: STANDARD}
UNCALIBRATED = (0.0, 1.0)
NO_MODEL = Model(0, "", 1, *UNCALIBRATED)
"""Stands for a model that cannot even say its name now. It has no vectors."""


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """This process' embedder, as the settings say; it loads nothing before its first text."""
    prefixes = {"query_prefix": settings.EMBED_QUERY_PREFIX, "passage_prefix": settings.EMBED_PASSAGE_PREFIX}
    if settings.EMBED_URL:
        # Imported here: the client takes 40 MB, and most installations have no use for it.
        from memory.providers.remote import RemoteEmbedder

        return RemoteEmbedder(
            settings.EMBED_URL,
            settings.EMBED_MODEL or "",
            key=settings.EMBED_KEY,
            dimensions=settings.EMBED_DIMENSIONS,
            stored_dimensions=_stored_dimensions,
            **prefixes,
        )
    if settings.EMBED_DIR:
        return OnnxEmbedder(
            settings.EMBED_DIR, threads=settings.EMBED_THREADS, pooling=settings.EMBED_POOLING, **prefixes
        )
    return LocalEmbedder(settings.MODEL_DIR, threads=settings.EMBED_THREADS)


def _stored_dimensions(name: str) -> int | None:
    return EmbeddingModel.objects.filter(name=name).values_list("dimensions", flat=True).first()


def unread_language(query: str) -> list[str]:
    """What to say when the bundled model does not read the language of a question; the words serve it all the same."""
    language = language_of(query) if isinstance(embedder(), LocalEmbedder) else None
    if language is None or language == "english":
        return []
    return [f"vectors: the embedding model reads English, the question looks {language.capitalize()}"]


_models: dict[str, Model] = {}


def current_model() -> Model:
    """The row of this installation's model, made on first use; NO_MODEL while it cannot be known. Outside of any
    session."""
    try:
        return _model()
    except EmbedderUnavailable:
        return NO_MODEL


def _model() -> Model:
    name = embedder().name
    if name in _models:
        return _models[name]
    row = EmbeddingModel.objects.filter(name=name).first()
    if row is None:
        known = CALIBRATION.get(name)
        calibration = {"low": known[0], "high": known[1]} if known else {}
        row, _ = EmbeddingModel.objects.get_or_create(
            name=name, defaults={"dimensions": embedder().dimensions, "calibration": calibration}
        )
    if not row.calibration:
        return Model(row.id, row.name, row.dimensions, *UNCALIBRATED)
    _models[name] = Model(row.id, row.name, row.dimensions, row.calibration["low"], row.calibration["high"])
    return _models[name]


def calibrated_model() -> Model:
    """The model, measured once before its first vectors are kept. Raises EmbedderUnavailable."""
    model = _model()
    if model.name not in _models:
        low, high = calibrate(embedder())
        rows = EmbeddingModel.objects.filter(id=model.id, calibration={})  # the first measurement stays
        rows.update(calibration={"low": low, "high": high})
    return _model()


def forget_model() -> None:
    """Look the model's row up again, as a new process would."""
    _models.clear()
    _at_once.clear()


@dataclass(frozen=True, slots=True)
class _Piece:
    entry_id: UUID
    node_id: UUID
    number: int
    text: str


def embed_recall_file(job: Claim) -> None:
    """Give every piece of a recall file its vector. Running twice changes nothing; a file that is gone is no error.

    Raises EmbedderUnavailable.
    """
    model = calibrated_model()
    entry_ids, missing = _missing_pieces(job, model)
    done, total = 0, len(missing)
    while True:
        batch = missing[done : done + _at_once.get(model.name, BATCH_PIECES)]
        vectors = _embed(batch, model)
        done += len(batch)
        _write(job, model, batch, vectors, done=entry_ids if done == total else None)
        if done == total or not keep(job, {"done": done, "total": total}):
            return  # or another worker has it now


_at_once: dict[str, int] = {}  # pieces, of models that were too slow for all of a batch


def _embed(batch: list[_Piece], model: Model) -> Vectors:
    """Half as many next time when this takes too long: a slow endpoint would never be done. More when it is quick."""
    start = time.monotonic()
    try:
        vectors = embedder().embed([piece.text for piece in batch])
    except TooSlow:
        _at_once[model.name] = max(1, len(batch) // 2)
        raise
    if model.name in _at_once and time.monotonic() - start < QUICK_SECONDS:
        _at_once[model.name] = min(BATCH_PIECES, max(_at_once[model.name], 2 * len(batch)))
    if batch and vectors.shape[1] != model.dimensions:
        raise InvalidVectors(f"expected vectors of {model.dimensions} numbers, got {vectors.shape[1]}")
    return vectors


def _missing_pieces(job: Claim, model: Model) -> tuple[set[UUID], list[_Piece]]:
    """The ids of the recall file's entries, and their pieces that have no vector of this model."""
    brain, recall_file_id = job.brain, job.subject_id
    with job.actor.session() as actor:
        entries = RagEntry.objects.visible_to(actor).filter(brain_id=brain.id, recall_file_id=recall_file_id)
        rows = list(entries.order_by("first_message").values_list("id", "node_id", "first_message"))
        vectors = RagEmbedding.objects.visible_to(actor).filter(brain_id=brain.id, embedding_model_id=model.id)
        done = set(vectors.filter(entry_id__in=[row[0] for row in rows]).values_list("entry_id", "piece"))
        texts = Message.objects.visible_to(actor).filter(brain_id=brain.id, recall_file_id=recall_file_id)
        messages = {m.position: m for m in texts.only("position", "speaker", "content")}
    found: list[_Piece] = []
    for entry_id, node_id, position in rows:
        message, before = messages[position], messages.get(position - 1)
        pieces = embedded_texts(
            message.content,
            speaker=message.speaker,
            previous=before.content if before else "",
            previous_speaker=before.speaker if before else "",
        )
        found += [
            _Piece(entry_id, node_id, number, text)
            for number, text in enumerate(pieces)
            if (entry_id, number) not in done
        ]
    return {row[0] for row in rows}, found


def _write(job: Claim, model: Model, batch: list[_Piece], vectors: Vectors, *, done: set[UUID] | None) -> None:
    """Store a batch. After the last one, `done` holds the ids of all entries that now have their vectors."""
    brain = job.brain
    with job.actor.session() as actor:
        revision = lock_brain(actor, brain)
        entries = RagEntry.objects.writable_by(actor).filter(brain_id=brain.id, recall_file_id=job.subject_id)
        nodes = dict(entries.values_list("id", "node_id"))  # some may be gone or moved since
        rows = [
            RagEmbedding(
                brain_id=brain.id,
                scope=brain.scope,
                entry_id=piece.entry_id,
                piece=piece.number,
                node_id=nodes[piece.entry_id],
                embedding_model_id=model.id,
                embedding=HalfVector(vector),
            )
            for piece, vector in zip(batch, vectors, strict=True)
            if piece.entry_id in nodes
        ]
        RagEmbedding.objects.writable_by(actor).bulk_create(rows, ignore_conflicts=True)
        entries.filter(id__in={row.entry_id for row in rows}).update(revision=revision)
        if done is None:
            return
        files = RecallFile.objects.writable_by(actor).filter(brain_id=brain.id)
        if nodes.keys() == done:  # messages that came meanwhile have a job of their own
            files.filter(id=job.subject_id).update(embedding_state=RecallFile.EmbeddingState.EMBEDDED)
        if inbox_id(brain.id) in nodes.values():
            ask_to_file(actor, brain)
