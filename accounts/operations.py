"""The append-only record of every change."""

from typing import Any
from uuid import UUID

from accounts.actor import Actor, BrainRef
from accounts.models import Operation, OperationPayload


def record(
    actor: Actor,
    brain: BrainRef,
    verb: str,
    *,
    target_kind: str,
    targets: list[UUID],
    data: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """One Operation a target, inside the transaction that makes the change. `data`: ids and names, no content."""
    operations = [
        Operation(
            brain_id=brain.id,
            scope=brain.scope,
            door=actor.door,
            user_id=actor.user_id,
            agent_id=actor.agent_id,
            key_id=actor.key_id,
            source=actor.source,
            verb=verb,
            target_kind=target_kind,
            target_id=target,
            reason=reason,
        )
        for target in targets
    ]
    Operation.objects.writable_by(actor).bulk_create(operations)
    if data:
        OperationPayload.objects.writable_by(actor).bulk_create(
            OperationPayload(brain_id=brain.id, scope=brain.scope, operation_id=operation.id, data=data)
            for operation in operations
        )
