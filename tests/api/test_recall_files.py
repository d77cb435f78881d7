"""recall-files/ and trash/: transcripts in the shape of the specification, only ever continued."""

from typing import Any
from unittest.mock import ANY

from tests.api.conftest import Api
from tests.cast import Cast

TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "user", "content": "What does Widget Pro need? ", "timestamp": "2025-01-08T14:30:15Z", "speaker": "Ann"},
    {"role": "assistant", "content": "A minimum of 4GB RAM.", "timestamp": "2025-01-08T14:30:18.123456Z"},
    {
        "role": "tool",
        "content": "{}",
        "kind": "call",
        "visible": False,
        "branch": "b1",
        "attachments": [{"kind": "image", "caption": "a zorkmid"}],
    },
]


def conversation(**more: Any) -> dict[str, Any]:
    return {
        "scope": "personal",
        "title": "Widget Pro specs",
        "platform": "claude.ai",
        "conversation_type": "text",
        "occurred_at": "2025-01-08T14:30:00Z",
        "source_key": "chat-1",
        "node": "Sales/Products",
        "tags": ["product"],
        "metadata": {"duration_minutes": 23},
        "transcript": TRANSCRIPT,
        **more,
    }


def row(cast: Cast, **more: Any) -> dict[str, Any]:
    return {
        "id": ANY,
        "recall_id": "widget-pro-specs-2025-01-08",
        "node_id": ANY,
        "node": {"id": ANY, "path": "Sales/Products"},
        "scope": "personal",
        "kind": "conversation",
        "title": "Widget Pro specs",
        "platform": "claude.ai",
        "conversation_type": "text",
        "category": "thought",
        "visibility": "team",
        "tags": ["product"],
        "metadata": {"duration_minutes": 23, "message_count": 3, "defining_memory": False, "tags": ["product"]},
        "summary": "",
        "source": "test key",
        "source_key": "chat-1",
        "contributed_by": str(cast.ann.user.id),
        "trust": "human",
        "embedding_state": "pending",
        "filed_by": ANY,
        "filing_suggestion": None,
        "revision": 1,
        "occurred_at": "2025-01-08T14:30:00Z",
        "created_at": ANY,
        "updated_at": ANY,
        **more,
    }


SHOWN = [
    {"position": 0, **TRANSCRIPT[0]},
    {"position": 1, "speaker": "", **TRANSCRIPT[1]},
    {"position": 2, "speaker": "", "timestamp": None, **TRANSCRIPT[2]},
]


def test_a_transcript_is_shown_as_it_was_given(ann: Api, cast: Cast) -> None:
    made = ann.post("recall-files/", conversation())
    assert (made.status, made.body) == (201, row(cast))
    assert made.body["node_id"] == made.body["node"]["id"]
    assert made.headers["Location"] == f"/api/v1/recall-files/{made.body['id']}/"
    read = ann.get("recall-files/widget-pro-specs-2025-01-08/")
    assert (read.status, read.body) == (200, row(cast, transcript=SHOWN))
    assert (read.headers["ETag"], made.headers["ETag"]) == ('"1"', '"1"')
    assert ann.get("recall-files/").body == {"results": [made.body], "next_cursor": None}


def test_the_words_of_attachments_are_found(ann: Api) -> None:
    made = ann.post("recall-files/", conversation()).body
    hits = ann.post("search/", {"query": "zorkmid"}).body["hits"]
    assert [(hit["id"], hit["first_message"]) for hit in hits] == [(made["id"], 2)]


def test_lists_hold_every_kind_and_can_be_narrowed(ann: Api) -> None:
    ann.post("recall-files/", conversation())
    ann.post("recall-files/", conversation(kind="document", title="Manual", source_key="d", scope="corporate"))
    ann.capture("a thought")

    def found(query: str) -> list[str]:
        return [each["kind"] for each in ann.get(f"recall-files/?{query}").body["results"]]

    assert found("") == ["thought", "document", "conversation"]
    assert found("kind=document") == ["document"]
    assert found("kind=conversation&scope=corporate") == []
    assert found("node=Sales&scope=personal&tag=product") == ["conversation"]


