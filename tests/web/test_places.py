"""The tree as an outline, and the page of a node: what lies in it, its index file, its name."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from accounts.models import Membership
from accounts.people import ensure_person, person_actor
from brainsite.web import places
from brainsite.web.places import outline
from graph.tree import count_entries, get_node, list_nodes
from memory.capture import capture, capture_files
from memory.indexes import node_index
from memory.nodes import make_node, relate
from memory.types import Memory, NewMessage, NewRecallFile
from tests.cast import Cast, Person
from tests.web.conftest import Browser, keep
from tests.web.pages import Element, Page, page
from tests.web.test_memory import without_request_id

UNKNOWN = "0198a0f0-0000-7000-8000-000000000000"


def said(element: Element) -> str:
    return " ".join(element.text.split())


def links_to_nodes(shown: Page) -> dict[str, str]:
    """href → text, of the links to nodes."""
    return {a.attributes["href"]: said(a) for a in shown.all("a") if a.attributes["href"].startswith("/n/")}


def node_of(cast: Cast, path: str, *, scope: str = "personal") -> UUID:
    return make_node(cast.ann.actor, path, scope=scope)[0].id


@pytest.fixture
def pricing(cast: Cast) -> Memory:
    capture(cast.ann.actor, content="one", node="Business/Sales", scope="corporate")
    return capture(cast.ann.actor, content="two", node="Business/Sales/Pricing", scope="corporate").memory


# -- the tree ---------------------------------------------------------------------------------------------------------


def test_the_tree_is_an_outline_of_both_brains(cast: Cast, ann: Client, pricing: Memory) -> None:
    capture(cast.ann.actor, content="mine", node="Me")

    shown = page(ann.get("/tree/"))

    assert [said(li) for li in shown.all("li")] == [
        "Me category 1 memory",
        "Business category 2 memories Sales concept 2 memories Pricing topic 1 memory",
        "Sales concept 2 memories Pricing topic 1 memory",
        "Pricing topic 1 memory",
    ]
    assert links_to_nodes(shown) == {f"/n/{node.id}/": node.name for node in list_nodes(cast.ann.actor)}
    assert [said(h2) for h2 in shown.all("h2")] == ["Personal", "Corporate"]
    assert shown.all("a", href="/tree/")[0].attributes["aria-current"] == "page"


def test_an_empty_tree_invites(ann: Client) -> None:
    shown = page(ann.get("/tree/"))

    assert shown.text.count("Nothing grows here yet.") == 2
    assert [a.attributes["href"] for a in shown.all("a") if a.text == "Keep the first one"] == [
        "/?as=personal",
        "/?as=corporate",
    ]


def test_nobody_sees_a_tree_that_is_not_theirs(cast: Cast, ann: Client, browser: Browser, pricing: Memory) -> None:
    capture(cast.ann.actor, content="mine", node="Secret")

    seen = {
        name: list(links_to_nodes(page(client.get("/tree/"))).values())
        for name, client in [("ann", ann), ("bob", browser(cast.bob)), ("eve", browser(cast.eve))]
    }

    shared = ["Business", "Sales", "Pricing"]
    assert seen == {"ann": ["Secret", *shared], "bob": shared, "eve": []}


def test_a_tree_that_is_too_large_shows_its_upper_levels(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("A/B/C", "A/B/D", "A/E", "F", "G/H/I"):
        node_of(cast, path)
    nodes = list_nodes(cast.ann.actor, scope="personal")

    def rows(most: int) -> list[tuple[str, int, int]]:
        monkeypatch.setattr(places, "OUTLINE_NODES", most)
        return [(row.node.path, row.left_out, len(row.closes)) for row in outline("personal", nodes).rows]

    assert rows(9) == [
        *[("A", 0, 0), ("A/B", 0, 0), ("A/B/C", 0, 0), ("A/B/D", 0, 1), ("A/E", 0, 1), ("F", 0, 0)],
        *[("G", 0, 0), ("G/H", 0, 0), ("G/H/I", 0, 2)],
    ]
    assert rows(8) == [("A", 0, 0), ("A/B", 2, 0), ("A/E", 0, 1), ("F", 0, 0), ("G", 0, 0), ("G/H", 1, 1)]
    assert rows(1) == [("A", 4, 0), ("F", 0, 0), ("G", 2, 0)]


@pytest.mark.parametrize("rows", [1, 3])
def test_a_tree_costs_the_same_whatever_is_in_it(
    cast: Cast, ann: Client, rows: int, django_assert_num_queries: Any
) -> None:
    for i in range(rows):
        capture(cast.ann.actor, content="x", scope="corporate", node=f"Place {i}/Below")

    # session, user; organization, role, brains; begin, nodes, edges, commit
    with django_assert_num_queries(9):
        ann.get("/tree/")


# -- a node -----------------------------------------------------------------------------------------------------------


def test_a_node_with_its_place_and_what_lies_below(cast: Cast, ann: Client, pricing: Memory) -> None:
    sales = node_of(cast, "Business/Sales", scope="corporate")
    top = node_of(cast, "Business", scope="corporate")
    ann.post(f"/n/{sales}/", {"name": "Selling"})

    shown = page(ann.get(f"/n/{sales}/"))

    assert shown.one("h1").text == "Selling"
    assert shown.one("title").text == "Selling · Brain"
    assert [said(a) for a in shown.all("a") if a.attributes["href"] in ("/tree/", f"/n/{top}/")] == [
        *("Tree", "Tree", "Business"),
    ]
    assert said(shown.all("p", class_="place")[0]) == "Corporate concept 2 memories"
    assert "also known as Sales" in said(shown.one("main"))
    assert said(shown.one("ul", class_="nodes")) == "Pricing 1 memory"
    assert shown.words == ["two", "one"]
    assert links_to_nodes(shown) == {
        f"/n/{node.id}/": text
        for node, text in zip(
            list_nodes(cast.ann.actor, scope="corporate"),
            ["Business", "Business/Selling", "Business/Selling/Pricing"],
            strict=True,
        )
    }


def test_memories_and_hits_link_to_their_node(cast: Cast, ann: Client, pricing: Memory) -> None:
    pages = [page(ann.get(path)) for path in ("/", "/?q=two", f"/m/{pricing.id}/")]

    assert [links_to_nodes(shown).get(f"/n/{pricing.node.id}/") for shown in pages] == ["Business/Sales/Pricing"] * 3


def test_a_node_lists_its_whole_subtree_in_pages(cast: Cast, ann: Client) -> None:
    for i in range(43):
        capture(cast.ann.actor, content=f"thought {i}", node=f"Top/Place {i % 2}")
    here = f"/n/{node_of(cast, 'Top')}/"

    first = page(ann.get(here))
    second = page(ann.get(here + first.one("a", rel="next").attributes["href"]))
    third = page(ann.get(here + second.one("a", rel="next").attributes["href"]))

    assert [len(each.words) for each in (first, second, third)] == [20, 20, 3]
    assert first.words + second.words + third.words == [f"thought {i}" for i in reversed(range(43))]
    assert third.all("a", rel="next") == []
    assert ann.get(here, {"after": "x"}).status_code == 404


def test_parts_of_what_is_filed_elsewhere_are_named(cast: Cast, ann: Client) -> None:
    new = NewRecallFile(kind="conversation", title="A long talk", messages=(NewMessage("user", "hello"),), node="Home")
    talk = capture_files(cast.ann.actor, scope="personal", files=[new])[0].memory
    other = node_of(cast, "Other")
    actor = cast.ann.actor
    with actor.session():
        count_entries(actor, actor.brain_to_write("personal"), {(other, talk.id): 1})

    shown = page(ann.get(f"/n/{other}/"))

    assert shown.words == []
    assert "Parts of conversations that are filed elsewhere lie here too: A long talk." in said(shown.one("main"))
    assert shown.one("a", href=f"/m/{talk.id}/").text == "A long talk"


def test_a_small_node_has_no_index_file_and_says_why(cast: Cast, ann: Client) -> None:
    seen = {path: said(page(ann.get(f"/n/{node_of(cast, path)}/")).one("main")) for path in ("A", "A/B/C", "A/B/C/D")}

    assert "None yet: fewer than 5 memories lie here." in seen["A"]
    assert "None yet: fewer than 5 memories lie here." in seen["A/B/C"]
    assert "None yet: fewer than 10 memories lie here." in seen["A/B/C/D"]


def test_an_index_file_is_shown_as_it_is(cast: Cast, ann: Client) -> None:
    for i in range(5):
        memory = capture(cast.ann.actor, content=f"Ask Zelda Quartz about the lighthouse, {i}", node="Coast").memory

    pages = [page(ann.get(f"/n/{memory.node.id}/")) for _ in range(2)]

    index = node_index(cast.ann.actor, memory.node.id)
    assert index is not None
    for shown in pages:
        kept = shown.one("pre").text
        assert json.loads(kept) == index
        assert [line.split('"')[1] for line in kept.splitlines() if line.startswith('  "')] == [
            *("node_id", "node_name", "parent_node", "last_updated", "sub_nodes", "aggregate_keywords"),
            *("key_entities", "summary", "total_memory_count", "date_range"),
        ]
        assert said(shown.one("ul", **{"aria-label": "Keywords"})) == "".join(index["aggregate_keywords"])
        assert said(shown.one("ul", **{"aria-label": "Names"})) == "".join(index["key_entities"])
        facts = [said(element) for element in shown.elements if element.tag in ("dt", "dd")]
        dates = index["date_range"]
        assert facts == [
            *("Memories", "5", "From", dates["oldest"], "To", dates["newest"], "Last updated", "just now"),
        ]


def test_connections_read_from_both_ends(cast: Cast, ann: Client) -> None:
    cause, effect = node_of(cast, "Cause"), node_of(cast, "Place/Effect")
    relate(cast.ann.actor, cause, effect, "informs", 0.75, "seen together")

    seen = [said(page(ann.get(f"/n/{node}/")).one("ul", class_="links")) for node in (cause, effect)]

    assert seen == ["informs Place/Effect 0.75 seen together", "is informed by Cause 0.75 seen together"]


@pytest.mark.parametrize("rows", [1, 3])
def test_the_page_of_a_node_costs_the_same_whatever_is_on_it(
    cast: Cast, ann: Client, rows: int, django_assert_num_queries: Any
) -> None:
    for i in range(rows):
        capture(cast.bob.actor, content=f"thought {i}", scope="corporate", node=f"Top/Place {i}")
        relate(
            cast.ann.actor,
            node_of(cast, "Top", scope="corporate"),
            node_of(cast, f"O{i}", scope="corporate"),
            "informs",
        )

    node = node_of(cast, "Top", scope="corporate")
    # session, user; organization, role, brains; begin; node, path, edges; index: version, node; above: chain, names;
    # below (2 levels); parts; list: node, below (2), memories, nodes (2 levels), openings; connections: node, edges,
    # paths; commit; names of people and of agents
    with django_assert_num_queries(29):
        ann.get(f"/n/{node}/")


# -- keeping and searching there ------------------------------------------------------------------------------------


def test_a_link_to_keep_something_there(cast: Cast, ann: Client) -> None:
    node = node_of(cast, "Q&A/50 % off?", scope="corporate")
    link = page(ann.get(f"/n/{node}/")).one("a", class_="keep").attributes["href"]

    home = page(ann.get(link))
    keep(ann, "kept there", node=home.value("node"), scope=home.one("input", checked="").attributes["value"])

    assert home.value("node") == "Q&A/50 % off?"
    assert "open" in home.all("details")[0].attributes
    assert page(ann.get(f"/n/{node}/")).words == ["kept there"]


def test_a_search_within_a_node(cast: Cast, ann: Client, pricing: Memory) -> None:
    form = page(ann.get(f"/n/{pricing.node.id}/"))

    found = page(ann.get("/", {"q": "one two", **{name: form.value(name) for name in ("scope", "node")}}))

    assert found.words == ["two"]


# -- its name ---------------------------------------------------------------------------------------------------------


def test_a_node_gets_another_name(cast: Cast, ann: Client, pricing: Memory) -> None:
    here = f"/n/{pricing.node.id}/"
    sent = {"name": f"{page(ann.get(here)).value('name')} & terms"}

    answers = [ann.post(here, sent) for _ in range(2)]

    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(303, here)] * 2
    node = get_node(cast.ann.actor, pricing.node.id)
    assert (node.path, node.aliases) == ("Business/Sales/Pricing & terms", ("Pricing",))
    notes = [str(message) for message in ann.get(here).context["messages"]]
    assert notes == ["Renamed to Pricing & terms.", "This is its name."]


@pytest.mark.parametrize(
    ("typed", "cause"),
    [
        ("", "This field is required."),
        ("a/b", "A node's name has at least one character, and no slash."),
        ("x" * 300, "A node's name has at most "),
        ("discounts", "Another node there has this name already."),
    ],
)
def test_a_name_that_is_refused_stays_in_the_form(
    cast: Cast, ann: Client, pricing: Memory, typed: str, cause: str
) -> None:
    node_of(cast, "Business/Sales/Discounts", scope="corporate")

    answer = ann.post(f"/n/{pricing.node.id}/", {"name": typed})

    shown = page(answer, status=400)
    assert list(answer.context["form"].errors) == ["name"]
    assert answer.context["form"].errors["name"][0].startswith(cause)
    assert shown.value("name") == typed
    assert "open" in shown.one("details", class_="edit").attributes
    assert answer["X-Request-ID"] in shown.text
    assert get_node(cast.ann.actor, pricing.node.id).path == "Business/Sales/Pricing"


def test_the_inbox_keeps_its_name(cast: Cast, ann: Client) -> None:
    inbox = capture(cast.ann.actor, content="x").memory.node.id

    shown, refused = page(ann.get(f"/n/{inbox}/")), ann.post(f"/n/{inbox}/", {"name": "Outbox"})

    assert shown.all("input", name="name") == []
    assert "The Inbox keeps its name and its place." in page(refused, status=400).text
    assert get_node(cast.ann.actor, inbox).name == "Inbox"


def test_a_shared_tree_is_renamed_by_curators_alone(cast: Cast, browser: Browser, pricing: Memory) -> None:
    user = ensure_person(cast.acme, "vi@acme.test", role=Membership.Role.VIEWER)
    viewer = Person(user, person_actor(user, cast.acme.id, source="test"), "")
    here = f"/n/{pricing.node.id}/"

    pages = [page(browser(who).get(here)) for who in (cast.bob, viewer)]
    answers = [browser(who).post(here, {"name": "Mine now"}) for who in (cast.bob, viewer)]

    assert [shown.words for shown in pages] == [["two"], ["two"]]
    assert [shown.all("input", name="name") for shown in pages] == [[], []]
    assert [len(shown.all("a", class_="keep")) for shown in pages] == [1, 0]
    assert [page(answer, status=403).one("h1").text for answer in answers] == ["This is not allowed"] * 2
    assert get_node(cast.ann.actor, pricing.node.id).name == "Pricing"


# -- who may ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["get", "post"])
def test_another_ones_node_looks_like_none(cast: Cast, ann: Client, browser: Browser, method: str) -> None:
    """A colleague and a stranger get the same page for it as for an id that never was, and change nothing."""
    node = capture(cast.ann.actor, content="canary", node="Secret").memory.node.id
    shared = capture(cast.ann.actor, content="canary", node="Shared", scope="corporate").memory.node.id
    before = list_nodes(cast.ann.actor)

    asked = [(cast.bob, UNKNOWN), (cast.bob, node), (cast.eve, UNKNOWN), (cast.eve, node), (cast.eve, shared)]
    answers = [getattr(browser(who), method)(f"/n/{ref}/", {"name": "Mine now"}) for who, ref in asked]

    assert {(answer.status_code, without_request_id(answer)) for answer in answers} == {
        (404, without_request_id(answers[0]))
    }
    assert page(ann.get(f"/n/{node}/")).words == ["canary"]
    assert list_nodes(cast.ann.actor) == before
