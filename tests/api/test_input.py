"""Input: kept byte for byte or refused with its field, and then nothing is stored."""

import json
from typing import Any

import pytest

from tests.api.conftest import Api

TEXTS = {
    "emoji": "👩‍👩‍👧‍👦 and 🏴󠁧󠁢󠁥󠁮󠁧󠁿 zorkmid",
    "right to left": "\u202eזורקמיד שלום \u200f(zorkmid)\u202c",
    "combining": "zorkmid e\u0301 is not é" + "\u0301" * 2_000,
    "zero width": "z\u200bo\u200dr\u2060k zorkmid\ufeff",
    "html": "<script>alert('zorkmid')</script><img src=x onerror=alert(1)>&lt;b&gt;",
    "sql": "Robert'); DROP TABLE memory_recallfile;-- zorkmid \\' \\\\ $$ %s %(x)s {0} ${x}",
    "like": "100%_zorkmid_\\%%",
    "operators": "zorkmid & !x | (y:*) <-> 'z' \"a b\" -c OR NOT",
    "controls": "zorkmid\x01\x02\x1b[31m\x7f\x85\u2028\u2029\r\n\t end",
    "white space": "  \n zorkmid \u00a0\u3000 \n\n ",
    "languages": "zorkmid 你好世界 こんにちは 안녕하세요 Ωμέγα Привет ٣٤٥ ไทย",
    "astral": "zorkmid 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0010fffd",
    "json": '{"zorkmid": "\\ud800", "a": [1, NaN]}',
    "formula": "=zorkmid+cmd|' /C calc'!A0",
}