def test_every_id_is_taken_by_both_routes(ann: Api) -> None:
    chat, note = ann.post("recall-files/", conversation()).body, ann.capture("a thought")
    as_thought, as_file = ann.get(f"thoughts/{chat['id']}/"), ann.get(f"recall-files/{note['id']}/")
    assert (as_thought.body["kind"], as_thought.body["content"]) == ("conversation", None)
    assert [message["content"] for message in as_file.body["transcript"]] == ["a thought"]


def test_messages_are_appended_at_the_end(ann: Api, cast: Cast) -> None:
    made = ann.post("recall-files/", conversation()).body
    path = f"recall-files/{made['id']}/"
    more = {"role": "user", "content": "And the frobnicator? ", "speaker": "Ann", "timestamp": "2025-01-08T15:00:00Z"}
    answer = ann.post(path + "messages/", {"messages": [more]}, If_Match='"1"')
    metadata = {**made["metadata"], "message_count": 4}
    expected = row(cast, revision=2, metadata=metadata)
    assert (answer.status, answer.body, answer.headers["ETag"]) == (200, expected, '"2"')
    assert ann.get(path).body["transcript"] == [*SHOWN, {"position": 3, **more}]
    hits = ann.post("search/", {"query": "frobnicator"}).body["hits"]
    assert [(hit["id"], hit["first_message"]) for hit in hits] == [(made["id"], 3)]


def test_an_append_that_is_refused_appends_nothing(ann: Api) -> None:
    made, note = ann.post("recall-files/", conversation()).body, ann.capture("a thought")
    path = f"recall-files/{made['id']}/messages/"
    good = {"role": "user", "content": "x"}

    def cause(body: Any, **headers: str) -> tuple[int, str, str | None]:
        return ann.post(path, body, **headers).cause

    assert cause({"messages": [good]}, If_Match='"7"') == (412, "stale", "If-Match")
    assert cause({"messages": []}) == (400, "empty", "messages")
    assert cause({"messages": [good, {"role": "user", "content": " "}]}) == (400, "invalid", "messages.1.content")
    assert cause({"messages": [good, {"role": "king", "content": "x"}]}) == (400, "invalid_choice", "messages.1.role")
    assert cause({"messages": [{**good, "position": 0}]}) == (400, "unknown", "messages.0.position")
    assert cause({"messages": [{**good, "visible": "true"}]}) == (400, "invalid", "messages.0.visible")
    assert cause({"messages": [{**good, "attachments": ["x"]}]}) == (400, "invalid", "messages.0.attachments.0")
    deep: Any = 1
    for _ in range(30):
        deep = [deep]
    assert cause({"messages": [{**good, "attachments": [{"a": deep}]}]}) == (400, "invalid", "messages.0.details")
    on_thought = ann.post(f"recall-files/{note['id']}/messages/", {"messages": [good]})
    assert on_thought.cause == (400, "invalid", "id")
    assert ann.get(f"recall-files/{made['id']}/").body == {**made, "transcript": SHOWN}


def test_a_known_source_key_continues_the_transcript(ann: Api) -> None:
    made = ann.post("recall-files/", conversation())
    same = ann.post("recall-files/", conversation())
    longer = ann.post("recall-files/", conversation(transcript=[*TRANSCRIPT, {"role": "user", "content": "more"}]))
    other = ann.post("recall-files/", conversation(transcript=TRANSCRIPT[1:]))
    assert (same.status, same.body) == (200, made.body)
    metadata = {**made.body["metadata"], "message_count": 4}
    grown = {**made.body, "metadata": metadata, "revision": 2, "updated_at": ANY}
    assert (longer.status, longer.body) == (200, grown)
    assert other.cause == (409, "conflict", "source_key")


def test_an_edit_never_touches_the_words(ann: Api) -> None:
    made = ann.post("recall-files/", conversation()).body
    path = f"recall-files/{made['id']}/"
    changed = ann.patch(path, {"tags": ["x"], "category": "knowledge", "node": "Other"}, If_Match='"1"')
    assert (changed.status, changed.body) == (
        200,
        {
            **made,
            "tags": ["x"],
            "category": "knowledge",
            "node": {"id": ANY, "path": "Other"},
            "node_id": ANY,
            "metadata": {**made["metadata"], "tags": ["x"]},
            "revision": 2,
            "updated_at": ANY,
        },
    )
    assert ann.patch(path, {"content": "x"}).cause == (400, "unknown", "content")
    assert ann.patch(path, {"transcript": []}).cause == (400, "unknown", "transcript")
    assert ann.patch(f"thoughts/{made['id']}/", {"content": "x"}).cause == (400, "invalid", "content")
    assert ann.get(path).body == {**changed.body, "transcript": SHOWN}


