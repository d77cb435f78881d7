"""How often routing misses: some searches are answered a second time from everything, and the difference is counted.

Counted by node, in the cache, for thirty days: how many of the ten best answers of the exhaustive search lie in it, and
how many of them the routed search had not even looked at. Only numbers are kept, no question and no answer.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.actor import BrainRef
from memory.candidates import Candidates, Ranked

KEPT_SECONDS = 30 * 86_400
BEST = 10

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Misses:
    """Of a node: among the best answers of the exhaustive searches, and how many of those routing had not read."""

    wanted: int
    missed: int


def is_sampled() -> bool:
    return random.random() < settings.SHADOW_SHARE  # noqa: S311  (no secret)


def count_misses(routed: Sequence[Candidates], best: Sequence[Ranked]) -> None:
    """Compare the best answers of an exhaustive search with what the routed search looked at."""
    for index, candidates in enumerate(routed):
        seen = set(candidates.rows.tolist())
        found: dict[UUID, Misses] = {}
        for r in best:
            if r.brain == index:
                node_id = r.corpus.entries[r.row].node_id
                before = found.get(node_id, Misses(0, 0))
                found[node_id] = Misses(before.wanted + 1, before.missed + (r.row not in seen))
        _add(candidates.brain, found)


def misses_of(brain: BrainRef) -> dict[UUID, Misses]:
    """Node -> what the samples of the last thirty days found. The caller may read the brain."""
    try:
        kept = cache.get(_name(brain))
    except RedisError as error:
        log.warning("cache unavailable", error=type(error).__name__)
        kept = None
    return kept if isinstance(kept, dict) else {}


def _add(brain: BrainRef, found: dict[UUID, Misses]) -> None:
    """Two samples at the same moment may count as one: the rates are estimates."""
    known = misses_of(brain)
    for node_id, new in found.items():
        old = known.get(node_id, Misses(0, 0))
        known[node_id] = Misses(old.wanted + new.wanted, old.missed + new.missed)
    try:
        cache.set(_name(brain), known, KEPT_SECONDS)
    except RedisError as error:
        log.warning("misses not counted", error=type(error).__name__)


def _name(brain: BrainRef) -> str:
    return f"shadow:{brain.id}"
