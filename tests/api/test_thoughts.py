"""thoughts/: what goes in comes out, byte for byte; pages, edits and their conditions."""

from typing import Any
from unittest.mock import ANY

from django.test import override_settings

from tests.api.conftest import Api
from tests.cast import Cast


def thought(cast: Cast, **more: Any) -> dict[str, Any]:
    """A thought of Ann's as it is shown, with what the test says about it."""
    return {
        "id": ANY,
        "recall_id": ANY,
        "scope": "personal",
        "kind": "thought",
        "content": ANY,
        "category": "thought",
        "tags": [],
        "visibility": "team",
        "node": {"id": ANY, "path": "Inbox"},
        "metadata": {},
        "source": "test key",
        "source_key": None,
        "contributed_by": str(cast.ann.user.id),
        "trust": "human",
        "embedding_state": "pending",
        "filed_by": ANY,
        "filing_suggestion": None,
        "revision": 1,
        "occurred_at": ANY,
        "created_at": ANY,
        "updated_at": ANY,
        **more,
    }


def test_a_captured_thought_is_shown_as_it_was_given(ann: Api, cast: Cast) -> None:
    given = {
        "content": "Zorkmid notes: 12 % off.\n\ttabs, trailing spaces  ",
        "category": "idea",
        "tags": ["Sales", "q3"],
        "visibility": "public",
        "node": "Business/Sales/Pricing",
        "occurred_at": "2025-01-08T16:30:00+02:00",
        "source_key": "note-1",
        "metadata": {"from": "phone", "n": 1.5, "deep": [{"a": None}]},
    }
    made = ann.post("thoughts/", given)
    expected = thought(
        cast,
        **{**given, "node": {"id": ANY, "path": "Business/Sales/Pricing"}, "occurred_at": "2025-01-08T14:30:00Z"},
    )
    assert (made.status, made.body) == (201, expected)
    assert made.headers["ETag"] == '"1"'
    assert made.headers["Location"] == f"/api/v1/thoughts/{made.body['id']}/"
    by_id, by_slug = ann.get(f"thoughts/{made.body['id']}/"), ann.get(f"thoughts/{made.body['recall_id']}/")
    assert (by_id.status, by_id.body, by_id.headers["ETag"]) == (200, made.body, '"1"')
    assert by_slug.body == made.body
    assert made.body["recall_id"].endswith("-2025-01-08")


def test_the_smallest_thought(ann: Api, cast: Cast) -> None:
    made = ann.post("thoughts/", {"content": "x"})
    assert (made.status, made.body) == (201, thought(cast, content="x"))


def test_null_is_as_good_as_absent_for_what_is_optional(ann: Api, cast: Cast) -> None:
    made = ann.post("thoughts/", {"content": "x", "node": None, "occurred_at": None, "source_key": None})
    assert (made.status, made.body) == (201, thought(cast, content="x"))


def test_a_known_source_key_makes_nothing_new(ann: Api) -> None:
    first = ann.post("thoughts/", {"content": "one", "source_key": "k"})
    again = ann.post("thoughts/", {"content": "one", "source_key": "k"})
    other = ann.post("thoughts/", {"content": "two", "source_key": "k"})
    assert (again.status, again.body) == (200, first.body)
    assert other.cause == (409, "conflict", "source_key")
    assert ann.all_thoughts() == ["one"]


def test_lists_are_narrowed_by_every_filter(ann: Api) -> None:
    ann.capture("old", occurred_at="2020-01-01T00:00:00Z", tags=["a"], node="Work/Old")
    ann.capture("new", tags=["a", "b c"], category="idea", node="Work/New")
    ann.capture("shared", scope="corporate", tags=["a"])

    def found(query: str) -> list[str]:
        return [row["content"] for row in ann.get(f"thoughts/?{query}").body["results"]]

    assert found("") == ["shared", "new", "old"]
    assert found("scope=personal") == ["new", "old"]
    assert found("scope=corporate") == ["shared"]
    assert found("category=idea") == ["new"]
    assert found("tag=a") == ["shared", "new", "old"]
    assert found("tag=a&tag=b+c") == ["new"]
    assert found("tags=a,b+c") == ["new"]
    assert found("node=work") == ["new", "old"]
    assert found("node=Work/Old") == ["old"]
    assert found("until=2020-01-01T00:00:00Z") == ["old"]
    assert found("since=2020-01-01T00:00:01Z") == ["shared", "new"]
    assert found("since=2019-12-31T23:00:00-01:00&until=2020-06-01T00:00:00%2B02:00") == ["old"]
    assert found("days=1") == ["shared", "new"]
    assert found("days=36500&limit=1") == ["shared"]


