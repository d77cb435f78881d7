"""What is not visible does not exist: the same bytes for a foreign id and for one that nobody has."""

from collections.abc import Callable
from typing import Any

from tests.api.conftest import Api
from tests.cast import Cast, _person

RANDOM = "01890000-0000-7000-8000-000000000000"
OTHER = "01890000-0000-7000-8000-000000000001"
BY_ID: tuple[tuple[str, str, Any], ...] = (
    ("GET", "thoughts/{}/", None),
    ("PATCH", "thoughts/{}/", {"tags": ["taken"]}),
    ("PATCH", "thoughts/{}/", {"content": "taken"}),
    ("DELETE", "thoughts/{}/", None),
    ("GET", "thoughts/{}/revisions/", None),
    ("GET", "recall-files/{}/", None),
    ("PATCH", "recall-files/{}/", {"node": "Taken"}),
    ("DELETE", "recall-files/{}/", None),
    ("POST", "recall-files/{}/messages/", {"messages": [{"role": "user", "content": "taken"}]}),
    ("DELETE", "trash/{}/", None),
    ("POST", "trash/{}/restore/", None),
    ("GET", "nodes/{}/", None),
    ("PATCH", "nodes/{}/", {"name": "Taken"}),
    ("PATCH", "nodes/{}/", {"aliases": ["Taken"]}),
    ("POST", "nodes/{}/move/", {"parent": None}),
    ("GET", "nodes/{}/index/", None),
    ("DELETE", "relationships/{}/", None),
    ("GET", "jobs/{}/", None),
    ("GET", "imports/{}/", None),
    ("GET", "search/traces/{}/", None),
)
IN_BODY: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("thoughts/", lambda node: {"content": "x", "node": node}),
    ("recall-files/", lambda node: {"transcript": [{"role": "user", "content": "x"}], "node": node}),
    ("thoughts/bulk/", lambda node: {"thoughts": [{"content": "x", "node": node}]}),
    ("search/", lambda node: {"query": "x", "node": node}),
    ("nodes/", lambda node: {"path": node}),
    ("relationships/", lambda node: {"source_node_id": node, "target_node_id": OTHER, "relationship": "informs"}),
)


def everything(api: Api) -> list[Any]:
    lists = ("thoughts/?limit=100", "recall-files/?limit=100", "nodes/", "relationships/", "graph/", "trash/", "jobs/")
    return [api.get(path).body for path in lists]


def ids_of(api: Api) -> set[str]:
    """Everything of one person that has an id: memories, live and trashed, nodes, an edge, jobs, a trace."""
    chat = {"transcript": [{"role": "user", "content": "canary two"}], "title": "canary"}
    made = [api.capture("canary one", node="Canary/Nest", tags=["canary"]), api.post("recall-files/", chat).body]
    api.delete(f"thoughts/{api.capture('canary three')['id']}/")
    ends = [row["id"] for row in api.get("nodes/").body["results"]]
    api.post("relationships/", {"source_node_id": ends[0], "target_node_id": ends[1], "relationship": "precedes"})
    found = [row for path in ("nodes/", "relationships/", "jobs/", "trash/") for row in api.get(path).body["results"]]
    slugs = {row["recall_id"] for row in made}
    trace = api.post("search/", {"query": "canary"}).body["trace_id"]
    return {row["id"] for row in made + found} | slugs | {trace}


def test_a_foreign_id_is_an_unknown_id(ann: Api, bob: Api, eve: Api) -> None:
    hers = ids_of(ann)
    before = everything(ann)
    assert len(hers) > 10
    for other in (bob, eve):
        for method, path, body in BY_ID:
            unknown = other.send(method, path.format(RANDOM), body).without_id
            assert unknown[0] == 404
            assert {other.send(method, path.format(each), body).without_id for each in hers} == {unknown}
    assert everything(ann) == before


def test_a_foreign_node_in_a_body_or_a_filter_is_an_unknown_one(ann: Api, bob: Api, eve: Api) -> None:
    ann.capture("canary", node="Canary/Nest")
    nodes = [row["id"] for row in ann.get("nodes/").body["results"]]
    mine = ann.capture("mine", node=nodes[0])  # the positive twin
    assert mine["node"]["id"] == nodes[0]
    for other in (bob, eve):
        own = other.capture("own")["id"]
        for path, body in IN_BODY:
            unknown = other.post(path, body(RANDOM)).without_id
            assert b"not_found" in unknown[1]
            assert {other.post(path, body(node)).without_id for node in nodes} == {unknown}
        unknown = other.patch(f"thoughts/{own}/", {"node": RANDOM}).without_id
        assert {other.patch(f"thoughts/{own}/", {"node": node}).without_id for node in nodes} == {unknown}
        for path in ("thoughts/", "recall-files/", "relationships/", "graph/", "timeline/"):
            unknown = other.get(f"{path}?node={RANDOM}").without_id
            assert other.get(f"{path}?node={RANDOM}").cause == (400, "not_found", "node")
            for node in (*nodes, "Canary", "Canary/Nest"):
                assert other.get(f"{path}?node={node}").without_id == unknown
        assert other.all_thoughts() == ["own"]


