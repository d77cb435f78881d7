"""One row of every tenant table in a brain, written by the owner's login: something to see, and something to leak."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connections
from django.utils import timezone

from accounts.actor import Scope
from accounts.ids import uuid7
from accounts.models import Brain, Operation, OperationPayload
from accounts.tenant import TenantModel
from graph.models import Node, NodeIndex, NodeMemory, NodeRelationship
from memory.models import (
    CorpusVersion,
    EmbeddingModel,
    IdempotencyKey,
    Job,
    Message,
    RagEmbedding,
    RagEntry,
    RecallFile,
    RemovedEntry,
    Revision,
)

CANARY = "zorkmid"


def tenant_models() -> list[type[TenantModel]]:
    return [model for model in apps.get_models() if issubclass(model, TenantModel)]


def fill(brain: Brain) -> None:
    """A row in each tenant table (two nodes, for an edge between them), with the canary where words have room."""
    ids: dict[str, UUID] = {name: uuid7() for name in ("node", "other", "file", "message", "operation")}
    model, _ = EmbeddingModel.objects.get_or_create(name="test", defaults={"dimensions": 3})

    def save(row: TenantModel) -> None:
        row.brain_id, row.scope = brain.id, Scope(brain.scope)
        row.save(using="migrator", force_insert=True)

    now = timezone.now()
    save(Operation(id=ids["operation"], door="person", verb="capture", target_kind="x", target_id=ids["file"]))
    save(OperationPayload(operation_id=ids["operation"], data={"word": CANARY}))
    save(Node(id=ids["node"], name=CANARY, type="category", category=CANARY))
    save(Node(id=ids["other"], name="other", type="category", category="other"))
    save(
        NodeRelationship(
            source_node_id=ids["node"],
            target_node_id=ids["other"],
            relationship="informs",
            weight=1,
            evidence={"word": CANARY},
        )
    )
    save(NodeIndex(node_id=ids["node"], index_data={"word": CANARY}, revision=1, last_updated=now))
    save(NodeMemory(node_id=ids["node"], recall_file_id=ids["file"], entry_count=1))
    save(
        RecallFile(
            id=ids["file"], recall_id=CANARY, node_id=ids["node"], kind="thought", message_count=1, occurred_at=now
        )
    )
    save(Message(id=ids["message"], recall_file_id=ids["file"], position=0, role="user", content=CANARY))
    save(Revision(recall_file_id=ids["file"], revision=1, content=CANARY))
    save(
        RagEntry(
            id=ids["message"],
            node_id=ids["node"],
            recall_file_id=ids["file"],
            first_message=0,
            last_message=0,
            role="user",
            characters=7,
            terms=b"",
            revision=1,
            occurred_at=now,
        )
    )
    save(
        RagEmbedding(
            entry_id=ids["message"], piece=0, node_id=ids["node"], embedding_model=model, embedding=[1.0, 0.0, 0.0]
        )
    )
    save(CorpusVersion(id=brain.id, revision=1))
    save(RemovedEntry(entry_id=ids["message"], revision=1))
    save(Job(kind="embed", subject_id=ids["file"], run_after=now + timedelta(days=1)))
    save(IdempotencyKey(principal_id=ids["file"], key="k", body_hash=b"x", result={}))


def stored(table: str, brain: Brain) -> dict[str, Any]:
    """The first row of `fill`, column by column, as the owner sees it."""
    with connections["migrator"].cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} WHERE brain_id = %s ORDER BY id LIMIT 1", [brain.id])
        (row,) = cursor.fetchall()
        return dict(zip([column.name for column in cursor.description or ()], row, strict=True))
