"""search/: the answer's shape, its filters, what is refused, and its trace."""

from typing import Any
from unittest.mock import ANY

import pytest

from tests.api.conftest import Api
from tests.cast import Cast


def ids(answer: Any) -> list[str]:
    return [hit["id"] for hit in answer.body["hits"]]


def test_an_answer_as_a_whole(ann: Api, cast: Cast) -> None:
    made = ann.post(
        "recall-files/",
        {
            "node": "Work/Pay",
            "transcript": [
                {"role": "user", "content": "How are we paid?"},
                {
                    "role": "assistant",
                    "content": "In zorkmids. ",
                    "speaker": "Claude",
                    "timestamp": "2025-02-01T00:00:00Z",
                },
                {"role": "user", "content": "Good."},
            ],
        },
    ).body
    ann.capture("unrelated")
    question = {"query": "zorkmids", "include": ["messages", "trace"], "threshold": 0.5, "session": "s"}
    answer = ann.post("search/", question)

    def message(position: int, role: str, content: str, speaker: str = "", at: str | None = None) -> dict[str, Any]:
        return {"position": position, "role": role, "speaker": speaker, "content": content, "timestamp": at}

    def warm(node_id: str, path: str, memories: int, entries: int) -> dict[str, Any]:
        node = {"id": node_id, "path": path}
        return {"node": node, "confidence": ANY, "memory_count": memories, "entries": entries}

    hit = {
        "id": made["id"],
        "recall_id": made["recall_id"],
        "entry_id": ANY,
        "kind": "conversation",
        "entry_kind": "passage",
        "scope": "personal",
        "role": "assistant",
        "speaker": "Claude",
        "text": "In zorkmids. ",
        "score": ANY,
        "similarity": None,
        "occurred_at": "2025-02-01T00:00:00Z",
        "node": {"id": made["node_id"], "path": "Work/Pay"},
        "contributed_by": str(cast.ann.user.id),
        "trust": "human",
        "first_message": 1,
        "last_message": 1,
        "start": 0,
        "characters": 13,
        "why": ANY,
        "repeats": [],
        "newer": None,
        "messages": [
            message(0, "user", "How are we paid?"),
            message(1, "assistant", "In zorkmids. ", "Claude", "2025-02-01T00:00:00Z"),
            message(2, "user", "Good."),
        ],
    }
    assert answer.status == 200
    assert answer.body["hits"][0] == hit
    rest = {name: value for name, value in answer.body.items() if name not in ("hits", "trace")}
    assert rest == {
        "blocks": [],
        "warmed": [warm(made["node_id"], "Work/Pay", 1, 3), warm(ANY, "Inbox", 1, 1)],
        "cold": [],
        "clarify": None,
        "not_used": ["vectors: the embedding model has read 0 of 4 entries so far"],
        "scopes_searched": ["personal", "corporate"],
        "scopes_skipped": [],
        "truncated": False,
        "trace_id": ANY,
    }
    trace = answer.body["trace"]
    assert (trace["mode"], trace["entries_total"], trace["entries_read"]) == ("auto", 4, 4)
    assert set(trace["scores"][0]) >= {"entry_id", "score", "words"}
    kept = ann.get(f"search/traces/{answer.body['trace_id']}/")
    assert (kept.status, kept.body) == (200, trace)


def test_messages_and_trace_come_only_when_asked_for(ann: Api) -> None:
    ann.capture("zorkmid")
    answer = ann.post("search/", {"query": "zorkmid"}).body
    assert "trace" not in answer
    assert "messages" not in answer["hits"][0]


def test_a_search_is_narrowed_by_every_filter(ann: Api) -> None:
    old = ann.capture("zorkmid one", occurred_at="2020-01-01T00:00:00Z", node="Work/Old", tags=["a"])["id"]
    new = ann.capture("zorkmid two", category="idea", tags=["a", "b"])["id"]
    shared = ann.capture("zorkmid three", scope="corporate")["id"]

    def found(**more: Any) -> set[str]:
        return set(ids(ann.post("search/", {"query": "zorkmid", **more})))

    assert found() == {old, new, shared}
    assert found(scope="personal") == {old, new}
    assert found(scope="corporate") == {shared}
    assert found(category="idea") == {new}
    assert found(tags=["a"]) == {old, new}
    assert found(tags=["a", "b"]) == {new}
    assert found(node="Work") == {old}
    assert found(until="2020-01-01T00:00:00Z") == {old}
    assert found(since="2020-01-01T00:00:01Z") == {new, shared}
    assert found(mode="exhaustive", threshold=1) == {old, new, shared}  # the threshold is no matter of words
    assert len(found(limit=1)) == 1


