"""How a search came to its answer, arranged for reading: the way down the tree, what was read, what that cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.actor import Actor
from graph.models import Node
from memory.types import NodeWarmth, Recall, Tokens

WARMED_SHOWN = 12
LEVELS = ("Categories", "Concepts", "Topics", "Sub-topics")
LEAST_CONFIDENCE = 0.005  # what rounds to 0.00 is left out, but for the best of a level

NARROWED = "the node you named"
REASONS = {
    "confidence": "their indexes fit the question best",
    "named": "the question names it",
    "discussed in this session": "you were just talking about it",
    "your choice": "you chose it when asked",
    NARROWED: "you narrowed the search to it",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A node on the way down. `is_warmed`: it, or something below it, was read."""

    node: NodeWarmth
    is_warmed: bool


@dataclass(frozen=True, slots=True)
class Way:
    """The way down the tree of one brain, level by level, and where it ended: at `warmed`, with `cold` left aside.

    In a search that a person narrowed to a node nothing was chosen: no levels, and nothing that stayed cold.
    """

    scope: str
    reason: str
    levels: tuple[tuple[str, tuple[Step, ...]], ...]
    warmed: tuple[NodeWarmth, ...]
    more_warmed: int
    cold: tuple[NodeWarmth, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """`saved_percent`: what handing over the answer alone saves against this; None when it saves nothing."""

    label: str
    tokens: int
    saved_percent: int | None


@dataclass(frozen=True, slots=True)
class How:
    ways: tuple[Way, ...]
    costs: tuple[Cost, ...]
    most_tokens: int
    stages_ms: Mapping[str, float]
    total_ms: float


def how_found(actor: Actor, answer: Recall) -> How:
    trace = answer.trace
    scope_of = _scopes(actor, [each.node.id for each in (*answer.warmed, *answer.cold)])
    ways = tuple(_way(scope, way, answer, scope_of) for scope, way in trace.navigation.items())
    costs = _costs(trace.tokens, is_exhaustive=not trace.navigation)
    return How(
        ways=ways,
        costs=costs,
        most_tokens=max(1, *(cost.tokens for cost in costs)),
        stages_ms=trace.stages_ms,
        total_ms=sum(trace.stages_ms.values()),
    )


def _scopes(actor: Actor, node_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Node → the scope of its brain: two brains may have nodes of the same path."""
    if not node_ids:
        return {}
    with actor.session():
        return dict(Node.objects.visible_to(actor).filter(id__in=node_ids).values_list("id", "scope"))


def _way(scope: str, way: Mapping[str, object], answer: Recall, scope_of: Mapping[UUID, str]) -> Way:
    warmed = sorted((n for n in answer.warmed if scope_of.get(n.node.id) == scope), key=lambda n: -n.confidence)
    reason = str(way["reason"])
    is_narrowed = reason == NARROWED
    levels: Sequence[Sequence[NodeWarmth]] = () if is_narrowed else way["levels"]  # type: ignore[assignment]
    cold = () if is_narrowed else answer.cold
    return Way(
        scope=scope,
        reason=REASONS.get(reason, reason),
        levels=tuple((name, _steps(level, warmed)) for name, level in zip(LEVELS, levels, strict=False)),
        warmed=tuple(warmed[:WARMED_SHOWN]),
        more_warmed=max(0, len(warmed) - WARMED_SHOWN),
        cold=tuple(n for n in cold if scope_of.get(n.node.id) == scope),
    )


def _steps(level: Sequence[NodeWarmth], warmed: Sequence[NodeWarmth]) -> tuple[Step, ...]:
    shown = [node for at, node in enumerate(level) if at == 0 or node.confidence >= LEAST_CONFIDENCE]
    return tuple(Step(node, any(_is_at_or_below(warm, node) for warm in warmed)) for node in shown)


def _is_at_or_below(warm: NodeWarmth, node: NodeWarmth) -> bool:
    return f"{warm.node.path}/".startswith(f"{node.node.path}/")


def _costs(tokens: Tokens, *, is_exhaustive: bool) -> tuple[Cost, ...]:
    compared = [
        ("the warmed nodes, whole", tokens.warmed_nodes),
        ("the nodes above them, whole", tokens.parent_nodes),
        ("everything", tokens.everything),
    ]
    return (
        Cost("this answer", tokens.handed_over, None),
        *(_compared(label, count, tokens.handed_over) for label, count in compared[2 if is_exhaustive else 0 :]),
    )


def _compared(label: str, tokens: int, handed_over: int) -> Cost:
    if tokens <= handed_over:
        return Cost(label, tokens, None)
    return Cost(label, tokens, min(99, round(100 * (1 - handed_over / tokens))))  # never all of it
