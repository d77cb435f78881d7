"""Generated bodies for every route that takes one: refused or accepted, never a crash."""

import json
import random
from typing import Any

import pytest

from tests.api.conftest import Api

NASTY: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    -(10**18),
    "",
    " ",
    "x",
    "\0",
    "\ud800",
    "\u202e\u200b",
    "é" * 300,
    "%_'\"\\;--)(|&!:*<->",
    "../../etc/passwd",
    "2025-01-01T00:00:00Z",
    "2025-01-01",
    "01890000-0000-7000-8000-000000000000",
    "{01890000-0000-7000-8000-000000000000}",
    "a/b/c",
    "//",
    "inbox",
    "x" * 5_000,
    [],
    {},
    [None],
    ["a", "a", "A"],
    [[[]]],
    {"a": {"b": []}},
    {"": ""},
    ["\ud800", {"\0": "\0"}],
    "personal",
    "both",
    "auto",
    "user",
)
MESSAGE: dict[str, Any] = {
    "role": "user",
    "content": "zorkmid",
    "speaker": "Ann",
    "timestamp": "2025-01-01T00:00:00Z",
    "kind": "k",
    "visible": True,
    "branch": "b",
    "attachments": [{"caption": "c"}],
}
THOUGHT: dict[str, Any] = {
    "content": "zorkmid",
    "category": "idea",
    "visibility": "team",
    "tags": ["a"],
    "node": "Work/Fuzz",
    "occurred_at": "2025-01-01T00:00:00Z",
    "source_key": "k",
    "metadata": {"a": 1},
}
CHANGES = {name: THOUGHT[name] for name in ("tags", "category", "visibility", "node")}
SEEDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "thoughts/", {**THOUGHT, "scope": "personal"}),
    ("POST", "thoughts/bulk/", {"scope": "corporate", "thoughts": [THOUGHT, {"content": "two"}]}),
    ("PATCH", "thoughts/{thought}/", {**CHANGES, "content": "changed"}),
    ("POST", "recall-files/", {**THOUGHT, "content": "x", "title": "t", "platform": "p", "transcript": [MESSAGE]}),
    (
        "POST",
        "recall-files/",
        {"title": "t", "conversation_type": "text", "kind": "document", "transcript": [MESSAGE] * 2},
    ),
    ("PATCH", "recall-files/{chat}/", CHANGES),
    ("POST", "recall-files/{chat}/messages/", {"messages": [MESSAGE]}),
    (
        "POST",
        "search/",
        {
            "query": "zorkmid",
            "scope": "both",
            "limit": 5,
            "threshold": 0.5,
            "mode": "auto",
            "node": "Work",
            "since": "2024-01-01T00:00:00Z",
            "until": "2026-01-01T00:00:00Z",
            "category": "idea",
            "tags": ["a"],
            "max_tokens": 100,
            "session": "s",
            "include": ["trace", "messages"],
        },
    ),
    ("POST", "trash/{chat}/restore/", {"x": 1}),
    ("POST", "nodes/", {"path": "Work/Fuzz", "scope": "personal"}),
    ("PATCH", "nodes/{node}/", {"name": "Fuzzed", "aliases": ["a", "b"]}),
    ("POST", "nodes/{node}/move/", {"parent": "Work"}),
    (
        "POST",
        "relationships/",
        {
            "source_node_id": "01890000-0000-7000-8000-000000000001",
            "target_node_id": "01890000-0000-7000-8000-000000000000",
            "relationship": "informs",
            "weight": 0.5,
            "evidence": {"a": [1]},
        },
    ),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a body, the body itself left out."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in inside for place in [(*path, key), *places(item, (*path, key))]]


def put(parent: Any, key: Any, value: Any) -> None:
    parent[key] = value


def drop(parent: Any, key: Any, value: Any) -> None:
    del parent[key]


def mutated(body: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """One to three changes: another value or none, at some place; and now and then an unknown field."""
    changed: dict[str, Any] = json.loads(json.dumps(body | chance.choice(({}, {}, {}, {"unknown": 1}))))
    for _ in range(min(chance.randint(1, 3), len(changed))):
        *way, last = chance.choice(places(changed))
        parent: Any = changed
        for step in way:
            parent = parent[step]
        chance.choice((put, put, drop))(parent, last, json.loads(json.dumps(chance.choice(NASTY))))
    return changed


def broken(raw: bytes, chance: random.Random) -> bytes:
    """The bytes of a body, cut or with some of them replaced."""
    at, width = chance.randrange(len(raw)), chance.randint(0, 8)
    return raw[:at] + chance.randbytes(width) + raw[at + chance.choice((0, width, len(raw))) :]


def crashes(api: Api, seed: int, cases: int) -> tuple[list[Any], set[int]]:
    """What was answered with 500 or more, and every status that came."""
    chance = random.Random(seed)
    ids = {
        "thought": api.capture("a thought")["id"],
        "chat": api.post("recall-files/", {"transcript": [MESSAGE]}).body["id"],
        "node": api.post("nodes/", {"path": "Work/Fuzz/Node"}).body["id"],
    }
    statuses: set[int] = set()
    found: list[Any] = []
    for case in range(cases):
        method, path, body = SEEDS[case % len(SEEDS)]
        raw = json.dumps(mutated(body, chance)).encode()
        sent = broken(raw, chance) if chance.random() < 0.2 else raw
        answer = api.send(method, path.format(**ids), raw=sent)
        statuses.add(answer.status)
        found += [(path, sent, answer.raw)] * (answer.status >= 500)
    return found, statuses


def test_some_hundred_bodies_crash_nothing(ann: Api) -> None:
    found, statuses = crashes(ann, seed=1, cases=400)
    assert found == []
    assert statuses >= {200, 201, 400, 404}


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 12))
def test_thousands_of_bodies_crash_nothing(ann: Api, seed: int) -> None:
    found, statuses = crashes(ann, seed=seed, cases=500)
    assert found == []
    assert statuses >= {200, 201, 400, 404}
