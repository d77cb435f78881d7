"""How many queries each list takes: the same for one row and for three."""

import io
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Api

# the key, its holder's role, the brains; BEGIN, then the role and its brains; and what is named with each list
SESSION = 5
LISTS = {
    "thoughts/": SESSION + 4,  # rows, nodes, their parents, messages
    "recall-files/": SESSION + 3,  # rows, nodes, their parents
    "trash/": SESSION + 3,
    "nodes/": SESSION + 2,  # nodes, edges
    "relationships/": SESSION + 1,
    "timeline/": SESSION + 2,  # days with their counts, memories
    "jobs/": SESSION + 1,
    "imports/": SESSION + 1,
    "brains/": 3,
}


def queries(api: Api, path: str) -> tuple[int, int]:
    """Rows in the answer, and queries for it."""
    with CaptureQueriesContext(connection) as context:
        answer = api.get(path)
    return len(answer.body["results"]), len(context)


def fill(api: Api, number: int) -> None:
    when = f"2025-01-0{number}T00:00:00Z"
    note: Any = api.capture(f"note {number}", node=f"Work/Sales {number}", occurred_at=when)
    work = api.get("nodes/?scope=personal").body["results"][0]["id"]
    edge = {"source_node_id": work, "target_node_id": note["node"]["id"], "relationship": "informs"}
    assert api.post("relationships/", edge).status == 201
    gone: Any = api.capture(f"gone {number}", node=f"Work/Gone {number}")
    api.delete(f"thoughts/{gone['id']}/")
    file = io.BytesIO(b'{"id": "c"}')
    file.name = "c.jsonl"
    api.upload("imports/", {"file": file})


def test_lists_take_the_same_queries_for_one_row_and_for_three(ann: Api, settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    fill(ann, 1)
    one = {path: queries(ann, path) for path in LISTS}
    fill(ann, 2)
    fill(ann, 3)
    three = {path: queries(ann, path) for path in LISTS}
    assert {path: count for path, (_, count) in one.items()} == LISTS
    assert {path: count for path, (_, count) in three.items()} == LISTS
    assert {path: rows for path, (rows, _) in three.items()} == {
        "thoughts/": 3,
        "recall-files/": 3,
        "trash/": 3,
        "nodes/": 7,
        "relationships/": 3,
        "timeline/": 3,
        "jobs/": 12,
        "imports/": 3,
        "brains/": 2,
    }
