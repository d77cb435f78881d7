from uuid import uuid4

import pytest

from accounts.actor import BrainRef
from accounts.errors import Invalid, NotFound
from graph.models import Node, inbox_id
from graph.tree import find_node, find_or_make_node, inbox, paths, subtree
from memory.capture import capture
from memory.edit import Changes, edit
from memory.erase import trash
from tests.cast import Cast


def brain_of(cast: Cast) -> BrainRef:
    return cast.ann.actor.brain_to_write("personal")


def tree_of(cast: Cast) -> dict[str, tuple[str, str, int]]:
    """path → type, category, memory count."""
    with cast.ann.actor.session() as actor:
        nodes = list(Node.objects.visible_to(actor).filter(brain_id=brain_of(cast).id))
        named = paths(actor, [node.id for node in nodes])
    return {named[node.id].path: (node.type, node.category, node.memory_count) for node in nodes}


def test_a_path_is_made_once_whatever_its_case_and_spaces(cast: Cast) -> None:
    with cast.ann.actor.session() as actor:
        made = find_or_make_node(actor, brain_of(cast), "Business/Sales/Pricing/Widget Pro")
        again = find_or_make_node(actor, brain_of(cast), " business / SALES/pricing/widget pro ")
        assert find_node(actor, brain_of(cast), "business/sales/pricing/WIDGET PRO") == made == again
        assert find_node(actor, brain_of(cast), str(made)) == made
    assert tree_of(cast) == {
        "Business": ("category", "Business", 0),
        "Business/Sales": ("concept", "Business", 0),
        "Business/Sales/Pricing": ("topic", "Business", 0),
        "Business/Sales/Pricing/Widget Pro": ("topic", "Business", 0),
    }


@pytest.mark.parametrize("path", ["", "/", "a//b", "a/", "/".join("x" * 17), "y" * 256, "a\nb", "Inbox/below"])
def test_paths_that_name_nothing_are_refused(cast: Cast, path: str) -> None:
    with pytest.raises(Invalid) as refused, cast.ann.actor.session() as actor:
        find_or_make_node(actor, brain_of(cast), path)
    assert refused.value.field == "node"
    assert tree_of(cast) == {}


def test_unknown_and_foreign_nodes_look_the_same(cast: Cast) -> None:
    with cast.bob.actor.session() as bob:
        foreign = find_or_make_node(bob, bob.brain_to_write("personal"), "Bob/Secrets")
    messages = []
    for node in (str(foreign), str(uuid4()), "Bob/Secrets", "Nobody"):
        with pytest.raises(NotFound) as refused, cast.ann.actor.session() as actor:
            find_node(actor, brain_of(cast), node)
        messages.append((refused.value.message, refused.value.field))
    assert messages == [("No such node.", "node")] * 4


def test_the_inbox_follows_from_the_brain(cast: Cast) -> None:
    with cast.ann.actor.session() as actor:
        assert inbox(actor, brain_of(cast)) == inbox_id(brain_of(cast).id)
        assert find_or_make_node(actor, brain_of(cast), "inbox") == inbox_id(brain_of(cast).id)
    assert tree_of(cast) == {"Inbox": ("topic", "Inbox", 0)}


def test_counts_follow_captures_moves_and_deletions_up_to_the_root(cast: Cast) -> None:
    actor = cast.ann.actor
    first = capture(actor, content="one", node="A/B/C").memory
    capture(actor, content="two", node="A/B/D")
    capture(actor, content="three")
    assert {path: row[2] for path, row in tree_of(cast).items()} == {
        "A": 2,
        "A/B": 2,
        "A/B/C": 1,
        "A/B/D": 1,
        "Inbox": 1,
    }
    edit(actor, str(first.id), Changes(node="A/X"))
    assert {path: row[2] for path, row in tree_of(cast).items()} == {
        "A": 2, "A/B": 1, "A/B/C": 0, "A/B/D": 1, "A/X": 1, "Inbox": 1,
    }  # fmt: skip
    trash(actor, str(first.id))
    assert {path: row[2] for path, row in tree_of(cast).items()} == {
        "A": 1, "A/B": 1, "A/B/C": 0, "A/B/D": 1, "A/X": 0, "Inbox": 1,
    }  # fmt: skip


def test_a_subtree_is_the_node_and_all_below_it(cast: Cast) -> None:
    with cast.ann.actor.session() as actor:
        brain = brain_of(cast)
        top = find_or_make_node(actor, brain, "A/B")
        below = [find_or_make_node(actor, brain, path) for path in ("A/B/C", "A/B/C/D", "A/B/E")]
        find_or_make_node(actor, brain, "A/Z")
        assert set(subtree(actor, brain, top)) == {top, *below}
