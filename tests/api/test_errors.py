"""One shape for whatever goes wrong, and no crash for what can be told."""

import errno
import logging
from typing import Any

import psycopg
import pytest
from django.db import DataError, IntegrityError, InterfaceError, OperationalError, ProgrammingError, connections

from accounts import errors
from brainsite.api.views import thoughts
from tests.api.conftest import Api
from tests.cast import Cast


def of_database(kind: type[Exception], cause: type[psycopg.Error]) -> Exception:
    error = kind("DETAIL: Key (content)=(canary) exists")
    error.__cause__ = cause("DETAIL: Key (content)=(canary) exists")
    return error


CAUSES: list[tuple[Exception, int, str, str, str | None]] = [
    (errors.Invalid("m", field="f"), 400, "validation_error", "invalid", "f"),
    (errors.Invalid("m"), 400, "client_error", "invalid", None),
    (errors.TooLarge("m", field="f"), 413, "client_error", "too_large", "f"),
    (errors.Forbidden("m", field="f"), 403, "client_error", "permission_denied", "f"),
    (errors.NotFound(), 404, "client_error", "not_found", None),
    (errors.NotFound("m", field="node"), 400, "validation_error", "not_found", "node"),
    (errors.Conflict("m", field="f"), 409, "client_error", "conflict", "f"),
    (errors.Stale("m", field="f"), 412, "client_error", "stale", "f"),
    (errors.Unavailable("m"), 503, "server_error", "unavailable", None),
    (OperationalError("down"), 503, "server_error", "unavailable", None),
    (InterfaceError("closed"), 503, "server_error", "unavailable", None),
    (of_database(OperationalError, psycopg.errors.QueryCanceled), 503, "server_error", "unavailable", None),
    (of_database(OperationalError, psycopg.errors.DiskFull), 507, "server_error", "disk_full", None),
    (OSError(errno.ENOSPC, "canary"), 507, "server_error", "disk_full", None),
    (
        of_database(ProgrammingError, psycopg.errors.InsufficientPrivilege),
        403,
        "client_error",
        "permission_denied",
        None,
    ),
    (of_database(DataError, psycopg.errors.UntranslatableCharacter), 400, "client_error", "invalid", None),
    (of_database(IntegrityError, psycopg.errors.UniqueViolation), 409, "client_error", "conflict", None),
    (ZeroDivisionError("canary"), 500, "server_error", "error", None),
    (of_database(ProgrammingError, psycopg.errors.SyntaxError), 500, "server_error", "error", None),
    (OSError(errno.EIO, "canary"), 500, "server_error", "error", None),
]


def test_whatever_a_verb_raises_has_one_shape(ann: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for cause, status, kind, code, attr in CAUSES:

        def broken(*args: Any, cause: Exception = cause, **options: Any) -> Any:
            raise cause

        monkeypatch.setattr(thoughts, "capture", broken)
        answer = ann.post("thoughts/", {"content": "x"})
        assert (answer.status, answer.body["type"], answer.body["request_id"]) == (
            status,
            kind,
            answer.headers["X-Request-ID"],
        )
        assert answer.body["errors"] == [{"code": code, "detail": answer.body["errors"][0]["detail"], "attr": attr}]
        assert answer.headers.get("Retry-After") == {503: "5", 507: "5"}.get(status)
        assert b"canary" not in answer.raw


def test_a_database_that_is_away_is_said_to_be(ann: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ann.get("me/").status == 200
    connections["default"].close()
    with monkeypatch.context() as patch:
        patch.setitem(connections["default"].settings_dict, "PORT", "1")
        answer = ann.post("thoughts/", {"content": "x"})
    assert answer.cause == (503, "unavailable", None)
    assert answer.headers["Retry-After"] == "5"
    connections["default"].close()
    assert ann.all_thoughts() == []


def test_unknown_routes_speak_the_same_language(ann: Api) -> None:
    slash = "Not found: every route ends with a slash."
    for path, detail in (("nope/", "Not found."), ("thoughts", slash), ("thoughts/a%2fb", slash), ("", "Not found.")):
        for api in (ann, Api()):
            answer = api.post(path, {"content": "x"})
            assert answer.status == 404
            assert answer.body == {
                "type": "client_error",
                "errors": [{"code": "not_found", "detail": detail, "attr": None}],
                "request_id": answer.headers["X-Request-ID"],
            }


@pytest.mark.parametrize(
    "ref",
    [
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "%E2%98%83",
        "a%20b",
        "'%20OR%201=1",
        "%27",
        "a" * 121,
        "{x}",
        "%252e%252e",
        "a;b",
    ],
)
def test_what_is_no_id_is_not_found(ann: Api, ref: str) -> None:
    for method, path in (
        ("GET", "thoughts/{}/"),
        ("DELETE", "recall-files/{}/"),
        ("GET", "nodes/{}/"),
        ("GET", "jobs/{}/"),
    ):
        assert ann.send(method, path.format(ref)).cause == (404, "not_found", None)


def test_an_accept_header_changes_nothing(ann: Api) -> None:
    for accept in ("text/html", "application/xml", "x", "*/*;q=0", "application/json; indent=4"):
        answer = ann.get("brains/", Accept=accept)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        assert b"\n" not in answer.raw


def test_a_request_id_of_the_callers_comes_back(ann: Api) -> None:
    answer = ann.get("nope/", X_Request_ID="trace-me-12345")
    assert (answer.body["request_id"], answer.headers["X-Request-ID"]) == ("trace-me-12345", "trace-me-12345")


def test_no_log_line_holds_a_word_or_a_key(
    ann: Api, cast: Cast, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    made = ann.capture("canary words", tags=["canary"], node="Canary", source_key="canary")
    ann.get(f"thoughts/{made['recall_id']}/")
    ann.post("search/", {"query": "canary"})
    for answer in (
        ann.get("thoughts/canary-slug-2025-01-01/"),
        ann.get("canary/"),
        ann.get("thoughts/?tag=canary&canary=1"),
        ann.post("thoughts/", {"content": 5, "canary": "canary"}),
        ann.post("thoughts/", raw=b'{"canary": canary}'),
        ann.post("thoughts/", {"content": "canary", "node": "canary//x"}),
        Api(cast.ann.key + "canary").get("me/"),
    ):
        assert 400 <= answer.status < 500
    monkeypatch.setattr(thoughts, "capture", lambda *args, **options: 1 / 0)
    assert ann.post("thoughts/", {"content": "canary"}).status == 500
    assert "request_finished" in caplog.text
    assert "request_failed" in caplog.text
    assert "canary" not in caplog.text.lower()
    assert cast.ann.key.rpartition("_")[2] not in caplog.text