def test_a_token_budget_says_when_it_left_something_out(ann: Api) -> None:
    for number in range(3):
        ann.capture(f"zorkmid {number} " + "word " * 100)
    answer = ann.post("search/", {"query": "zorkmid", "max_tokens": 150}).body
    assert (len(answer["hits"]), answer["truncated"]) == (1, True)


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ({}, (400, "required", "query")),
        ({"query": ""}, (400, "blank", "query")),
        ({"query": " \u200b"}, (400, "invalid", "query")),
        ({"query": "x" * 20_001}, (413, "too_large", "query")),
        ({"query": 5}, (400, "invalid", "query")),
        ({"query": "x", "limit": 0}, (400, "min_value", "limit")),
        ({"query": "x", "limit": 101}, (400, "max_value", "limit")),
        ({"query": "x", "limit": 10**9}, (400, "max_value", "limit")),
        ({"query": "x", "limit": "10"}, (400, "invalid", "limit")),
        ({"query": "x", "limit": 1.5}, (400, "invalid", "limit")),
        ({"query": "x", "limit": True}, (400, "invalid", "limit")),
        ({"query": "x", "threshold": -1}, (400, "min_value", "threshold")),
        ({"query": "x", "threshold": 1.01}, (400, "max_value", "threshold")),
        ({"query": "x", "threshold": "0.5"}, (400, "invalid", "threshold")),
        ({"query": "x", "mode": "fast"}, (400, "invalid_choice", "mode")),
        ({"query": "x", "scope": "all"}, (400, "invalid_choice", "scope")),
        ({"query": "x", "scope": "agent"}, (403, "permission_denied", "scope")),
        ({"query": "x", "scope": ["both"]}, (400, "invalid_choice", "scope")),
        ({"query": "x", "node": "Nowhere"}, (400, "not_found", "node")),
        ({"query": "x", "node": "a//b"}, (400, "invalid", "node")),
        ({"query": "x", "since": "2025-01-01"}, (400, "moment", "since")),
        ({"query": "x", "since": "2025-01-01T00:00:00"}, (400, "moment", "since")),
        ({"query": "x", "since": "2025-13-01T00:00:00Z"}, (400, "moment", "since")),
        ({"query": "x", "since": 1735689600}, (400, "moment", "since")),
        ({"query": "x", "since": "2025-02-01T00:00:00Z", "until": "2025-01-01T00:00:00Z"}, (400, "invalid", "until")),
        ({"query": "x", "tags": "a"}, (400, "not_a_list", "tags")),
        ({"query": "x", "include": ["all"]}, (400, "invalid_choice", "include.0")),
        ({"query": "x", "max_tokens": 0}, (400, "min_value", "max_tokens")),
        ({"query": "x", "user_id": "x"}, (400, "unknown", "user_id")),
    ],
)
def test_what_a_search_refuses(ann: Api, body: dict[str, Any], cause: tuple[int, str, str]) -> None:
    assert ann.post("search/", body).cause == cause


def test_a_query_of_ten_thousand_bytes(ann: Api) -> None:
    made = ann.capture("the zorkmid is a coin")
    assert ids(ann.post("search/", {"query": "zorkmid " + "ä " * 4_990})) == [made["id"]]


def test_a_trace_is_the_askers_alone(ann: Api, bob: Api, eve: Api) -> None:
    trace_id = ann.post("search/", {"query": "x"}).body["trace_id"]
    assert ann.get(f"search/traces/{trace_id}/").status == 200
    unknown = ann.get("search/traces/01890000-0000-7000-8000-000000000000/").without_id
    for other in (bob, eve):
        assert other.get(f"search/traces/{trace_id}/").without_id == unknown
