"""Traces of recent searches: ids, scores and times, no text. Kept an hour in the cache, for the asker alone."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

import structlog
from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.actor import Actor
from accounts.errors import NotFound
from memory.types import Trace

KEPT_SECONDS = 3_600

log = structlog.get_logger(__name__)


def _name(actor: Actor, trace_id: UUID) -> str:
    return f"trace:{actor.organization_id}:{actor.principal_id or actor.key_id}:{trace_id}"


def keep_trace(actor: Actor, trace_id: UUID, trace: Trace) -> None:
    """A search never fails because its trace cannot be kept."""
    try:
        cache.set(_name(actor, trace_id), trace, KEPT_SECONDS)
    except RedisError as error:
        log.warning("trace not kept", error=type(error).__name__)


def get_trace(actor: Actor, trace_id: UUID) -> dict[str, Any]:
    """Raises NotFound, also for another asker's trace and when the hour is over."""
    try:
        trace = cache.get(_name(actor, trace_id))
    except RedisError as error:
        log.warning("cache unavailable", error=type(error).__name__)
        trace = None
    if not isinstance(trace, Trace):
        raise NotFound
    return asdict(trace)
