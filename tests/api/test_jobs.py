"""imports/ and jobs/."""

import io
import json
from typing import Any
from unittest.mock import ANY

import pytest
from django.core.files.storage import default_storage

from memory.work import work_jobs
from tests.api.conftest import Api

NOTHING_YET = {
    "bytes_total": 0,
    "bytes_read": 0,
    "conversations": 0,
    "recall_files": 0,
    "unchanged": 0,
    "messages": 0,
    "problem_count": 0,
    "problems": [],
}


def lines(*texts: str) -> bytes:
    turns = [{"role": "user", "text": text} for text in texts]
    good = {"id": "c1", "dataset": "chats", "sessions": [{"id": "s1", "date": "2025-01-01", "turns": turns}]}
    return json.dumps(good).encode() + b"\n{broken\n"


def upload(content: bytes) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = "chats.jsonl"
    return file


def stored() -> list[str]:
    return default_storage.listdir("imports")[1] if default_storage.exists("imports") else []


@pytest.fixture(autouse=True)
def _own_files(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path


def test_an_upload_is_accepted_worked_on_and_reported(ann: Api) -> None:
    content = lines("zorkmid one", "zorkmid two")
    accepted = ann.upload("imports/", {"file": upload(content), "scope": "personal"})
    job = {
        "id": ANY,
        "job_id": ANY,
        "scope": "personal",
        "state": "pending",
        "attempts": 0,
        "progress": NOTHING_YET,
        "error": "",
        "created_at": ANY,
        "finished_at": None,
    }
    assert (accepted.status, accepted.body) == (202, job)
    path = accepted.headers["Location"].removeprefix("/api/v1/")
    assert ann.get(path).body == accepted.body
    assert ann.get("imports/").body == {"results": [accepted.body], "next_cursor": None}
    work_jobs(seconds=30)
    done = ann.get(path).body
    progress = {
        **NOTHING_YET,
        "bytes_total": len(content),
        "bytes_read": len(content),
        "conversations": 1,
        "recall_files": 1,
        "messages": 2,
        "problem_count": 1,
        "problems": [{"line": 2, "reason": ANY}],
    }
    expected = {**accepted.body, "state": "done", "attempts": 1, "progress": progress, "finished_at": ANY}
    assert done == expected
    assert done["finished_at"] is not None
    assert len(ann.post("search/", {"query": "zorkmid"}).body["hits"]) == 2
    assert stored() == []


def test_an_upload_that_is_refused_stores_nothing(ann: Api) -> None:
    def cause(data: dict[str, Any]) -> tuple[int, str, str | None]:
        return ann.upload("imports/", data).cause

    assert cause({}) == (400, "invalid", "file")
    assert cause({"file": "no upload"}) == (400, "invalid", "file")
    assert cause({"file": upload(b"no json")}) == (400, "invalid", "file")
    assert cause({"file": upload(b"")}) == (400, "invalid", "file")
    assert cause({"file": upload(lines("x")), "scope": "both"}) == (400, "invalid", "scope")
    assert cause({"file": upload(lines("x")), "scope": "agent"}) == (403, "permission_denied", "scope")
    assert cause({"file": upload(lines("x")), "as": "bob"}) == (400, "invalid", "as")
    assert cause({"file": [upload(lines("x")), upload(lines("y"))]}) == (400, "invalid", "file")
    assert ann.post("imports/", {"file": "x"}).cause == (415, "unsupported_media_type", None)
    assert ann.get("jobs/").body["results"] == []
    assert stored() == []


def test_the_same_upload_with_the_same_key_is_one_import(ann: Api, bob: Api) -> None:
    first = ann.upload("imports/", {"file": upload(lines("x"))}, Idempotency_Key="import-1")
    again = ann.upload("imports/", {"file": upload(lines("x"))}, Idempotency_Key="import-1")
    other = ann.upload("imports/", {"file": upload(lines("y"))}, Idempotency_Key="import-1")
    assert (again.status, again.body) == (202, first.body)
    assert other.cause == (409, "conflict", "Idempotency-Key")
    assert len(stored()) == 1
    assert ann.get("imports/").body["results"] == [first.body]
    his = bob.upload("imports/", {"file": upload(lines("x"))}, Idempotency_Key="import-1")
    assert (his.status, his.body["id"] == first.body["id"]) == (202, False)


def test_jobs_are_listed_and_narrowed(ann: Api) -> None:
    made = [ann.capture(f"note {number}")["id"] for number in range(3)]
    imported = ann.upload("imports/", {"file": upload(lines("x"))}).body
    first = ann.get("jobs/?limit=2").body
    second = ann.get(f"jobs/?limit=2&cursor={first['next_cursor']}").body
    rows = first["results"] + second["results"]
    assert [row["subject_id"] for row in rows] == [imported["id"], *reversed(made)]
    assert second["next_cursor"] is None
    job = {
        "id": ANY,
        "kind": "embed",
        "subject_id": made[0],
        "scope": "personal",
        "state": "pending",
        "attempts": 0,
        "progress": {},
        "error": "",
        "created_at": ANY,
        "finished_at": None,
    }
    assert rows[3] == job
    assert ann.get(f"jobs/{rows[3]['id']}/").body == job
    assert [row["kind"] for row in ann.get("jobs/?kind=import").body["results"]] == ["import"]
    assert ann.get("jobs/?state=dead").body["results"] == []
    assert ann.get(f"imports/{rows[3]['id']}/").cause == (404, "not_found", None)  # an embedding is no import
    assert ann.get("jobs/?kind=sleep").cause == (400, "invalid_choice", "kind")