def test_a_walk_through_pages_sees_each_once_while_others_come_in(ann: Api) -> None:
    for number in range(7):
        ann.capture(f"before {number}")
    seen: list[str] = []
    path = "thoughts/?limit=3"
    for late in range(3):
        page = ann.get(path).body
        seen += [row["content"] for row in page["results"]]
        ann.capture(f"late {late}")
        path = f"thoughts/?limit=3&cursor={page['next_cursor']}"
    assert seen == [f"before {number}" for number in (6, 5, 4, 3, 2, 1, 0)]
    assert page["next_cursor"] is None


def test_a_cursor_is_for_its_own_list_and_asker(ann: Api, bob: Api) -> None:
    for api in (ann, bob):
        api.capture("one", scope="corporate")
        api.capture("two", scope="corporate")
    cursor = ann.get("thoughts/?limit=1").body["next_cursor"]
    assert ann.get(f"thoughts/?cursor={cursor}").status == 200
    refused = (400, "invalid", "cursor")
    flipped = ("B" if cursor[0] == "A" else "A") + cursor[1:]
    for forged in (flipped, cursor[:-4], cursor + "AAAA", "x", "ä", "=", "AAAA" * 12):
        assert ann.get(f"thoughts/?cursor={forged}").cause == refused
    assert bob.get(f"thoughts/?cursor={cursor}").cause == refused
    assert ann.get(f"recall-files/?cursor={cursor}").cause == refused


def test_an_edit_changes_what_it_names_and_keeps_the_earlier_words(ann: Api, cast: Cast) -> None:
    made = ann.capture("first words", tags=["a"], category="idea")
    path = f"thoughts/{made['id']}/"
    tagged = ann.patch(path, {"tags": ["b"]}, If_Match='"1"')
    assert (tagged.status, tagged.body) == (200, {**made, "tags": ["b"], "revision": 2, "updated_at": ANY})
    changes = {"content": "second words", "category": "knowledge", "visibility": "public", "node": "Work/Done"}
    changed = ann.patch(path, changes, If_Match='"2"')
    place = {"node": {"id": ANY, "path": "Work/Done"}, "filed_by": "person"}
    expected = {**tagged.body, **changes, **place, "revision": 3, "updated_at": ANY}
    assert (changed.status, changed.body, changed.headers["ETag"]) == (200, expected, '"3"')
    assert ann.get(path).body == expected
    earlier = ann.get(path + "revisions/")
    row = {"revision": 2, "content": "first words", "edited_by": str(cast.ann.user.id), "created_at": ANY}
    assert (earlier.status, earlier.body) == (200, {"results": [row], "next_cursor": None})


def test_revisions_come_in_pages(ann: Api) -> None:
    made = ann.capture("words 1")
    for number in (2, 3, 4):
        ann.patch(f"thoughts/{made['id']}/", {"content": f"words {number}"})
    path = f"thoughts/{made['id']}/revisions/?limit=2"
    first = ann.get(path).body
    second = ann.get(f"{path}&cursor={first['next_cursor']}").body
    pages = [[row["content"] for row in page["results"]] for page in (first, second)]
    assert pages == [["words 3", "words 2"], ["words 1"]]
    assert second["next_cursor"] is None


def test_a_stale_edit_changes_nothing(ann: Api) -> None:
    made = ann.capture("words")
    path = f"thoughts/{made['id']}/"
    ann.patch(path, {"tags": ["a"]})
    now = ann.get(path).body
    for stale in ('"1"', '"3"', '"abc"', '""'):
        assert ann.patch(path, {"content": "other"}, If_Match=stale).cause == (412, "stale", "If-Match")
        assert ann.delete(path, If_Match=stale).cause == (412, "stale", "If-Match")
    for broken in ("2", 'W/"2"', '"2", "3"', "", '"2'):
        assert ann.patch(path, {"content": "other"}, If_Match=broken).cause == (400, "invalid", "If-Match")
    assert ann.get(path).body == now
    assert ann.patch(path, {"tags": []}, If_Match="*").body == {**now, "tags": [], "revision": 3, "updated_at": ANY}