def test_no_door_of_others_shows_a_personal_word(ann: Api, bob: Api, eve: Api, agent: Callable[[str], Api]) -> None:
    ids_of(ann)
    others = (bob, eve, agent("agent"), agent("context"), agent("intent"))
    reads = (
        "thoughts/",
        "recall-files/",
        "nodes/",
        "relationships/",
        "graph/",
        "timeline/",
        "stats/",
        "jobs/",
        "imports/",
        "trash/",
        "brains/",
        "me/",
    )
    for other in others:
        for path in (*reads, "thoughts/?scope=corporate", "thoughts/?tag=canary", "recall-files/?scope=corporate"):
            assert b"anary" not in other.get(path).raw
        for scope in ("both", "personal", "corporate", "agent"):
            found = other.post("search/", {"query": "canary", "scope": scope, "threshold": 0, "include": ["trace"]})
            assert b"anary" not in found.raw
    hers = ann.post("search/", {"query": "canary"}).body["hits"]
    assert {hit["text"] for hit in hers} == {"canary one", "canary two"}


def test_the_corporate_brain_is_for_every_member_and_for_no_one_else(ann: Api, bob: Api, eve: Api) -> None:
    shared = ann.capture("canary words", scope="corporate", node="Business")
    assert bob.get(f"thoughts/{shared['id']}/").body == shared
    assert bob.all_thoughts() == ["canary words"]
    assert [hit["id"] for hit in bob.post("search/", {"query": "canary"}).body["hits"]] == [shared["id"]]
    unknown = eve.get(f"thoughts/{RANDOM}/").without_id
    assert eve.get(f"thoughts/{shared['id']}/").without_id == unknown
    assert eve.get(f"thoughts/{shared['recall_id']}/").without_id == unknown
    assert eve.all_thoughts() == []
    assert eve.post("search/", {"query": "canary"}).body["hits"] == []


def test_a_contribution_is_edited_by_its_author_and_by_curators(cast: Cast, ann: Api, bob: Api) -> None:
    member = Api(_person(cast.acme, "mia@acme.test", "member").key)
    path = f"thoughts/{bob.capture('of bob', scope='corporate')['id']}/"
    before = bob.get(path).body
    for answer in (member.patch(path, {"tags": ["x"]}), member.delete(path)):
        assert answer.cause == (403, "permission_denied", None)
    assert bob.get(path).body == before
    assert bob.patch(path, {"tags": ["by bob"]}).status == 200
    assert ann.patch(path, {"tags": ["by ann"]}).body["tags"] == ["by ann"]


def test_a_viewer_reads_what_is_shared_and_writes_only_at_home(cast: Cast, ann: Api) -> None:
    shared = ann.capture("shared", scope="corporate")
    viewer = Api(_person(cast.acme, "vic@acme.test", "viewer").key)
    before = everything(ann)
    message = {"role": "user", "content": "x"}
    refused = (403, "permission_denied", "scope")
    for answer in (
        viewer.post("thoughts/", {"content": "x", "scope": "corporate"}),
        viewer.post("thoughts/bulk/", {"thoughts": [{"content": "x"}], "scope": "corporate"}),
        viewer.post("recall-files/", {"transcript": [message], "scope": "corporate"}),
        viewer.post(f"recall-files/{shared['id']}/messages/", {"messages": [message]}),
        viewer.patch(f"thoughts/{shared['id']}/", {"tags": ["x"]}),
        viewer.delete(f"thoughts/{shared['id']}/"),
    ):
        assert answer.cause == refused
    assert everything(ann) == before
    assert viewer.get(f"thoughts/{shared['id']}/").body == shared
    assert viewer.capture("at home")["scope"] == "personal"


def test_a_slug_is_looked_up_at_home_first(ann: Api, bob: Api) -> None:
    when = "2025-01-08T00:00:00Z"
    shared = ann.capture("zorkmid", scope="corporate", occurred_at=when)
    own = bob.capture("zorkmid", occurred_at=when)
    assert shared["recall_id"] == own["recall_id"]
    assert bob.get(f"thoughts/{own['recall_id']}/").body == own
    assert ann.get(f"thoughts/{own['recall_id']}/").body == shared
