"""Who may ask: keys, sessions with CSRF, and the doors of programs."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

from accounts.keys import issue_key, revoke_key
from accounts.models import BrainKey
from brainsite.api.urls import urlpatterns as api_routes
from tests.api.conftest import ROOT, Api
from tests.cast import PASSWORD, Cast

RANDOM = "01890000-0000-7000-8000-000000000000"
PUBLIC = {"schema", "docs", "docs-script", "unknown"}
UNSAFE = (
    ("POST", "thoughts/"),
    ("POST", "thoughts/bulk/"),
    ("PATCH", f"thoughts/{RANDOM}/"),
    ("DELETE", f"thoughts/{RANDOM}/"),
    ("POST", "recall-files/"),
    ("PATCH", f"recall-files/{RANDOM}/"),
    ("DELETE", f"recall-files/{RANDOM}/"),
    ("POST", f"recall-files/{RANDOM}/messages/"),
    ("POST", "search/"),
    ("POST", "imports/"),
    ("DELETE", f"trash/{RANDOM}/"),
    ("POST", f"trash/{RANDOM}/restore/"),
    ("POST", "nodes/"),
    ("PATCH", f"nodes/{RANDOM}/"),
    ("POST", f"nodes/{RANDOM}/move/"),
    ("POST", "relationships/"),
    ("DELETE", f"relationships/{RANDOM}/"),
)
SAFE = (
    "thoughts/",
    f"thoughts/{RANDOM}/",
    f"thoughts/{RANDOM}/revisions/",
    "recall-files/",
    f"recall-files/{RANDOM}/",
    f"search/traces/{RANDOM}/",
    "nodes/",
    f"nodes/{RANDOM}/",
    f"nodes/{RANDOM}/index/",
    "relationships/",
    "graph/",
    "timeline/",
    "brains/",
    "me/",
    "stats/",
    "imports/",
    f"imports/{RANDOM}/",
    "jobs/",
    f"jobs/{RANDOM}/",
    "trash/",
)


def test_the_tables_above_name_every_route() -> None:
    routes = [route for route in api_routes if isinstance(route, URLPattern)]
    paths = {re.sub("<[^>]+>", RANDOM, str(route.pattern)) for route in routes if route.name not in PUBLIC}
    assert paths == {path for _, path in UNSAFE} | set(SAFE)


def test_without_a_good_key_every_route_answers_the_same(cast: Cast) -> None:
    expired = issue_key(organization_id=cast.acme.id, kind="person", label="old", user_id=cast.ann.user.id)
    BrainKey.objects.filter(id=expired.id).update(expires_at=timezone.now() - timedelta(seconds=1))
    revoked = issue_key(organization_id=cast.acme.id, kind="person", label="lost", user_id=cast.ann.user.id)
    assert Api(revoked.text).get("me/").status == 200
    revoke_key(revoked.id)
    wrong_secret = cast.ann.key[:-1] + ("a" if cast.ann.key[-1] != "a" else "b")
    other_kind = cast.ann.key.replace("person", "intent")
    bad = [None, "", "x", "brk_person_x_y", wrong_secret, other_kind, expired.text, revoked.text, "ä", "k" * 100_000]
    first = Api().get("me/")
    assert first.body == {
        "type": "client_error",
        "errors": [
            {
                "code": "not_authenticated",
                "detail": "A valid key is needed, in the header x-brain-key or as Authorization: Bearer.",
                "attr": None,
            }
        ],
        "request_id": first.headers["X-Request-ID"],
    }
    assert first.headers["WWW-Authenticate"] == 'Bearer realm="brain"'
    for key in bad:
        assert Api().get("me/", x_brain_key=key or "").without_id == first.without_id
        assert Api().get("me/", Authorization=f"Bearer {key or ''}").without_id == first.without_id
    for method, path in (*UNSAFE, *(("GET", path) for path in SAFE), *(("HEAD", path) for path in SAFE)):
        answer = Api().send(method, path, raw=b"{}")
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="brain"')
    assert Api().get(f"me/?key={cast.ann.key}").without_id == first.without_id


def test_a_key_in_the_query_string_is_refused_even_beside_a_good_one(cast: Cast, ann: Api) -> None:
    assert ann.get(f"me/?key={cast.ann.key}").cause == (400, "unknown", "key")


def test_a_key_in_two_headers(cast: Cast) -> None:
    both = {"x_brain_key": cast.ann.key, "Authorization": f"Bearer {cast.ann.key}"}
    assert Api().get("me/", **both).status == 200
    assert Api().get("me/", Authorization=f"bearer {cast.ann.key}").status == 200
    assert Api().get("me/", x_brain_key=cast.ann.key, Authorization="Basic eDp5").status == 200
    different = Api().get("me/", x_brain_key=cast.ann.key, Authorization=f"Bearer {cast.bob.key}")
    assert different.cause == (400, "parse_error", None)


def test_a_bad_key_is_not_helped_by_a_session(cast: Cast) -> None:
    browser = Client()
    browser.force_login(cast.ann.user)
    assert Api(client=browser).get("me/").status == 200
    assert Api("brk_person_x_y", client=browser).get("me/").cause == (401, "not_authenticated", None)
    assert Api(cast.bob.key, client=browser).get("me/").body["who"]["email"] == "bob@acme.test"


def test_a_session_writes_only_with_its_csrf_token(cast: Cast) -> None:
    browser = Client(enforce_csrf_checks=True)
    assert browser.login(username="ann@acme.test", password=PASSWORD)
    api = Api(client=browser)
    for kind in (
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        for method, path in UNSAFE:
            assert api.send(method, path, raw=b"{}", kind=kind).cause == (403, "permission_denied", None)
    token = "a" * 32
    browser.cookies[settings.CSRF_COOKIE_NAME] = token
    made = api.post("thoughts/", {"content": "by session"}, X_CSRFToken=token)
    assert (made.status, made.body["source"]) == (201, "web")
    assert api.post("thoughts/", {"content": "x"}, X_CSRFToken="b" * 32).status == 403
    assert api.all_thoughts() == ["by session"]


def test_with_a_key_cookies_and_csrf_play_no_part(cast: Cast) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.bob.user)
    assert Api(cast.ann.key, client=browser).capture("hers")["contributed_by"] == str(cast.ann.user.id)


def test_a_switched_off_holder_lets_nobody_in(cast: Cast, agent: Callable[[str], Api]) -> None:
    robot = agent("context")
    assert robot.get("me/").status == 200
    cast.robot.is_active = False
    cast.robot.save()
    cast.bob.user.is_active = False
    cast.bob.user.save()
    for api in (robot, Api(cast.bob.key)):
        assert api.get("me/").cause == (401, "not_authenticated", None)


# What the keys of programs get today: (method, path, body) -> status for agent, context and intent keys.
MATRIX: tuple[tuple[str, str, Any, tuple[int, int, int]], ...] = (
    ("POST", "thoughts/", {"content": "x"}, (403, 403, 403)),
    ("POST", "thoughts/", {"content": "x", "scope": "corporate"}, (403, 403, 403)),
    ("POST", "thoughts/", {"content": "x", "scope": "agent"}, (403, 403, 403)),
    ("POST", "thoughts/bulk/", {"thoughts": [{"content": "x"}], "scope": "agent"}, (403, 403, 403)),
    ("POST", "recall-files/", {"transcript": [{"role": "user", "content": "x"}], "scope": "agent"}, (403, 403, 403)),
    ("POST", "recall-files/{shared}/messages/", {"messages": [{"role": "user", "content": "x"}]}, (404, 403, 403)),
    ("GET", "thoughts/", None, (403, 403, 403)),
    ("GET", "thoughts/?scope=personal", None, (403, 403, 403)),
    ("GET", "thoughts/?scope=corporate", None, (403, 200, 200)),
    ("GET", "thoughts/?scope=agent", None, (403, 200, 200)),
    ("GET", "thoughts/{shared}/", None, (404, 200, 200)),
    ("GET", "thoughts/{shared}/revisions/", None, (404, 403, 403)),
    ("GET", "thoughts/{private}/", None, (404, 404, 404)),
    ("PATCH", "thoughts/{shared}/", {"tags": ["x"]}, (404, 403, 403)),
    ("PATCH", "thoughts/{private}/", {"tags": ["x"]}, (404, 404, 404)),
    ("DELETE", "thoughts/{shared}/", None, (404, 403, 403)),
    ("DELETE", "thoughts/{private}/", None, (404, 404, 404)),
    ("GET", "recall-files/?scope=corporate", None, (403, 200, 200)),
    ("GET", "recall-files/{shared}/", None, (404, 200, 200)),
    ("GET", "recall-files/{private}/", None, (404, 404, 404)),
    ("POST", "search/", {"query": "x"}, (403, 403, 403)),
    ("POST", "search/", {"query": "x", "scope": "personal"}, (403, 403, 403)),
    ("POST", "search/", {"query": "x", "scope": "corporate"}, (403, 200, 200)),
    ("POST", "search/", {"query": "x", "scope": "agent"}, (403, 200, 200)),
    ("GET", "nodes/", None, (403, 200, 200)),
    ("GET", "nodes/?scope=personal", None, (403, 403, 403)),
    ("GET", "nodes/{shared_node}/", None, (403, 200, 200)),
    ("GET", "nodes/{private_node}/", None, (403, 404, 404)),
    ("GET", "nodes/{shared_node}/index/", None, (403, 200, 200)),
    ("GET", "nodes/{private_node}/index/", None, (403, 404, 404)),
    ("POST", "nodes/", {"path": "Taken", "scope": "corporate"}, (403, 403, 403)),
    ("POST", "nodes/", {"path": "Taken", "scope": "agent"}, (403, 403, 403)),
    ("PATCH", "nodes/{shared_node}/", {"name": "Taken"}, (403, 403, 403)),
    ("PATCH", "nodes/{private_node}/", {"name": "Taken"}, (403, 404, 404)),
    ("POST", "nodes/{shared_node}/move/", {"parent": None}, (403, 403, 403)),
    ("GET", "relationships/", None, (403, 200, 200)),
    ("DELETE", "relationships/{edge}/", None, (403, 403, 403)),
    ("GET", "graph/", None, (403, 200, 200)),
    ("GET", "timeline/", None, (403, 200, 200)),
    ("GET", "brains/", None, (200, 200, 200)),
    ("GET", "me/", None, (200, 200, 200)),
    ("GET", "stats/", None, (403, 403, 403)),
    ("GET", "jobs/", None, (403, 403, 403)),
    ("GET", "imports/", None, (403, 403, 403)),
    ("POST", "imports/", None, (403, 403, 403)),
    ("GET", "trash/", None, (403, 403, 403)),
    ("DELETE", "trash/{shared}/", None, (403, 403, 403)),
    ("POST", "trash/{shared}/restore/", None, (403, 403, 403)),
)


def test_programs_reach_what_is_theirs_and_never_a_personal_word(ann: Api, agent: Callable[[str], Api]) -> None:
    def everything() -> list[Any]:
        return [ann.get(path).body for path in ("recall-files/?limit=100", "nodes/", "relationships/")]

    private = ann.capture("canary words", node="Canary", tags=["canary"])["id"]
    shared_parent = ann.post("nodes/", {"path": "Shared", "scope": "corporate"}).body["id"]
    shared_memory = [ann.capture("shared words", scope="corporate", node="Shared/Nest") for _ in range(5)][-1]
    shared, shared_node = shared_memory["id"], shared_memory["node"]["id"]
    ends = {"source_node_id": shared_node, "target_node_id": shared_parent, "relationship": "informs"}
    ids = {
        "private": private,
        "shared": shared,
        "shared_node": shared_node,
        "private_node": ann.get(f"thoughts/{private}/").body["node"]["id"],
        "edge": ann.post("relationships/", ends).body["id"],
    }
    apis = [agent(kind) for kind in ("agent", "context", "intent")]
    before = everything()
    for method, path, body, expected in MATRIX:
        answers = [api.send(method, path.format(**ids), body) for api in apis]
        assert (path, body, tuple(answer.status for answer in answers)) == (path, body, expected)
        assert [answer for answer in answers if b"anary" in answer.raw] == []
    assert everything() == before
    assert {row["content"] for row in apis[1].get("thoughts/?scope=corporate").body["results"]} == {"shared words"}


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PUT", "FOO"])
def test_other_methods_pass_the_same_gate(cast: Cast, method: str) -> None:
    assert Api().send(method, "me/").status == 401
    answer = Api(cast.ann.key).send(method, "me/", X_HTTP_Method_Override="GET")
    assert answer.cause == (405, "method_not_allowed", None)
    assert answer.headers["Allow"] == "GET, HEAD"


def test_head_is_get_without_its_words(ann: Api) -> None:
    made = ann.capture("words")
    answer = ann.send("HEAD", f"thoughts/{made['id']}/")
    assert (answer.status, answer.raw, answer.headers["ETag"]) == (200, b"", '"1"')


def test_nothing_may_be_stored_by_a_cache(ann: Api) -> None:
    made = ann.capture("words")["id"]
    for answer in (ann.get("me/"), ann.get(f"thoughts/{made}/"), ann.get("nope/"), Api().get("me/"), ann.post("me/")):
        assert answer.headers["Cache-Control"] == "no-store"
    assert Api().client.get(ROOT + "me/")["Cache-Control"] == "no-store"
