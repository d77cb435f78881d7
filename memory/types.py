"""What crosses the border of this layer: what goes into verbs and what comes out of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from graph.tree import NodePath


@dataclass(frozen=True, slots=True)
class NewMessage:
    role: str
    content: str
    speaker: str = ""
    timestamp: datetime | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewRecallFile:
    """`node` is an id or a path (made where missing); None files it in the Inbox."""

    kind: str
    messages: tuple[NewMessage, ...]
    title: str = ""
    platform: str = ""
    conversation_type: str = ""
    category: str = "thought"
    visibility: str = "team"
    tags: tuple[str, ...] = ()
    node: str | None = None
    occurred_at: datetime | None = None
    source_key: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    trust: str = "human"


@dataclass(frozen=True, slots=True)
class Idempotency:
    """An Idempotency-Key and the hash of the body it came with."""

    key: str
    body_hash: bytes


@dataclass(frozen=True, slots=True)
class MessageView:
    """`content` is word for word; where `characters` is told it is a part, from `start` on, of a message that long."""

    position: int
    role: str
    speaker: str
    content: str
    timestamp: datetime | None
    details: Mapping[str, Any]
    start: int = 0
    characters: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """A recall file as a door shows it. `messages` is None where only the row was asked for."""

    id: UUID
    recall_id: str
    brain_id: UUID
    scope: str
    kind: str
    title: str
    platform: str
    conversation_type: str
    category: str
    visibility: str
    tags: tuple[str, ...]
    node: NodePath
    filed_by: str
    filing_suggestion: Mapping[str, Any] | None
    metadata: Mapping[str, Any]
    summary: str
    source: str
    source_key: str | None
    trust: str
    contributed_by: UUID | None
    message_count: int
    revision: int
    state: str
    embedding_state: str
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    purge_after: datetime | None
    messages: tuple[MessageView, ...] | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """`created` is False when a source_key or an Idempotency-Key showed that it was there already."""

    memory: Memory
    created: bool


@dataclass(frozen=True, slots=True)
class Reason:
    """What a signal gave to a hit's score, and the hit's place among all candidates by that signal alone."""

    signal: str
    gave: float
    rank: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that answers. `id` is the memory's; `similarity` is calibrated to 0..1, None without a vector.

    text: word for word, of a long message the part that fits best, from character `start` of all its `characters` on.
    repeats: entries that say the same. newer: the entry of the same speaker that says so too, and later.
    """

    id: UUID
    recall_id: str
    entry_id: UUID
    kind: str
    entry_kind: str
    scope: str
    text: str
    score: float
    similarity: float | None
    occurred_at: datetime
    node: NodePath
    contributed_by: UUID | None
    trust: str
    role: str
    speaker: str
    first_message: int
    last_message: int
    start: int
    characters: int
    why: tuple[Reason, ...]
    repeats: tuple[UUID, ...] = ()
    newer: UUID | None = None
    messages: tuple[MessageView, ...] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """What similarity does not serve, beside the ranked hits.

    kind: standing (what is always wanted), overview (what was said about it, over all conversations), in_order (as it
    happened).
    """

    kind: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class NodeWarmth:
    """A node that recall looked at. `confidence`: 0..1, of its own entries or, among levels, of its whole subtree.

    `entries`: searched entries of its own; `memory_count`: memories in its subtree.
    """

    node: NodePath
    confidence: float
    memory_count: int
    entries: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A node that the question may have meant."""

    node: NodePath
    name: str
    memory_count: int


@dataclass(frozen=True, slots=True)
class Clarify:
    """A question back, when the query names nothing but a node with several below it. Hits come all the same."""

    question: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Estimates: handed over with the answer; and what whole nodes would have cost, the warmed ones, the nodes above
    them, and everything."""

    handed_over: int
    warmed_nodes: int
    parent_nodes: int
    everything: int


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: counts, scores and times, no content.

    `navigation`: scope → the best nodes of each level of its tree, with the reason for the choice.
    `entries_read`: entries whose vector was looked at. `entries_loaded`: rows that had to be fetched from Postgres,
    0 while the brain stays warm in this process. `index_bytes`: postings and sketches that were scanned.
    """

    mode: str
    scopes_searched: tuple[str, ...]
    scopes_skipped: tuple[str, ...]
    not_used: tuple[str, ...]
    navigation: Mapping[str, Mapping[str, Any]]
    indexes_read: int
    index_bytes: int
    entries_total: int
    entries_read: int
    entries_loaded: int
    cut_by_threshold: int
    tokens: Tokens
    stages_ms: Mapping[str, float]
    scores: tuple[Mapping[str, float | str], ...]


@dataclass(frozen=True, slots=True)
class Recall:
    hits: tuple[Hit, ...]
    blocks: tuple[Block, ...]
    trace: Trace
    trace_id: UUID
    warmed: tuple[NodeWarmth, ...]
    cold: tuple[NodeWarmth, ...]
    clarify: Clarify | None
    truncated: bool
