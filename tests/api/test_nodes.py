"""nodes/, relationships/, graph/ and timeline/."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from unittest.mock import ANY

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Api
from tests.api.test_queries import SESSION
from tests.cast import Cast, _person

SALES, KNOWLEDGE = "Business/Sales", "Business/Sales/Product Knowledge"
PRO = f"{KNOWLEDGE}/Widget Pro"
RANDOM = "01890000-0000-7000-8000-000000000000"
# node → memories, the words they are about, the first of their days, and the days between two of them
SPECIFIED: dict[str, tuple[int, str, str, int]] = {
    PRO: (12, "enterprise advanced premium", "2025-03-15", 28),
    f"{KNOWLEDGE}/Widget Lite": (8, "starter basic affordable", "2025-04-01", 30),
    f"{KNOWLEDGE}/Enterprise Suite": (15, "bundle complete organization", "2025-06-01", 16),
    KNOWLEDGE: (12, "specs features comparison", "2025-04-02", 7),
    f"{SALES}/Objections": (23, "objections buyers", "2025-01-01", 5),
    f"{SALES}/Customer Preferences": (31, "preferences customers", "2025-01-01", 5),
    f"{SALES}/Pricing": (18, "pricing discounts", "2025-01-01", 5),
    f"{SALES}/Competitor Info": (12, "competitors", "2025-01-01", 5),
}


def fill(api: Api, node: str, count: int, words: str, first: str, days: int) -> None:
    thoughts = [
        {
            "content": f"{words} {n:02}",
            "node": node,
            "occurred_at": f"{date.fromisoformat(first) + timedelta(days=n * days)}T12:00:00Z",
        }
        for n in range(count)
    ]
    assert api.post("thoughts/bulk/", {"thoughts": thoughts}).status == 201


def ids(api: Api) -> dict[str, str]:
    return {row["path"]: row["id"] for row in api.get("nodes/").body["results"]}


def index(api: Api, path: str) -> Any:
    answer = api.get(f"nodes/{ids(api)[path]}/index/")
    assert answer.status == 200, answer.raw
    return answer.body


def counts(api: Api) -> tuple[int, ...]:
    """Of Sales, Product Knowledge and Widget Pro: their own indexes, the ones above, and the nodes say the same."""
    nodes = {row["path"]: row["memory_count"] for row in api.get("nodes/").body["results"]}
    found = []
    for path in (SALES, KNOWLEDGE, PRO):
        above, _, name = path.rpartition("/")
        listed = {sub["name"]: sub["memory_count"] for sub in index(api, above)["sub_nodes"]}
        own = index(api, path)["total_memory_count"]
        assert (listed[name], nodes[path]) == (own, own)
        found.append(own)
    return tuple(found)


def test_the_specifications_arithmetic(ann: Api) -> None:
    for node, (count, words, first, days) in SPECIFIED.items():
        fill(ann, node, count, words, first, days)
    assert counts(ann) == (131, 47, 12)
    knowledge = index(ann, KNOWLEDGE)
    subs = {sub.pop("name"): sub for sub in knowledge["sub_nodes"]}
    assert list(subs) == ["Enterprise Suite", "Widget Pro", "Widget Lite"]
    assert {name: (sub["memory_count"], set(sub["keywords"]), sub["date_range"]) for name, sub in subs.items()} == {
        "Widget Pro": (
            12,
            {"enterprise", "advanced", "premium"},
            {"oldest": "2025-03-15", "newest": "2026-01-17"},
        ),
        "Widget Lite": (8, {"starter", "basic", "affordable"}, {"oldest": "2025-04-01", "newest": "2025-10-28"}),
        "Enterprise Suite": (
            15,
            {"bundle", "complete", "organization"},
            {"oldest": "2025-06-01", "newest": "2026-01-11"},
        ),
    }
    assert knowledge["date_range"] == {"oldest": "2025-03-15", "newest": "2026-01-17"}

    made = ann.capture("Widget Pro API integration guide", node=PRO, occurred_at="2026-01-20T14:30:00Z")
    assert made["node"]["path"] == PRO
    assert counts(ann) == (132, 48, 13)
    pro = {sub["name"]: sub for sub in index(ann, KNOWLEDGE)["sub_nodes"]}["Widget Pro"]
    assert set(pro["keywords"]) >= {"api", "integration", "enterprise", "advanced", "premium"}
    assert pro["date_range"] == {"oldest": "2025-03-15", "newest": "2026-01-20"}
    for path in (SALES, KNOWLEDGE, PRO):
        assert set(index(ann, path)["aggregate_keywords"]) >= {"api", "integration"}
        assert index(ann, path)["date_range"]["newest"] == "2026-01-20"

    ann.capture("an old one", node=PRO, occurred_at="2024-02-29T00:00:00Z")
    assert [index(ann, path)["date_range"]["oldest"] for path in (SALES, KNOWLEDGE, PRO)] == ["2024-02-29"] * 3
    assert ann.delete(f"thoughts/{made['id']}/").status == 204
    assert counts(ann) == (132, 48, 13)
    after = index(ann, KNOWLEDGE)
    assert ("integration" in str(after), after["date_range"]["newest"]) == (False, "2026-01-17")


def test_an_index_as_a_whole(ann: Api) -> None:
    fill(ann, "Home/Garden", 5, "roses tulips", "2025-01-01", 1)
    ann.capture("The roses of Anna Lindt", node="Home", occurred_at="2025-02-01T00:00:00Z")
    node = ids(ann)["Home"]
    answer = ann.get(f"nodes/{node}/index/")
    dates = {"oldest": "2025-01-01", "newest": "2025-02-01"}
    assert (answer.status, answer.body) == (
        200,
        {
            "node_id": node,
            "node_name": "Home",
            "parent_node": None,
            "last_updated": ANY,
            "sub_nodes": [
                {
                    "name": "Garden",
                    "memory_count": 5,
                    "keywords": ANY,
                    "date_range": {"oldest": "2025-01-01", "newest": "2025-01-05"},
                }
            ],
            "aggregate_keywords": ["roses", "tulips", *answer.body["aggregate_keywords"][2:]],
            "key_entities": ["Anna Lindt"],
            "summary": ANY,
            "total_memory_count": 6,
            "date_range": dates,
        },
    )
    assert list(answer.body) == [
        "node_id", "node_name", "parent_node", "last_updated", "sub_nodes", "aggregate_keywords", "key_entities",
        "summary", "total_memory_count", "date_range",
    ]  # fmt: skip
    assert set(answer.body["sub_nodes"][0]["keywords"]) == {"roses", "tulips"}
    assert set(answer.body["aggregate_keywords"]) == {"roses", "tulips", "anna", "lindt"}
    words = ", ".join(answer.body["aggregate_keywords"])
    assert answer.body["summary"] == (
        f"Home, 6 memories. Keywords: {words}. Names: Anna Lindt. Dates: 2025-01-01 to 2025-02-01."
    )


def test_a_node_with_few_memories_has_no_index_and_says_why(ann: Api) -> None:
    fill(ann, "Home/Garden", 4, "roses", "2025-01-01", 1)
    answer = ann.get(f"nodes/{ids(ann)['Home']}/index/")
    assert (answer.status, answer.body) == (
        404,
        {
            "type": "client_error",
            "errors": [
                {
                    "code": "not_indexed",
                    "detail": "This node is warmed whole: fewer than 5 memories lie below it "
                    "(10 from the fourth level on).",
                    "attr": None,
                }
            ],
            "request_id": answer.headers["X-Request-ID"],
        },
    )


def test_a_node_is_made_found_renamed_and_moved(ann: Api) -> None:
    made = ann.post("nodes/", {"path": "Business/Sales"})
    assert (made.status, made.body["path"], made.body["type"]) == (201, "Business/Sales", "concept")
    path = f"nodes/{made.body['id']}/"
    assert made.headers["Location"] == f"/api/v1/{path}"
    assert ann.get(path).body == made.body
    again = ann.post("nodes/", {"path": "business/SALES", "scope": "personal"})
    assert (again.status, again.body) == (200, made.body)
    assert ann.post("nodes/", {"path": made.body["id"]}).body == made.body
    renamed = ann.patch(path, {"name": "Selling"})
    assert (renamed.status, renamed.body) == (
        200,
        {**made.body, "name": "Selling", "path": "Business/Selling", "aliases": ["Sales"]},
    )
    named = ann.patch(path, {"name": "Trade", "aliases": ["Deals"]}).body
    assert (named["name"], named["aliases"]) == ("Trade", ["Deals"])
    assert ann.post("nodes/", {"path": "Business/deals"}).body == named
    moved = ann.post(f"{path}move/", {"parent": None})
    assert (moved.status, moved.body) == (
        200,
        {**named, "path": "Trade", "parent_id": None, "type": "category", "category": "Trade"},
    )
    back = ann.post(f"{path}move/", {"parent": "Business"})
    assert back.body == named
    assert ann.post(f"{path}move/", {"parent": named["parent_id"]}).body == named


def test_what_cannot_be_names_its_field(ann: Api) -> None:
    a, b = (ann.post("nodes/", {"path": path}).body["id"] for path in ("A", "B"))
    ann.capture("waits")
    inbox = ids(ann)["Inbox"]
    ann.post("nodes/", {"path": "A/Nest"})
    nest = ann.post("nodes/", {"path": "B/Nest"}).body["id"]
    before = ann.get("nodes/").body
    edge = {"source_node_id": a, "target_node_id": b, "relationship": "informs"}
    refusals: tuple[tuple[str, str, Any, tuple[int, str, str | None]], ...] = (
        ("POST", "nodes/", {}, (400, "required", "path")),
        ("POST", "nodes/", {"path": ""}, (400, "blank", "path")),
        ("POST", "nodes/", {"path": "a//b"}, (400, "invalid", "path")),
        ("POST", "nodes/", {"path": "x", "scope": "both"}, (400, "invalid_choice", "scope")),
        ("POST", "nodes/", {"path": RANDOM}, (400, "not_found", "path")),
        ("POST", "nodes/", {"path": "Inbox/x"}, (400, "invalid", "path")),
        ("POST", "nodes/", {"path": "x", "name": "x"}, (400, "unknown", "name")),
        ("PATCH", f"nodes/{a}/", {}, (400, "invalid", None)),
        ("PATCH", f"nodes/{a}/", {"name": "b"}, (409, "conflict", "name")),
        ("PATCH", f"nodes/{a}/", {"name": "x/y"}, (400, "invalid", "name")),
        ("PATCH", f"nodes/{a}/", {"name": None}, (400, "null", "name")),
        ("PATCH", f"nodes/{a}/", {"aliases": ["B"]}, (409, "conflict", "aliases")),
        ("PATCH", f"nodes/{inbox}/", {"name": "Later"}, (400, "invalid", None)),
        ("POST", f"nodes/{a}/move/", {}, (400, "required", "parent")),
        ("POST", f"nodes/{a}/move/", {"parent": "A/Nest"}, (400, "invalid", "parent")),
        ("POST", f"nodes/{a}/move/", {"parent": "Inbox"}, (400, "invalid", "parent")),
        ("POST", f"nodes/{a}/move/", {"parent": "Nowhere"}, (400, "not_found", "parent")),
        ("POST", f"nodes/{nest}/move/", {"parent": a}, (409, "conflict", "parent")),
        ("POST", f"nodes/{inbox}/move/", {"parent": a}, (400, "invalid", None)),
        ("POST", "relationships/", {**edge, "target_node_id": a}, (400, "invalid", "target_node_id")),
        ("POST", "relationships/", {**edge, "source_node_id": 1}, (400, "invalid", "source_node_id")),
        ("POST", "relationships/", {**edge, "source_node_id": RANDOM}, (400, "not_found", "source_node_id")),
        ("POST", "relationships/", {**edge, "relationship": "contains"}, (400, "invalid_choice", "relationship")),
        ("POST", "relationships/", {**edge, "weight": 1.5}, (400, "max_value", "weight")),
        ("POST", "relationships/", {**edge, "weight": 0.123}, (400, "invalid", "weight")),
        ("POST", "relationships/", {**edge, "evidence": []}, (400, "invalid", "evidence")),
        ("GET", "relationships/?node=Nowhere", None, (400, "not_found", "node")),
        ("GET", "relationships/?relationship=contains", None, (400, "invalid_choice", "relationship")),
        ("GET", "graph/?depth=0", None, (400, "min_value", "depth")),
        ("GET", "graph/?node=Nowhere", None, (400, "not_found", "node")),
        ("GET", "graph/?scope=agent", None, (403, "permission_denied", "scope")),
        ("GET", "timeline/?node=Nowhere", None, (400, "not_found", "node")),
        ("GET", "timeline/?since=2025-01-02T00:00:00Z&until=2025-01-01T00:00:00Z", None, (400, "invalid", "until")),
        ("GET", "timeline/?cursor=x", None, (400, "invalid", "cursor")),
    )
    for method, path, body, cause in refusals:
        assert (method, path, body, ann.send(method, path, body).cause) == (method, path, body, cause)
    assert ann.get("nodes/").body == before
    assert ann.get("relationships/").body["results"] == []


def test_edges_are_kept_shown_at_their_source_and_taken_away(ann: Api) -> None:
    a, b = (ann.post("nodes/", {"path": path}).body["id"] for path in ("A", "B"))
    given = {
        "source_node_id": a,
        "target_node_id": b,
        "relationship": "informs",
        "weight": 0.85,
        "evidence": {"shared_entities": 4},
    }
    made = ann.post("relationships/", given)
    shown = {**given, "id": ANY, "scope": "personal", "created_at": ANY}
    assert (made.status, made.body) == (201, shown)
    changed = ann.post("relationships/", {**given, "weight": 1, "evidence": "Ann says so"})
    assert (changed.status, changed.body) == (200, {**made.body, "weight": 1.0, "evidence": "Ann says so"})
    connection_shown = [{"target_node_id": b, "relationship": "informs", "weight": 1.0}]
    assert ann.get(f"nodes/{a}/").body["connections"] == connection_shown
    assert ann.get(f"nodes/{b}/").body["connections"] == []
    assert {row["name"]: row["connections"] for row in ann.get("nodes/").body["results"]} == {
        "A": connection_shown,
        "B": [],
    }
    for query in ("", f"?node={b}", "?node=a", "?relationship=informs", "?scope=personal"):
        assert ann.get(f"relationships/{query}").body == {"results": [changed.body], "next_cursor": None}
    for query in ("?relationship=precedes", "?scope=corporate"):
        assert ann.get(f"relationships/{query}").body == {"results": [], "next_cursor": None}
    second = ann.post("relationships/", {**given, "relationship": "precedes"}).body
    page = ann.get("relationships/?limit=1").body
    assert page["results"] == [second]
    assert ann.get(f"relationships/?limit=1&cursor={page['next_cursor']}").body["results"] == [changed.body]
    assert ann.delete(f"relationships/{made.body['id']}/").status == 204
    assert ann.get("relationships/").body["results"] == [second]
    assert ann.delete(f"relationships/{made.body['id']}/").cause == (404, "not_found", None)


def test_the_graph_has_the_tree_among_its_edges(ann: Api) -> None:
    ann.capture("one", node="A/B/C")
    ann.capture("two", node="Z")
    at = ids(ann)
    edge = {"source_node_id": at["A/B/C"], "target_node_id": at["Z"], "relationship": "resolves", "weight": 0.5}
    ann.post("relationships/", edge)

    def node(path: str, kind: str, parent: str | None) -> dict[str, Any]:
        return {
            "id": at[path],
            "name": path[-1],
            "type": kind,
            "parent_id": parent and at[parent],
            "memory_count": 1,
            "category": path[0],
        }

    def contains(parent: str, child: str) -> dict[str, Any]:
        return {"source": at[parent], "target": at[child], "relationship": "contains", "weight": 1.0}

    whole = ann.get("graph/").body
    assert whole == {
        "nodes": [
            node("A", "category", None),
            node("Z", "category", None),
            node("A/B", "concept", "A"),
            node("A/B/C", "topic", "A/B"),
        ],
        "edges": [
            contains("A", "A/B"),
            contains("A/B", "A/B/C"),
            {"source": at["A/B/C"], "target": at["Z"], "relationship": "resolves", "weight": 0.5},
        ],
        "levels": 3,
        "node_count": 4,
        "aggregated": False,
    }
    assert ann.get("graph/?depth=1").body == {
        "nodes": whole["nodes"][:2],
        "edges": [{"source": at["A"], "target": at["Z"], "relationship": "resolves", "weight": 0.5}],
        "levels": 1,
        "node_count": 2,
        "aggregated": False,
    }
    assert ann.get("graph/?node=a/b").body == {
        "nodes": whole["nodes"][2:],
        "edges": [contains("A/B", "A/B/C")],
        "levels": 2,
        "node_count": 2,
        "aggregated": False,
    }
    assert ann.get("graph/?scope=corporate").body["nodes"] == []


def test_the_timeline_goes_back_day_by_day(ann: Api) -> None:
    def captured(content: str, when: str, **more: Any) -> dict[str, Any]:
        made = ann.capture(content, occurred_at=when, **more)
        shown = {name: made[name] for name in ("id", "recall_id", "kind", "scope", "occurred_at")}
        return {**shown, "title": made["recall_id"]}

    late = captured("late words", "2025-03-02T23:59:59Z")
    early = captured("early words", "2025-03-02T01:30:00+01:00", scope="corporate", node="Work/Deep")
    before = captured("words before", "2025-03-02T00:30:00+01:00", node="Work")  # still the first of March in UTC
    gone = captured("gone", "2025-03-04T00:00:00Z")
    ann.delete(f"thoughts/{gone['id']}/")
    transcript = [{"role": "user", "content": "said"}]
    chat = ann.post(
        "recall-files/", {"transcript": transcript, "title": "A talk", "occurred_at": "2024-12-31T08:00:00Z"}
    )
    days = [
        {"date": "2025-03-02", "memory_count": 2, "memories": [late, early]},
        {"date": "2025-03-01", "memory_count": 1, "memories": [before]},
        {
            "date": "2024-12-31",
            "memory_count": 1,
            "memories": [
                {
                    "id": chat.body["id"],
                    "recall_id": "a-talk-2024-12-31",
                    "title": "A talk",
                    "kind": "conversation",
                    "scope": "personal",
                    "occurred_at": "2024-12-31T08:00:00Z",
                }
            ],
        },
    ]
    assert ann.get("timeline/").body == {"results": days, "next_cursor": None}
    first = ann.get("timeline/?limit=2").body
    assert first["results"] == days[:2]
    second = ann.get(f"timeline/?limit=2&cursor={first['next_cursor']}").body
    assert second == {"results": days[2:], "next_cursor": None}
    wanted = {
        "scope=corporate": [{**days[0], "memory_count": 1, "memories": [early]}],
        "node=work": [{**days[0], "memory_count": 1, "memories": [early]}, days[1]],
        "since=2025-03-02T12:00:00Z": [{**days[0], "memory_count": 1, "memories": [late]}],
        "until=2025-01-01T00:00:00Z": days[2:],
    }
    assert {query: ann.get(f"timeline/?{query}").body["results"] for query in wanted} == wanted


def test_a_full_day_shows_its_newest_twenty(ann: Api) -> None:
    thoughts = [{"content": f"n{n}", "occurred_at": f"2025-01-01T{n:02}:00:00Z"} for n in range(23)]
    ann.post("thoughts/bulk/", {"thoughts": thoughts})
    (day,) = ann.get("timeline/").body["results"]
    shown = [memory["occurred_at"][11:13] for memory in day["memories"]]
    assert (day["memory_count"], shown) == (23, [f"{n:02}" for n in range(22, 2, -1)])


def test_the_map_takes_the_same_queries_however_large(ann: Api) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as context:
            assert ann.get(path).status == 200
        return len(context)

    counts = []
    for n in (1, 3):
        for each in range(n):
            ann.capture(f"words {each}", node=f"A/B{each}")
        at = ids(ann)
        edge = {"source_node_id": at["A"], "target_node_id": at["A/B0"], "relationship": "informs"}
        ann.post("relationships/", edge)
        counts.append([queries("graph/"), queries("timeline/"), queries(f"nodes/{at['A/B0']}/")])
    assert counts == [[SESSION + 2, SESSION + 2, SESSION + 4]] * 2


def test_programs_read_shared_maps_and_change_none(cast: Cast, ann: Api, agent: Callable[[str], Api]) -> None:
    for n in range(5):
        ann.capture(f"shared words {n}", scope="corporate", node="Shared/Nest")
        ann.capture(f"canary words {n}", node="Canary")
    at = ids(ann)
    edge = {"source_node_id": at["Shared"], "target_node_id": at["Shared/Nest"], "relationship": "informs"}
    ann.post("relationships/", edge)
    known = ann.get(f"nodes/{at['Shared']}/index/").body
    for kind in ("context", "intent"):
        api = agent(kind)
        assert set(ids(api)) == {"Shared", "Shared/Nest"}
        assert api.get(f"nodes/{at['Shared']}/index/").body == known
        assert len(api.get("graph/").body["nodes"]) == 2
        assert [day["memory_count"] for day in api.get("timeline/").body["results"]] == [5]
        for body in (edge, {**edge, "source_node_id": at["Shared/Nest"], "target_node_id": at["Shared"]}):
            assert api.post("relationships/", body).cause == (403, "permission_denied", ANY)
        assert api.post("relationships/", {**edge, "source_node_id": at["Canary"]}).cause == (
            400,
            "not_found",
            "source_node_id",
        )
    writer = agent("agent")
    for path in ("nodes/", f"nodes/{at['Shared']}/index/", "relationships/", "graph/", "timeline/"):
        assert writer.get(path).cause == (403, "permission_denied", None)
    assert len(ann.get("relationships/").body["results"]) == 1


def test_a_member_files_and_a_curator_arranges(cast: Cast, ann: Api, bob: Api) -> None:
    made = bob.post("nodes/", {"path": "Business/Sales", "scope": "corporate"})
    assert made.status == 201
    path = f"nodes/{made.body['id']}/"
    before = ann.get("nodes/").body
    for answer in (
        bob.patch(path, {"name": "Taken"}),
        bob.patch(path, {"aliases": ["Taken"]}),
        bob.post(f"{path}move/", {"parent": None}),
    ):
        assert answer.cause == (403, "permission_denied", None)
    viewer = Api(_person(cast.acme, "vic@acme.test", "viewer").key)
    assert viewer.get(path).body == made.body
    assert viewer.post("nodes/", {"path": "X", "scope": "corporate"}).cause == (403, "permission_denied", "scope")
    assert viewer.patch(path, {"name": "Taken"}).cause == (403, "permission_denied", "scope")
    assert ann.get("nodes/").body == before
    assert ann.patch(path, {"name": "Selling"}).body["path"] == "Business/Selling"