def test_what_a_source_says_of_itself_cannot_change_the_counts(ann: Api) -> None:
    made = ann.post("recall-files/", conversation(metadata={"message_count": 99, "tags": ["no"], "mood": "good"})).body
    assert made["metadata"] == {
        "duration_minutes": None,
        "message_count": 3,
        "defining_memory": False,
        "tags": ["product"],
        "mood": "good",
    }


def test_provenance_comes_from_the_key_alone(ann: Api) -> None:
    forged = {
        **dict.fromkeys(("id", "source", "contributed_by", "trust", "created_at", "recall_id", "brain_id"), "x"),
        **dict.fromkeys(("state", "embedding_state", "summary", "memory_count", "organization", "user_id"), "x"),
        "revision": 7,
        "embedding": [0.1],
    }
    for name, value in forged.items():
        for path, body in (("recall-files/", conversation()), ("thoughts/", {"content": "x"})):
            assert ann.post(path, {**body, name: value}).cause == (400, "unknown", name)
    assert ann.get("recall-files/").body["results"] == []


def test_the_trash_keeps_what_is_deleted_until_it_is_restored_or_erased(ann: Api, cast: Cast) -> None:
    made = ann.post("recall-files/", conversation()).body
    path = f"trash/{made['id']}/"
    assert ann.get("trash/").body == {"results": [], "next_cursor": None}
    assert ann.delete(f"recall-files/{made['id']}/").status == 204
    trashed = {**made, "revision": 2, "updated_at": ANY, "purge_after": ANY}
    assert ann.get("trash/").body == {"results": [trashed], "next_cursor": None}
    assert ann.get("recall-files/").body["results"] == []
    back = ann.post(path + "restore/")
    restored = {**made, "revision": 3, "updated_at": ANY}
    assert (back.status, back.body, back.headers["ETag"]) == (200, restored, '"3"')
    assert ann.get(f"recall-files/{made['id']}/").body == {**restored, "transcript": SHOWN}
    assert [hit["id"] for hit in ann.post("search/", {"query": "zorkmid"}).body["hits"]] == [made["id"]]
    for answer in (ann.post(path + "restore/"), ann.delete(path)):  # it is not in the trash any more
        assert answer.cause == (404, "not_found", None)
    ann.delete(f"recall-files/{made['id']}/")
    erased = ann.delete("trash/widget-pro-specs-2025-01-08/")
    assert (erased.status, erased.raw) == (204, b"")
    assert ann.get("trash/").body["results"] == []
    assert ann.post(path + "restore/").cause == (404, "not_found", None)


def test_the_trash_comes_in_pages_and_shows_what_one_may_restore(ann: Api, bob: Api) -> None:
    of_bob = bob.capture("bob shares", scope="corporate")["id"]
    of_ann = [ann.capture(text, scope=scope)["id"] for text, scope in (("a", "corporate"), ("b", "personal"))]
    assert bob.delete(f"thoughts/{of_bob}/").status == 204
    assert [ann.delete(f"thoughts/{each}/").status for each in of_ann] == [204, 204]
    first = ann.get("trash/?limit=2").body
    second = ann.get(f"trash/?limit=2&cursor={first['next_cursor']}").body
    assert [row["id"] for row in first["results"] + second["results"]] == [*reversed(of_ann), of_bob]
    assert [row["id"] for row in bob.get("trash/").body["results"]] == [of_bob]  # Ann curates, Bob does not
    assert bob.post(f"trash/{of_ann[0]}/restore/").cause == (403, "permission_denied", None)


def test_a_source_key_taken_meanwhile_stops_a_restore(ann: Api) -> None:
    made = ann.capture("one", source_key="k")
    ann.delete(f"thoughts/{made['id']}/")
    ann.capture("two", source_key="k")
    assert ann.post(f"trash/{made['id']}/restore/").cause == (409, "conflict", "source_key")
    assert ann.all_thoughts() == ["two"]