def test_text_comes_back_byte_for_byte_from_every_route(ann: Api) -> None:
    for name, text in TEXTS.items():
        made = ann.post("thoughts/", {"content": text, "metadata": {"text": text}})
        assert (made.status, made.body["content"], made.body["metadata"]) == (201, text, {"text": text}), name
        raw = ann.get(f"thoughts/{made.body['id']}/")
        assert raw.body == made.body
        escaped = json.dumps(text, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        assert escaped.encode() in raw.raw  # UTF-8 as it is, not \u-escaped
    assert ann.all_thoughts() == list(reversed(TEXTS.values()))
    hits = ann.post("search/", {"query": "zorkmid", "limit": 100}).body["hits"]
    assert all(any(text[hit["start"] :].startswith(hit["text"]) for text in TEXTS.values()) for hit in hits)
    assert len(hits) == len(TEXTS)
    transcript = [{"role": "user", "content": text, "speaker": text[:200]} for text in TEXTS.values()]
    made = ann.post("recall-files/", {"transcript": transcript, "title": TEXTS["sql"], "tags": [TEXTS["like"]]})
    read = ann.get(f"recall-files/{made.body['id']}/").body
    assert [(m["content"], m["speaker"]) for m in read["transcript"]] == [(t, t[:200]) for t in TEXTS.values()]
    assert (read["title"], read["tags"]) == (TEXTS["sql"], [TEXTS["like"]])


def test_text_is_text_wherever_it_is_asked_for(ann: Api) -> None:
    ann.capture("plain zorkmid")
    for text in TEXTS.values():
        assert ann.post("search/", {"query": text, "tags": [text], "session": text}).body["hits"] == []
    for text in ("%", "_", "' OR 1=1 --", "zork%", "\\", "a:*", "👩‍👩‍👧‍👦"):
        answer = ann.client.get("/api/v1/thoughts/", {"tag": text}, headers={"x-brain-key": ann.key or ""})
        assert answer.json() == {"results": [], "next_cursor": None}


def test_a_long_text_is_found_by_its_last_sentence(ann: Api) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 22_000 + "At last the xyzzy frobnicated."
    made = ann.capture(text)
    assert len(text) > 990_000
    assert ann.get(f"thoughts/{made['id']}/").body["content"] == text
    hits = ann.post("search/", {"query": "frobnicated xyzzy"}).body["hits"]
    assert [(hit["id"], hit["characters"]) for hit in hits] == [(made["id"], len(text))]
    (hit,) = hits
    assert hit["text"].endswith("At last the xyzzy frobnicated.")
    assert text[hit["start"] : hit["start"] + len(hit["text"])] == hit["text"]


NOBODY = "01890000-0000-7000-8000-000000000000"
THOUGHT_REFUSALS: list[tuple[dict[str, Any], tuple[int, str, str | None]]] = [
    ({}, (400, "required", "content")),
    ({"content": None}, (400, "null", "content")),
    ({"content": ""}, (400, "blank", "content")),
    ({"content": " \n\t"}, (400, "invalid", "content")),
    ({"content": "\u200b\ufeff"}, (400, "invalid", "content")),
    ({"content": 5}, (400, "invalid", "content")),
    ({"content": 5.5}, (400, "invalid", "content")),
    ({"content": True}, (400, "invalid", "content")),
    ({"content": ["x"]}, (400, "invalid", "content")),
    ({"content": {"x": 1}}, (400, "invalid", "content")),
    ({"content": "a\0b"}, (400, "nul", "content")),
    ({"content": "a\ud800b"}, (400, "surrogate", "content")),
    ({"content": "\udfff"}, (400, "surrogate", "content")),
    ({"content": "x" * 2_000_001}, (413, "too_large", "content")),
    ({"content": "x", "scope": "both"}, (400, "invalid_choice", "scope")),
    ({"content": "x", "scope": "Personal"}, (400, "invalid_choice", "scope")),
    ({"content": "x", "scope": "personal'--"}, (400, "invalid_choice", "scope")),
    ({"content": "x", "scope": "\ud800"}, (400, "invalid_choice", "scope")),
    ({"content": "x", "scope": 1}, (400, "invalid_choice", "scope")),
    ({"content": "x", "scope": None}, (400, "null", "scope")),
    ({"content": "x", "scope": "agent"}, (403, "permission_denied", "scope")),
    ({"content": "x", "category": "note"}, (400, "invalid_choice", "category")),
    ({"content": "x", "category": ["idea"]}, (400, "invalid_choice", "category")),
    ({"content": "x", "visibility": "world"}, (400, "invalid_choice", "visibility")),
    ({"content": "x", "tags": "a"}, (400, "not_a_list", "tags")),
    ({"content": "x", "tags": {"a": 1}}, (400, "not_a_list", "tags")),
    ({"content": "x", "tags": [1]}, (400, "invalid", "tags.0")),
    ({"content": "x", "tags": ["a", None]}, (400, "null", "tags.1")),
    ({"content": "x", "tags": ["a", ""]}, (400, "blank", "tags.1")),
    ({"content": "x", "tags": ["a\0"]}, (400, "nul", "tags.0")),
    ({"content": "x", "tags": ["\udc00"]}, (400, "surrogate", "tags.0")),
    ({"content": "x", "tags": [" "]}, (400, "invalid", "tags")),
    ({"content": "x", "tags": ["t" * 101]}, (413, "too_large", "tags")),
    ({"content": "x", "tags": [f"t{n}" for n in range(101)]}, (413, "too_large", "tags")),
    ({"content": "x", "tags": ["t"] * 100_000}, (413, "too_large", "tags")),
    ({"content": "x", "node": ""}, (400, "blank", "node")),
    ({"content": "x", "node": "a//b"}, (400, "invalid", "node")),
    ({"content": "x", "node": "/a"}, (400, "invalid", "node")),
    ({"content": "x", "node": "a\0"}, (400, "nul", "node")),
    ({"content": "x", "node": "a\nb"}, (400, "invalid", "node")),
    ({"content": "x", "node": "/".join("abcdefghijklmnopq")}, (400, "invalid", "node")),
    ({"content": "x", "node": "n" * 256}, (400, "invalid", "node")),
    ({"content": "x", "node": "n" * 5_000}, (413, "too_large", "node")),
    ({"content": "x", "node": "Inbox/x"}, (400, "invalid", "node")),
    ({"content": "x", "node": NOBODY}, (400, "not_found", "node")),
    ({"content": "x", "node": 7}, (400, "invalid", "node")),
    ({"content": "x", "occurred_at": "yesterday"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "2025-01-08"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "2025-01-08T10:00:00"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "2025-02-30T10:00:00Z"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "2025-01-08T24:61:00Z"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "2025-01-08T10:00:00+99:00"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "٢٠٢٥-01-08T10:00:00Z"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "0000-01-01T00:00:00Z"}, (400, "moment", "occurred_at")),
    ({"content": "x", "occurred_at": "0001-01-01T00:00:00+14:00"}, (400, "invalid", "occurred_at")),
    ({"content": "x", "occurred_at": "9999-12-31T23:59:59-14:00"}, (400, "invalid", "occurred_at")),
    ({"content": "x", "occurred_at": 1736330400}, (400, "moment", "occurred_at")),
    ({"content": "x", "source_key": ""}, (400, "blank", "source_key")),
    ({"content": "x", "source_key": " "}, (400, "invalid", "source_key")),
    ({"content": "x", "source_key": "k" * 301}, (413, "too_large", "source_key")),
    ({"content": "x", "source_key": "\0"}, (400, "nul", "source_key")),
    ({"content": "x", "metadata": []}, (400, "invalid", "metadata")),
    ({"content": "x", "metadata": "{}"}, (400, "invalid", "metadata")),
    ({"content": "x", "metadata": {"a": "\0"}}, (400, "invalid", "metadata")),
    ({"content": "x", "metadata": {"\ud800": 1}}, (400, "invalid", "metadata")),
    ({"content": "x", "metadata": {"a": [["\udc00"]]}}, (400, "invalid", "metadata")),
    ({"content": "x", "metadata": {"a": "b" * 70_000}}, (413, "too_large", "metadata")),
    ({"content": "x", "is_admin": True}, (400, "unknown", "is_admin")),
    ({"content": "x", "\ud800": 1}, (400, "unknown", "?")),
    ({"content": "x", "k" * 1_000: 1}, (400, "unknown", "k" * 300 + "…")),
]


def test_what_a_thought_refuses(ann: Api) -> None:
    for body, cause in THOUGHT_REFUSALS:
        answer = ann.post("thoughts/", body)
        assert (list(body.items())[-1:], answer.cause) == (list(body.items())[-1:], cause)
    assert ann.get("recall-files/").body["results"] == []
    assert ann.get("nodes/").body["results"] == []


def test_every_wrong_field_is_named(ann: Api) -> None:
    body = {"content": 5, "tags": ["a", 1, None], "category": "x", "no": 1, "nope": 2}
    answer = ann.post("thoughts/", body)
    assert (answer.status, answer.body["type"]) == (400, "validation_error")
    named = {(error["code"], error["attr"]) for error in answer.body["errors"]}
    assert named == {
        ("unknown", "no"),
        ("unknown", "nope"),
        ("invalid", "content"),
        ("invalid", "tags.1"),
        ("null", "tags.2"),
        ("invalid_choice", "category"),
    }


GOOD = {"role": "user", "content": "x"}
FILE_REFUSALS: list[tuple[dict[str, Any], tuple[int, str, str | None]]] = [
    ({}, (400, "required", "transcript")),
    ({"transcript": []}, (400, "empty", "transcript")),
    ({"transcript": "x"}, (400, "not_a_list", "transcript")),
    ({"transcript": [5]}, (400, "invalid", "transcript.0")),
    ({"transcript": [GOOD, {"role": "user"}]}, (400, "required", "transcript.1.content")),
    ({"transcript": [GOOD] * 3 + [{**GOOD, "content": " "}]}, (400, "invalid", "transcript.3.content")),
    ({"transcript": [{**GOOD, "content": "a\0"}]}, (400, "nul", "transcript.0.content")),
    ({"transcript": [{**GOOD, "content": "x" * 2_000_001}]}, (413, "too_large", "transcript.0.content")),
    ({"transcript": [{**GOOD, "role": "king"}]}, (400, "invalid_choice", "transcript.0.role")),
    ({"transcript": [{**GOOD, "role": ["user"]}]}, (400, "invalid_choice", "transcript.0.role")),
    ({"transcript": [{**GOOD, "speaker": "s" * 201}]}, (413, "too_large", "transcript.0.speaker")),
    ({"transcript": [{**GOOD, "speaker": 1}]}, (400, "invalid", "transcript.0.speaker")),
    ({"transcript": [{**GOOD, "timestamp": "2025-01-08"}]}, (400, "moment", "transcript.0.timestamp")),
    ({"transcript": [{**GOOD, "visible": 1}]}, (400, "invalid", "transcript.0.visible")),
    ({"transcript": [{**GOOD, "kind": 1}]}, (400, "invalid", "transcript.0.kind")),
    ({"transcript": [{**GOOD, "attachments": {}}]}, (400, "not_a_list", "transcript.0.attachments")),
    ({"transcript": [{**GOOD, "attachments": [{"a": "\0"}]}]}, (400, "invalid", "transcript.0.details")),
    ({"transcript": [{**GOOD, "id": "x"}]}, (400, "unknown", "transcript.0.id")),
    ({"transcript": [GOOD], "kind": "thought"}, (400, "invalid_choice", "kind")),
    ({"transcript": [GOOD], "title": "t" * 501}, (413, "too_large", "title")),
    ({"transcript": [GOOD], "title": 5}, (400, "invalid", "title")),
    ({"transcript": [GOOD], "platform": "p" * 51}, (413, "too_large", "platform")),
    ({"transcript": [GOOD], "conversation_type": "\0"}, (400, "nul", "conversation_type")),
    ({"transcript": [GOOD], "node": NOBODY}, (400, "not_found", "node")),
    ({"transcript": [GOOD], "content": "x"}, (400, "unknown", "content")),
]


def test_what_a_recall_file_refuses(ann: Api) -> None:
    for body, cause in FILE_REFUSALS:
        answer = ann.post("recall-files/", body)
        assert (list(body.items())[-1:], answer.cause) == (list(body.items())[-1:], cause)
    assert ann.get("recall-files/").body["results"] == []


BODIES: list[tuple[bytes, dict[str, Any], int]] = [
    (b"", {}, 400),
    (b"{", {}, 400),
    (b"null", {}, 400),
    (b'["content"]', {}, 400),
    (b'"content"', {}, 400),
    (b'{"content": "x"} trailing', {}, 400),
    (b"{'content': 'x'}", {}, 400),
    (b'{"content": "x", "content": "y"}', {}, 400),
    (b'{"content": "x", "metadata": {"a": 1, "b": 2, "a": 3}}', {}, 400),
    (b'{"content": "x", "metadata": {"a": NaN}}', {}, 400),
    (b'{"content": "x", "metadata": {"a": -Infinity}}', {}, 400),
    (b'{"content": "x", "metadata": {"a": 1e999}}', {}, 400),
    (b'{"content": "x", "metadata": {"a": ' + b"9" * 5_000 + b"}}", {}, 400),
    (b'{"content": "x", "metadata": {"a": 0.' + b"1" * 5_000 + b"}}", {}, 400),
    (b'{"content": "x", "metadata": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, {}, 400),
    (b"[" * 100_000, {}, 400),
    (b'{"content": "x", "metadata": {"a": ' + b"[" * 30 + b"]" * 30 + b"}}", {}, 400),
    (b'{"content": "\xff\xfe"}', {}, 400),
    ('{"content": "x"}'.encode("utf-16"), {}, 400),
    (b'{"content": "\xe4"}', {"kind": "application/json; charset=latin-1"}, 400),
    (b'{"content": "x"}', {"kind": "application/json; charset=utf-16"}, 400),
    (b'{"content": "x"}', {"Content_Encoding": "gzip"}, 400),
    (b"\x1f\x8b\x08\x00" + b"\0" * 100, {}, 400),
    (b'{"content": "x\x01"}', {}, 400),
    (b'{"content": "x"}', {"kind": "text/plain"}, 415),
    (b"content=x", {"kind": "application/x-www-form-urlencoded"}, 415),
    (b"--x\r\n\r\n--x--", {"kind": "multipart/form-data; boundary=x"}, 415),
    (b'{"content": "x"}', {"kind": ""}, 415),
    (b'{"content": "x"}', {"kind": "application/xml"}, 415),
    (b'{"content": "' + b"x" * 16 * 2**20 + b'"}', {}, 413),
    (b" " * (16 * 2**20 + 1), {}, 413),
]


def test_bodies_that_two_readers_could_read_differently(ann: Api) -> None:
    for raw, options, status in BODIES:
        answer = ann.post("thoughts/", raw=raw, **options)
        assert (raw[:80], answer.status, answer.body["request_id"]) == (
            raw[:80],
            status,
            answer.headers["X-Request-ID"],
        )
    assert ann.all_thoughts() == []


def test_a_large_body_is_refused_by_its_announced_length(ann: Api) -> None:
    answer = ann.client.post(
        "/api/v1/thoughts/",
        b"{}",
        content_type="application/json",
        headers={"x-brain-key": ann.key or "", "Content-Length": "99999999999999999999"},
    )
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (413, "too_large")


def test_what_is_allowed_in_a_body(ann: Api) -> None:
    for raw, options in (
        (b'\xef\xbb\xbf{"content": "bom"}', {}),
        (b'{"content": "charset"}', {"kind": 'application/json; charset="UTF-8"'}),
        (b'{"content": "identity"}', {"Content_Encoding": "identity"}),
        (b'{"content": "\\u00e4\\ud83d\\ude00"}', {}),
        (b'{"content": "number", "metadata": {"n": ' + b"9" * 200 + b"}}", {}),
    ):
        answer = ann.post("thoughts/", raw=raw, **options)
        assert (raw, answer.status) == (raw, 201)
    assert ann.all_thoughts() == ["number", "ä😀", "identity", "charset", "bom"]
    assert ann.get("thoughts/?limit=1").body["results"][0]["metadata"] == {"n": int("9" * 200)}


QUERIES: list[tuple[str, tuple[int, str, str | None]]] = [
    ("limit=0", (400, "min_value", "limit")),
    ("limit=101", (400, "max_value", "limit")),
    ("limit=-1", (400, "invalid", "limit")),
    ("limit=1e1", (400, "invalid", "limit")),
    ("limit=%D9%A3", (400, "invalid", "limit")),
    ("limit=", (400, "invalid", "limit")),
    ("limit=9999999999999999999999", (400, "invalid", "limit")),
    ("limit=1&limit=2", (400, "repeated", "limit")),
    ("days=0", (400, "min_value", "days")),
    ("days=36501", (400, "max_value", "days")),
    ("days=-1", (400, "invalid", "days")),
    ("days=1&since=2025-01-01T00:00:00Z", (400, "invalid", "days")),
    ("scope=all", (400, "invalid_choice", "scope")),
    ("scope=agent", (403, "permission_denied", "scope")),
    ("scope=personal&scope=corporate", (400, "repeated", "scope")),
    ("category=x", (400, "invalid_choice", "category")),
    ("category=", (400, "invalid_choice", "category")),
    ("since=2025-01-01", (400, "moment", "since")),
    ("since=2025-01-01T00:00:00", (400, "moment", "since")),
    ("since=2025-01-01T00:00:00+02:00", (400, "moment", "since")),  # a plus sign in a query is a space
    ("since=2025-02-01T00:00:00Z&until=2025-01-01T00:00:00Z", (400, "invalid", "until")),
    ("tag=%00", (400, "nul", "tag.0")),
    ("tags=a%00", (400, "nul", "tags")),
    ("node=", (400, "blank", "node")),
    ("node=%00", (400, "nul", "node")),
    ("node=Nowhere", (400, "not_found", "node")),
    ("node=a//b", (400, "invalid", "node")),
    ("page=2", (400, "unknown", "page")),
    ("content__startswith=a", (400, "unknown", "content__startswith")),
    ("user__password__startswith=p", (400, "unknown", "user__password__startswith")),
    ("_connector=OR", (400, "unknown", "_connector")),
    ("order_by=content", (400, "unknown", "order_by")),
    ("format=json", (400, "unknown", "format")),
    ("&".join(f"a{n}=1" for n in range(201)), (400, "parse_error", None)),
]


def test_what_a_list_refuses(ann: Api) -> None:
    for path in ("thoughts/", "recall-files/"):
        for query, cause in QUERIES:
            assert (query, ann.get(f"{path}?{query}").cause) == (query, cause)
    for path in ("nodes/", "trash/", "jobs/", "imports/", "brains/", "me/", "stats/", "search/"):
        assert ann.send("POST" if path == "search/" else "GET", f"{path}?x=1").cause == (400, "unknown", "x")


@pytest.mark.parametrize("zone", ["Z", "z", "+00:00", "-00:00", "+05:45", "-11:30", "+14:00"])
def test_moments_with_any_offset(ann: Api, zone: str) -> None:
    made = ann.capture("x", occurred_at=f"2025-03-30t02:30:00.123456{zone}")
    shift = {"Z": "02:30", "z": "02:30", "+00:00": "02:30", "-00:00": "02:30", "-11:30": "14:00"}
    days = {"+05:45": "2025-03-29T20:45", "+14:00": "2025-03-29T12:30"}
    expected = days.get(zone, f"2025-03-30T{shift.get(zone)}")
    assert made["occurred_at"] == f"{expected}:00.123456Z"
