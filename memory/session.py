"""What was discussed lately: the nodes of a session's answers, and the choices it was last offered.

Kept in the cache for half an hour, private to whoever asks through that key and door. Without a name of its own, a
session is the key's last half hour. When the cache is away, every question stands alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.actor import Actor

KEPT_SECONDS = 1_800
FADING = 0.5  # what an earlier answer still weighs beside the next one
FORGOTTEN = 0.1
NODES = 50

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Session:
    """`nodes`: node → weight, 1 for the last answer's. `offered`: the nodes that the last answer asked about."""

    nodes: Mapping[UUID, float] = field(default_factory=dict)
    offered: frozenset[UUID] = frozenset()


def _name(actor: Actor, session: str | None) -> str:
    who = f"{actor.organization_id}:{actor.principal_id}:{actor.key_id}:{actor.door}"
    return f"session:{who}:{sha256((session or '').encode()).hexdigest()}"


def get_session(actor: Actor, session: str | None) -> Session:
    try:
        kept = cache.get(_name(actor, session))
    except RedisError as error:
        log.warning("cache unavailable", error=type(error).__name__)
        kept = None
    return kept if isinstance(kept, Session) else Session()


def keep_session(
    actor: Actor, session: str | None, before: Session, nodes: Iterable[UUID], offered: Iterable[UUID]
) -> None:
    """Add the nodes of an answer; earlier ones fade."""
    weights = {node: weight * FADING for node, weight in before.nodes.items() if weight * FADING >= FORGOTTEN}
    weights |= dict.fromkeys(nodes, 1.0)
    strongest = dict(sorted(weights.items(), key=lambda pair: -pair[1])[:NODES])
    try:
        cache.set(_name(actor, session), Session(strongest, frozenset(offered)), KEPT_SECONDS)
    except RedisError as error:
        log.warning("session not kept", error=type(error).__name__)