def test_what_an_edit_refuses(ann: Api) -> None:
    made = ann.capture("words")
    path = f"thoughts/{made['id']}/"
    assert ann.patch(path, {}).cause == (400, "invalid", None)
    assert ann.patch(path, {"source": "me"}).cause == (400, "unknown", "source")
    assert ann.patch(path, {"scope": "corporate"}).cause == (400, "unknown", "scope")
    assert ann.patch(path, {"category": None}).cause == (400, "null", "category")
    assert ann.patch(path, {"content": " \n"}).cause == (400, "invalid", "content")
    assert ann.patch(path, {"content": ""}).cause == (400, "blank", "content")
    assert ann.patch(path, {"node": "a//b"}).cause == (400, "invalid", "node")
    assert ann.get(path).body == made


def test_a_deleted_thought_is_gone_at_once(ann: Api) -> None:
    made = ann.capture("zorkmid")
    path = f"thoughts/{made['id']}/"
    gone = ann.delete(path, If_Match='"1"')
    assert (gone.status, gone.raw) == (204, b"")
    assert ann.all_thoughts() == []
    assert ann.post("search/", {"query": "zorkmid"}).body["hits"] == []
    for answer in (ann.get(path), ann.patch(path, {"tags": []}), ann.delete(path), ann.get(path + "revisions/")):
        assert answer.cause == (404, "not_found", None)


def test_bulk_keeps_what_is_good_and_says_what_is_not(ann: Api) -> None:
    ann.capture("known", source_key="k")
    thoughts: list[Any] = [
        {"content": "one", "tags": ["a"], "node": "Work"},
        {"content": 5},
        {"content": "two", "source_key": "s"},
        {"content": " "},
        {"content": "x", "scope": "corporate"},
        {"content": "other", "source_key": "k"},
        {"content": "nul \0"},
        {},
        {"content": "x", "node": "01890000-0000-7000-8000-000000000000"},
        {"content": "x", "occurred_at": "2025-01-01"},
        {"content": "x", "tags": ["ok", 7]},
    ]
    answer = ann.post("thoughts/bulk/", {"scope": "personal", "thoughts": thoughts})
    made = {"id": ANY, "embedding_state": "pending"}

    def error(code: str, attr: str) -> dict[str, Any]:
        return {"error": {"code": code, "detail": ANY, "attr": attr}}

    assert (answer.status, answer.body) == (
        201,
        {
            "results": [
                made,
                error("invalid", "thoughts.1.content"),
                made,
                error("invalid", "thoughts.3.content"),
                error("unknown", "thoughts.4.scope"),
                error("conflict", "thoughts.5.source_key"),
                error("nul", "thoughts.6.content"),
                error("required", "thoughts.7.content"),
                error("not_found", "thoughts.8.node"),
                error("moment", "thoughts.9.occurred_at"),
                error("invalid", "thoughts.10.tags.1"),
            ]
        },
    )
    assert set(ann.all_thoughts()) == {"one", "two", "known"}
    assert ann.get(f"thoughts/{answer.body['results'][0]['id']}/").body["tags"] == ["a"]
    again = ann.post("thoughts/bulk/", {"thoughts": thoughts[2:3]})
    assert (again.status, again.body["results"]) == (200, [answer.body["results"][2]])


def test_bulk_as_a_whole_refuses(ann: Api) -> None:
    def cause(body: Any) -> tuple[int, str, str | None]:
        return ann.post("thoughts/bulk/", body).cause

    with override_settings(BULK_ITEMS=1_000):
        assert cause({"thoughts": [{"content": "x"}] * 1_001}) == (400, "max_length", "thoughts")
    assert cause({"thoughts": []}) == (400, "min_length", "thoughts")
    assert cause({"thoughts": [{"content": "x"}, 5]}) == (400, "invalid", "thoughts.1")
    assert cause({"thoughts": {"content": "x"}}) == (400, "not_a_list", "thoughts")
    assert cause({}) == (400, "required", "thoughts")
    assert cause({"thoughts": [{"content": "x"}], "scope": "agent"}) == (403, "permission_denied", "scope")
    assert ann.all_thoughts() == []


def test_a_thousand_at_once(ann: Api) -> None:
    answer = ann.post("thoughts/bulk/", {"thoughts": [{"content": f"note {number}"} for number in range(1_000)]})
    assert answer.status == 201
    assert len({result["id"] for result in answer.body["results"]}) == 1_000
    assert ann.get("stats/").body["by_scope"] == {"personal": 1_000}
