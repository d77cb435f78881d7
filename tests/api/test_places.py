"""brains/, me/, nodes/ and stats/."""

from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

from accounts.people import ensure_person
from tests.api.conftest import Api
from tests.cast import Cast, _person


def brain(cast: Cast, scope: str, *, read: bool = True, write: bool = True) -> dict[str, Any]:
    ids = {ref.scope.value: ref.id for ref in cast.ann.actor.readable}
    return {"id": str(ids[scope]) if scope in ids else ANY, "scope": scope, "may_read": read, "may_write": write}


def test_brains_say_what_the_key_opens(cast: Cast, ann: Api, agent: Callable[[str], Api]) -> None:
    def found(api: Api) -> Any:
        return api.get("brains/").body

    assert found(ann) == {"results": [brain(cast, "personal"), brain(cast, "corporate")], "next_cursor": None}
    shared = [brain(cast, "corporate", read=False), brain(cast, "agent", read=False)]
    assert found(agent("agent")) == {"results": shared, "next_cursor": None}
    read_only = [brain(cast, "corporate", write=False), brain(cast, "agent", write=False)]
    assert found(agent("context")) == {"results": read_only, "next_cursor": None}
    mixed = [brain(cast, "corporate", write=False), brain(cast, "agent")]
    assert found(agent("intent")) == {"results": mixed, "next_cursor": None}
    viewer = Api(_person(cast.acme, "vic@acme.test", "viewer").key)
    assert [b["may_write"] for b in found(viewer)["results"]] == [True, False]


def test_me_never_shows_the_key(cast: Cast, ann: Api, agent: Callable[[str], Api]) -> None:
    answer = ann.get("me/")
    organization = {"id": str(cast.acme.id), "slug": "acme", "name": "Acme"}
    assert answer.body == {
        "who": {"kind": "user", "id": str(cast.ann.user.id), "name": "", "email": "ann@acme.test", "role": "owner"},
        "organization": organization,
        "door": "person",
        "brains": [brain(cast, "personal"), brain(cast, "corporate")],
        "key": {"id": ANY, "label": "test key", "expires_at": None},
    }
    assert cast.ann.key.rpartition("_")[2].encode() not in answer.raw
    robot = agent("agent").get("me/").body
    assert robot["who"] == {"kind": "agent", "id": str(cast.robot.id), "name": "robot", "email": None, "role": None}
    assert (robot["door"], robot["organization"]) == ("agent", organization)


def test_nodes_make_a_tree_with_exact_counts(cast: Cast, ann: Api) -> None:
    ann.capture("one", node="Work/Sales/Pricing")
    ann.capture("two", node="work/sales")
    ann.capture("three")
    ann.capture("four", scope="corporate", node="Business")
    nodes = ann.get("nodes/").body["results"]

    def node(scope: str, path: str, kind: str, count: int, **more: Any) -> dict[str, Any]:
        return {
            "id": ANY,
            "node_id": ANY,
            "brain_id": brain(cast, scope)["id"],
            "scope": scope,
            "name": path.rpartition("/")[2],
            "aliases": [],
            "type": kind,
            "parent_id": None,
            "path": path,
            "category": path.partition("/")[0],
            "memory_count": count,
            "connections": [],
            "created_at": ANY,
            "last_accessed": None,
            "archived_at": None,
            **more,
        }

    assert nodes == [
        node("personal", "Inbox", "topic", 1),
        node("personal", "Work", "category", 2),
        node("personal", "Work/Sales", "concept", 2, parent_id=nodes[1]["id"]),
        node("personal", "Work/Sales/Pricing", "topic", 1, parent_id=nodes[2]["id"]),
        node("corporate", "Business", "category", 1),
    ]
    assert [each["path"] for each in ann.get("nodes/?scope=corporate").body["results"]] == ["Business"]
    one = ann.get(f"nodes/{nodes[3]['id']}/")
    assert (one.status, one.body) == (200, nodes[3])
    assert ann.get("nodes/?scope=agent").cause == (403, "permission_denied", "scope")


def test_numbers_are_the_callers_own(ann: Api, bob: Api, cast: Cast) -> None:
    ann.capture("one", tags=["a", "b"], category="idea")
    ann.capture("two", tags=["a"], scope="corporate")
    bob.capture("secret", tags=["hidden"])
    assert ann.get("stats/").body == {
        "memories": 2,
        "entries": 2,
        "pending": 2,
        "by_scope": {"corporate": 1, "personal": 1},
        "by_category": {"idea": 1, "thought": 1},
        "top_tags": {"a": 2, "b": 1},
        "top_contributors": {str(cast.ann.user.id): 2},
        "routing": [],
        "jobs": {"pending": 2},
    }


def test_a_person_without_a_role_any_more_gets_nothing(cast: Cast) -> None:
    person = _person(cast.acme, "dan@acme.test", "member")
    api = Api(person.key)
    assert api.get("me/").status == 200
    ensure_person(cast.globex, "dan@acme.test")  # elsewhere he still is somebody
    person.user.memberships.filter(organization=cast.acme).delete()
    assert api.get("me/").cause == (401, "not_authenticated", None)
