"""Rows of the memory layer, by noun."""

from memory.models.entries import CorpusVersion, EmbeddingModel, RagEmbedding, RagEntry, RemovedEntry
from memory.models.jobs import IdempotencyKey, Job, jobs_of_all_brains
from memory.models.recall_files import FiledBy, Message, RecallFile, Revision

__all__ = [
    "CorpusVersion",
    "EmbeddingModel",
    "FiledBy",
    "IdempotencyKey",
    "Job",
    "Message",
    "RagEmbedding",
    "RagEntry",
    "RecallFile",
    "RemovedEntry",
    "Revision",
    "jobs_of_all_brains",
]
