"""Idempotency-Key: asked twice, made once."""

from typing import Any

from tests.api.conftest import Api

MESSAGE = {"role": "user", "content": "words"}
MAKING: tuple[tuple[str, Any, Any], ...] = (
    ("thoughts/", {"content": "one"}, {"content": "two"}),
    ("recall-files/", {"transcript": [MESSAGE]}, {"transcript": [MESSAGE], "title": "other"}),
    ("thoughts/bulk/", {"thoughts": [{"content": "one"}, {"content": " "}]}, {"thoughts": [{"content": "two"}]}),
)


def test_the_same_request_again_makes_nothing(ann: Api) -> None:
    for number, (path, body, other) in enumerate(MAKING):
        key = f"key-{number}"
        first = ann.post(path, body, Idempotency_Key=key)
        stored = ann.get("recall-files/?limit=100").body
        again = ann.post(path, body, Idempotency_Key=key)
        assert (first.status, again.status) == (201, 200)
        refused = ann.post(path, other, Idempotency_Key=key)
        assert refused.cause == (409, "conflict", "Idempotency-Key")
        assert ann.get("recall-files/?limit=100").body == stored
        assert ann.post(path, other).status == 201  # without the key it is a request of its own


def test_the_answer_is_that_of_the_first_time(ann: Api) -> None:
    first = ann.post("thoughts/", {"content": "one"}, Idempotency_Key="k")
    again = ann.post("thoughts/", {"content": "one"}, Idempotency_Key="k")
    assert (again.body, again.headers["Location"]) == (first.body, first.headers["Location"])
    bulk = {"thoughts": [{"content": "one"}, {"content": 5}, {"content": "two"}]}
    results = [ann.post("thoughts/bulk/", bulk, Idempotency_Key="b").body["results"] for _ in range(2)]
    assert results[0] == results[1]


def test_spacing_and_order_make_no_other_body_but_the_route_does(ann: Api) -> None:
    first = ann.post("thoughts/", raw=b'{"content": "one", "tags": []}', Idempotency_Key="k")
    again = ann.post("thoughts/", raw=b' {"tags":[],\n"content":"one"}', Idempotency_Key="k")
    assert (first.status, again.status) == (201, 200)
    elsewhere = ann.post("recall-files/", {"transcript": [MESSAGE]}, Idempotency_Key="k")
    assert elsewhere.cause == (409, "conflict", "Idempotency-Key")


def test_two_people_may_use_the_same_key(ann: Api, bob: Api) -> None:
    for scope in ("personal", "corporate"):
        bodies = [{"content": who, "scope": scope} for who in ("of ann", "of bob")]
        made = [
            api.post("thoughts/", body, Idempotency_Key=f"k{scope}")
            for api, body in zip((ann, bob), bodies, strict=True)
        ]
        assert [(answer.status, answer.body["content"]) for answer in made] == [(201, "of ann"), (201, "of bob")]


def test_an_append_is_made_once(ann: Api) -> None:
    made = ann.post("recall-files/", {"transcript": [MESSAGE]}).body
    path = f"recall-files/{made['id']}/messages/"
    first = ann.post(path, {"messages": [MESSAGE]}, Idempotency_Key="k")
    again = ann.post(path, {"messages": [MESSAGE]}, Idempotency_Key="k", If_Match='"1"')
    assert (again.status, again.body) == (200, first.body)
    assert len(ann.get(f"recall-files/{made['id']}/").body["transcript"]) == 2
    other = ann.post(path, {"messages": [MESSAGE, MESSAGE]}, Idempotency_Key="k")
    assert other.cause == (409, "conflict", "Idempotency-Key")


def test_the_key_itself_is_checked(ann: Api) -> None:
    assert ann.post("thoughts/", {"content": "x"}, Idempotency_Key="k" * 201).cause == (
        413,
        "too_large",
        "Idempotency-Key",
    )
    assert ann.post("thoughts/", {"content": "x"}, Idempotency_Key=" ").cause == (400, "invalid", "Idempotency-Key")
    assert ann.all_thoughts() == []


def test_a_repeat_after_an_edit_shows_what_is_there_now(ann: Api) -> None:
    made = ann.post("thoughts/", {"content": "one"}, Idempotency_Key="k").body
    edited = ann.patch(f"thoughts/{made['id']}/", {"content": "changed"}).body
    again = ann.post("thoughts/", {"content": "one"}, Idempotency_Key="k")
    assert (again.status, again.body) == (200, edited)
    ann.delete(f"thoughts/{made['id']}/")
    gone = ann.post("thoughts/", {"content": "one"}, Idempotency_Key="k")
    assert gone.cause == (404, "not_found", None)
