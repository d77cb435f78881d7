"""Changing the map by hand: names, aliases, places, edges; and the map for drawing."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError

from accounts.actor import Actor
from accounts.errors import BrainError, Conflict, Forbidden, Invalid, NotFound, TooLarge
from accounts.models import Operation, OperationPayload
from graph.models import Node, NodeMemory, NodeRelationship, inbox_id
from graph.tree import Connection, get_node, list_nodes
from memory import nodes
from memory.capture import capture, capture_files
from memory.edit import Changes, edit
from memory.nodes import (
    Drawing,
    DrawnEdge,
    draw,
    edit_node,
    list_relationships,
    make_node,
    move_node,
    relate,
    rename_node,
    set_aliases,
    unrelate,
)
from tests.cast import Cast, _person
from tests.memory.test_capture import chat

FOUR = "Business/Sales/Pricing/Widget Pro"


def tree_of(actor: Actor, scope: str = "personal") -> dict[str, tuple[str, str, int]]:
    """path → type, category, memory count."""
    return {view.path: (view.type, view.category, view.memory_count) for view in list_nodes(actor, scope=scope)}


def node_at(actor: Actor, path: str, scope: str = "personal") -> UUID:
    return {view.path: view.id for view in list_nodes(actor, scope=scope)}[path]


def refused(verb: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[type[BrainError], str | None]:
    with pytest.raises(BrainError) as info:
        verb(*arguments, **named)
    return type(info.value), info.value.field


def told(actor: Actor, verb: str) -> list[Any]:
    """What the operations of a verb recorded, the oldest first."""
    with actor.session():
        rows = Operation.objects.visible_to(actor).filter(verb=verb).order_by("created_at", "id")
        payloads = OperationPayload.objects.visible_to(actor).filter(operation_id__in=[row.id for row in rows])
        data = dict(payloads.values_list("operation_id", "data"))
        return [(row.target_kind, row.target_id, data.get(row.id)) for row in rows]


def test_a_renamed_node_still_answers_to_its_old_name(cast: Cast) -> None:
    actor = cast.ann.actor
    capture(actor, content="one", node="Business/Sales/Pricing")
    sales = node_at(actor, "Business/Sales")
    view = rename_node(actor, sales, " Selling ")
    assert (view.name, view.aliases, view.path) == ("Selling", ("Sales",), "Business/Selling")
    assert capture(actor, content="two", node="business/sales/pricing").memory.node.path == "Business/Selling/Pricing"
    assert tree_of(actor) == {
        "Business": ("category", "Business", 2),
        "Business/Selling": ("concept", "Business", 2),
        "Business/Selling/Pricing": ("topic", "Business", 2),
    }
    assert told(actor, "rename_node") == [("node", sales, {"before": {"name": "Sales"}, "after": {"name": "Selling"}})]
    assert rename_node(actor, sales, "Sales").aliases == ("Selling",)
    assert rename_node(actor, sales, "SALES").aliases == ("Selling",)


def test_a_renamed_category_is_the_category_of_all_below_it(cast: Cast) -> None:
    actor = cast.ann.actor
    make_node(actor, FOUR)
    make_node(actor, "Home/Garden")
    rename_node(actor, node_at(actor, "Business"), "Work")
    make_node(actor, "business/Marketing")
    assert tree_of(actor) == {
        "Home": ("category", "Home", 0),
        "Home/Garden": ("concept", "Home", 0),
        "Work": ("category", "Work", 0),
        "Work/Marketing": ("concept", "Work", 0),
        "Work/Sales": ("concept", "Work", 0),
        "Work/Sales/Pricing": ("topic", "Work", 0),
        "Work/Sales/Pricing/Widget Pro": ("topic", "Work", 0),
    }


def test_an_exact_name_wins_over_an_alias(cast: Cast) -> None:
    actor = cast.ann.actor
    old = make_node(actor, "Work/Sales")[0].id
    rename_node(actor, old, "Selling")
    assert make_node(actor, "Work/Sales")[0].id == old
    set_aliases(actor, old, [])
    new, is_new = make_node(actor, "Work/Sales")
    assert (new.id == old, is_new) == (False, True)
    assert refused(set_aliases, actor, old, ["sales"]) == (Conflict, "aliases")
    assert set_aliases(actor, old, ["Deals", " deals", "selling", "Trade"]).aliases == ("Deals", "Trade")
    assert refused(set_aliases, actor, new.id, ["trade"]) == (Conflict, "aliases")
    assert refused(set_aliases, actor, old, ["x"] * 51) == (TooLarge, "aliases")
    assert get_node(actor, old).aliases == ("Deals", "Trade")


def test_names_that_cannot_be(cast: Cast) -> None:
    actor = cast.ann.actor
    sales = make_node(actor, "Work/Sales")[0].id
    make_node(actor, "Work/Support")
    capture(actor, content="waits")
    work, box = node_at(actor, "Work"), inbox_id(actor.brain_to_write("personal").id)
    before = list_nodes(actor)
    assert refused(rename_node, actor, sales, "support") == (Conflict, "name")
    for name in ("", " ", "a/b", "y" * 256, "a\nb", "\0", "\ud800"):
        assert refused(rename_node, actor, sales, name) == (Invalid, "name")
        assert refused(set_aliases, actor, sales, [name]) == (Invalid, "aliases")
    assert refused(rename_node, actor, work, "INBOX") == (Conflict, "name")
    assert refused(set_aliases, actor, work, ["inbox"]) == (Conflict, "aliases")
    assert refused(rename_node, actor, box, "Later") == (Invalid, None)
    assert refused(set_aliases, actor, box, ["Later"]) == (Invalid, None)
    assert refused(edit_node, actor, sales) == (Invalid, None)
    assert refused(edit_node, actor, sales, name="Selling", aliases=["Support"]) == (Conflict, "aliases")
    assert list_nodes(actor) == before


def test_a_moved_node_takes_its_memories_types_and_category_along(cast: Cast) -> None:
    actor = cast.ann.actor
    two = ["Business/Sales/Pricing", "Home/Garden"]
    for path in (FOUR, FOUR, *two, "Business/Marketing"):
        capture(actor, content="words", node=path)
    pricing = node_at(actor, "Business/Sales/Pricing")
    assert move_node(actor, pricing, "home").path == "Home/Pricing"
    assert tree_of(actor) == {
        "Business": ("category", "Business", 1),
        "Business/Marketing": ("concept", "Business", 1),
        "Business/Sales": ("concept", "Business", 0),
        "Home": ("category", "Home", 4),
        "Home/Garden": ("concept", "Home", 1),
        "Home/Pricing": ("concept", "Home", 3),
        "Home/Pricing/Widget Pro": ("topic", "Home", 2),
    }
    assert move_node(actor, pricing, None).type == "category"
    assert tree_of(actor) == {
        "Business": ("category", "Business", 1),
        "Business/Marketing": ("concept", "Business", 1),
        "Business/Sales": ("concept", "Business", 0),
        "Home": ("category", "Home", 1),
        "Home/Garden": ("concept", "Home", 1),
        "Pricing": ("category", "Pricing", 3),
        "Pricing/Widget Pro": ("concept", "Pricing", 2),
    }
    sales = node_at(actor, "Business/Sales")
    assert move_node(actor, pricing, str(sales)).path == "Business/Sales/Pricing"
    assert tree_of(actor)["Business/Sales/Pricing/Widget Pro"] == ("topic", "Business", 2)
    assert tree_of(actor)["Business"] == ("category", "Business", 4)
    places = [data for _, _, data in told(actor, "move_node")]
    assert [data["after"] for data in places] == [
        {"parent": str(node_at(actor, "Home"))},
        {"parent": None},
        {"parent": str(sales)},
    ]


def test_a_transcript_in_two_places_is_counted_once_above_both(cast: Cast) -> None:
    actor = cast.ann.actor
    file = capture_files(actor, scope="personal", files=[chat("one", "two", "three", node="A/B/C")])[0].memory
    capture(actor, content="other", node="A/D")
    edit(actor, str(file.id), Changes(node="A/D/E"))
    move_node(actor, node_at(actor, "A/D/E"), "A/B")
    assert {path: row[2] for path, row in tree_of(actor).items()} == {
        "A": 2, "A/B": 1, "A/B/C": 0, "A/B/E": 1, "A/D": 1,
    }  # fmt: skip
    with actor.session():
        rows = NodeMemory.objects.visible_to(actor).filter(recall_file_id=file.id)
        assert set(rows.values_list("entry_count", flat=True)) == {3}


def test_places_that_cannot_be(cast: Cast) -> None:
    actor = cast.ann.actor
    top = make_node(actor, "A/B/C")[0]
    make_node(actor, "Z/A")
    capture(actor, content="waits")
    deep = make_node(actor, "/".join(f"d{n}" for n in range(15)))[0].id
    a, b, box = node_at(actor, "A"), node_at(actor, "A/B"), inbox_id(actor.brain_to_write("personal").id)
    before = list_nodes(actor)
    for place in (str(a), "A/B", str(top.id)):
        assert refused(move_node, actor, a, place) == (Invalid, "parent")
    assert refused(move_node, actor, b, "Inbox") == (Invalid, "parent")
    assert refused(move_node, actor, b, str(deep)) == (Invalid, "parent")
    assert refused(move_node, actor, a, "Z") == (Conflict, "parent")
    assert refused(move_node, actor, a, "Nowhere") == (NotFound, "parent")
    assert refused(move_node, actor, box, "A") == (Invalid, None)
    assert move_node(actor, b, "A") == get_node(actor, b)
    assert (list_nodes(actor), told(actor, "move_node")) == (before, [])


def test_edges_are_upserted_listed_and_taken_away(cast: Cast) -> None:
    actor = cast.ann.actor
    a, b, c = (make_node(actor, path)[0].id for path in ("A", "B", "C"))
    first, made = relate(actor, a, b, "informs", 0.85, {"shared_entities": 4})
    assert (made, first.weight, first.evidence, first.scope) == (True, 0.85, {"shared_entities": 4}, "personal")
    again, made = relate(actor, a, b, "informs", 0.5, "because Ann says so")
    assert (made, again.id, again.weight, again.evidence) == (False, first.id, 0.5, "because Ann says so")
    other = relate(actor, c, a, "precedes")[0]
    heavy = relate(actor, a, c, "related_to", 1)[0]
    assert get_node(actor, a).connections == (Connection(c, "related_to", 1.0), Connection(b, "informs", 0.5))
    assert {view.id: view.connections for view in list_nodes(actor)} == {
        a: get_node(actor, a).connections,
        b: (),
        c: (Connection(a, "precedes", 1.0),),
    }
    assert list_relationships(actor) == [heavy, other, again]
    assert list_relationships(actor, node="c") == [heavy, other]
    assert list_relationships(actor, node=str(b), relationship="informs") == [again]
    assert list_relationships(actor, relationship="resolves") == []
    unrelate(actor, heavy.id)
    assert list_relationships(actor) == [other, again]
    assert refused(unrelate, actor, heavy.id) == (NotFound, None)
    assert [data["weight"] for _, _, data in told(actor, "relate")] == [0.85, 0.5, 1.0, 1]
    assert [target for _, target, _ in told(actor, "unrelate")] == [heavy.id]


def test_edges_that_cannot_be(cast: Cast) -> None:
    actor = cast.ann.actor
    a, b = (make_node(actor, path)[0].id for path in ("A", "B"))
    shared = make_node(actor, "A", scope="corporate")[0].id
    for weight in (-0.01, 1.01, 0.123, float("nan"), float("inf")):
        assert refused(relate, actor, a, b, "informs", weight) == (Invalid, "weight")
    assert refused(relate, actor, a, a, "informs") == (Invalid, "target_node_id")
    assert refused(relate, actor, a, b, "contains") == (Invalid, "relationship")
    assert refused(relate, actor, a, shared, "informs") == (NotFound, "target_node_id")
    assert refused(relate, actor, uuid4(), a, "informs") == (NotFound, "source_node_id")
    assert refused(relate, actor, a, b, "informs", 1, "x" * 5_000) == (TooLarge, "evidence")
    assert list_relationships(actor) == []


def everything(actor: Actor) -> list[Any]:
    return [list_nodes(actor), list_relationships(actor), draw(actor)]


def test_another_persons_tree_is_invisible_and_unchangeable(cast: Cast) -> None:
    ann = cast.ann.actor
    capture(ann, content="canary", node="Canary/Nest")
    nest, top = node_at(ann, "Canary/Nest"), node_at(ann, "Canary")
    edge = relate(ann, top, nest, "informs")[0].id
    before = everything(ann)
    for other in (cast.bob.actor, cast.eve.actor):
        own = make_node(other, "Own")[0].id
        unknown = uuid4()
        for node in (nest, unknown):
            verbs: list[tuple[Any, ...]] = [
                (get_node, other, node),
                (rename_node, other, node, "Taken"),
                (set_aliases, other, node, ["Taken"]),
                (move_node, other, node, None),
            ]
            assert [refused(*verb) for verb in verbs] == [(NotFound, None)] * 4
            assert refused(move_node, other, own, str(node)) == (NotFound, "parent")
            assert refused(relate, other, node, own, "informs") == (NotFound, "source_node_id")
            assert refused(relate, other, own, node, "informs") == (NotFound, "target_node_id")
            assert refused(draw, other, node=str(node)) == (NotFound, "node")
        assert refused(unrelate, other, edge) == (NotFound, None)
        assert [view.path for view in list_nodes(other)] == ["Own"]
        assert (list_relationships(other), len(draw(other).nodes)) == ([], 1)
    assert everything(ann) == before


def test_the_corporate_tree_is_changed_by_curators_alone(cast: Cast) -> None:
    ann, bob = cast.ann.actor, cast.bob.actor  # owner and member
    viewer = _person(cast.acme, "vic@acme.test", "viewer").actor
    made = make_node(bob, "Business/Sales", scope="corporate")[0].id  # filing makes nodes too
    top = node_at(ann, "Business", "corporate")
    edge = relate(ann, top, made, "informs")[0].id
    before = everything(ann)
    for actor, field in ((bob, None), (viewer, "scope")):
        verbs: list[tuple[Any, ...]] = [
            (rename_node, actor, made, "Taken"),
            (set_aliases, actor, made, ["Taken"]),
            (move_node, actor, made, None),
            (relate, actor, made, top, "resolves"),
            (unrelate, actor, edge),
        ]
        assert [refused(*verb) for verb in verbs] == [(Forbidden, field)] * 5
    assert refused(make_node, viewer, "Taken", scope="corporate") == (Forbidden, "scope")
    assert everything(ann) == before
    assert rename_node(ann, made, "Selling").path == "Business/Selling"
    assert [view.path for view in list_nodes(viewer, scope="corporate")] == ["Business", "Business/Selling"]


def test_the_map_shows_levels_and_lifts_edges_to_what_is_shown(cast: Cast) -> None:
    actor = cast.ann.actor
    for path in ("A/B/C", "A/D", "Z"):
        make_node(actor, path)
    a, b, c, d, z = (node_at(actor, path) for path in ("A", "A/B", "A/B/C", "A/D", "Z"))
    relate(actor, c, d, "informs", 0.4)
    relate(actor, b, d, "informs", 0.9)
    relate(actor, c, z, "precedes", 0.3)
    whole = draw(actor, scope="personal")
    assert [(node.id, node.name, node.parent_id) for node in whole.nodes] == [
        (a, "A", None), (z, "Z", None), (b, "B", a), (d, "D", a), (c, "C", b),
    ]  # fmt: skip
    contains = [DrawnEdge(a, b, "contains", 1.0), DrawnEdge(a, d, "contains", 1.0), DrawnEdge(b, c, "contains", 1.0)]
    assert whole.edges[:3] == tuple(contains)
    assert set(whole.edges[3:]) == {
        DrawnEdge(b, d, "informs", 0.9),
        DrawnEdge(c, d, "informs", 0.4),
        DrawnEdge(c, z, "precedes", 0.3),
    }
    assert (whole.levels, whole.node_count, whole.is_aggregated) == (3, 5, False)
    two = draw(actor, depth=2)
    assert two.edges == (
        *contains[:2],
        DrawnEdge(b, d, "informs", 0.9),
        DrawnEdge(b, z, "precedes", 0.3),
    )
    below = draw(actor, node="A/B")
    assert ([node.id for node in below.nodes], below.edges) == ([b, c], (contains[2],))
    assert draw(cast.bob.actor) == Drawing((), (), 0, 0, False)


def test_a_map_that_is_too_large_is_shown_from_the_top(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = cast.ann.actor
    for path in ("A/B/C", "A/B/D", "Z"):
        make_node(actor, path)
    capture(actor, content="largest", node="Z")
    shown = {}
    for most in (5, 4, 2, 1):
        monkeypatch.setattr(nodes, "DRAWN_NODES", most)
        drawing = draw(actor)
        names = [node.name for node in drawing.nodes]
        shown[most] = (names, drawing.levels, drawing.node_count, drawing.is_aggregated)
    assert shown == {
        5: (["Z", "A", "B", "C", "D"], 3, 5, False),
        4: (["Z", "A", "B"], 2, 5, True),
        2: (["Z", "A"], 1, 5, True),
        1: (["Z"], 1, 5, True),
    }


def test_the_database_keeps_the_rules_of_edges(cast: Cast) -> None:
    actor = cast.ann.actor
    a, b = (make_node(actor, path)[0].id for path in ("A", "B"))
    brain = actor.brain_to_write("personal")
    good = {"source_node_id": a, "target_node_id": b, "relationship": "informs", "weight": 1}
    for wrong in ({"target_node_id": a}, {"weight": 2}, {"relationship": "contains"}, {"target_node_id": uuid4()}):
        with pytest.raises(IntegrityError), actor.session():
            NodeRelationship.objects.writable_by(actor).create(brain_id=brain.id, scope=brain.scope, **(good | wrong))
    assert list_relationships(actor) == []
    with actor.session():
        assert Node.objects.visible_to(actor).count() == 2
