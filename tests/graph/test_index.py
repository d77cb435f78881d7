"""What an index file says, and what it never says."""

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from graph.index import Passage, compose_index, least_memories
from graph.tree import Twig

NODE, PRO, LITE, EMPTY = (UUID(int=number) for number in range(1, 5))
SALES = Twig(NODE, None, "Product Knowledge", 3)
CHILDREN = (
    Twig(LITE, NODE, "Widget Lite", 1),
    Twig(PRO, NODE, "Widget Pro", 2),
    Twig(EMPTY, NODE, "Enterprise Suite", 0),
)
WHEN = "2026-01-20T14:30:00Z"


def day(number: int) -> datetime:
    return datetime(2025, 3, number, 23, 59, tzinfo=UTC)


def index_of(*passages: Passage, node: Twig = SALES, children: tuple[Twig, ...] = CHILDREN) -> dict[str, Any]:
    places = {passage.child for passage in passages}
    return compose_index(
        node,
        parent_name="Sales",
        children=children,
        passages=passages,
        spans={place: (day(1), day(9)) for place in places},
        last_updated=WHEN,
    )


def said(index: dict[str, Any]) -> list[list[str]]:
    """The words of each text in an index, and of each list of words read as a text; names of nodes left out."""
    named = [index["node_name"], *(sub["name"] for sub in index["sub_nodes"])]
    lists = [index["aggregate_keywords"], *(sub["keywords"] for sub in index["sub_nodes"])]
    texts = [index["summary"], *index["key_entities"], *(" ".join(words) for words in lists)]
    for name in named:
        texts = [text.replace(name, "|") for text in texts]
    return [re.findall(r"[\w|]+", text.lower()) for text in texts]


def fives(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}


def test_an_index_has_exactly_the_specified_shape() -> None:
    index = compose_index(
        SALES,
        parent_name="Sales",
        children=CHILDREN,
        passages=[
            Passage(PRO, "a", ["specs", "enterprise"], ["Widget Pro", "API"]),
            Passage(PRO, "b", ["enterprise"], ["Widget Pro"]),
            Passage(LITE, "c", ["starter"], []),
        ],
        spans={PRO: (day(2), day(5)), LITE: (day(1), day(3))},
        last_updated=WHEN,
    )
    assert index == {
        "node_id": str(NODE),
        "node_name": "Product Knowledge",
        "parent_node": "Sales",
        "last_updated": WHEN,
        "sub_nodes": [
            {
                "name": "Widget Pro",
                "memory_count": 2,
                "keywords": ["enterprise", "specs"],
                "date_range": {"oldest": "2025-03-02", "newest": "2025-03-05"},
            },
            {
                "name": "Widget Lite",
                "memory_count": 1,
                "keywords": ["starter"],
                "date_range": {"oldest": "2025-03-01", "newest": "2025-03-03"},
            },
        ],
        "aggregate_keywords": ["enterprise", "starter", "specs"],
        "key_entities": ["Widget Pro", "API"],
        "summary": "Product Knowledge, 3 memories. Keywords: enterprise, starter, specs. Names: Widget Pro, API. "
        "Dates: 2025-03-01 to 2025-03-05.",
        "total_memory_count": 3,
        "date_range": {"oldest": "2025-03-01", "newest": "2025-03-05"},
    }
    assert json.loads(json.dumps(index)) == index


def test_a_word_counts_once_a_recall_file_whatever_its_form() -> None:
    index = index_of(
        Passage(None, "a", ["price", "price", "costs"], ["acme corp"]),
        Passage(None, "a", ["prices", "costs"], ["ACME Corp"]),
        Passage(None, "b", ["prices"], ["ACME Corp"]),
        Passage(PRO, "c", ["prices"], []),
        Passage(LITE, "c", [], []),
    )
    assert index["aggregate_keywords"] == ["prices", "costs"]
    assert index["key_entities"] == ["ACME Corp"]
    assert [sub["keywords"] for sub in index["sub_nodes"]] == [["prices"], []]


def test_lists_are_bounded_and_show_what_came_last() -> None:
    old = [
        Passage(PRO, f"{file:03}", [f"old{n}x" for n in range(60)], [f"Old{n} Name" for n in range(40)])
        for file in range(9)
    ]
    new = Passage(PRO, "999", ["api", "integration"], ["Ann Lee"])
    children = tuple(Twig(UUID(int=100 + n), NODE, f"Node {n:03}", n) for n in range(1, 251))
    filled = [Passage(child.id, "000", [], []) for child in children]
    before, after = (index_of(*old, *more, *filled, children=(CHILDREN[1], *children)) for more in ([], [new]))
    assert [len(before[name]) for name in ("aggregate_keywords", "key_entities", "sub_nodes")] == [40, 20, 200]
    assert [sub["name"] for sub in before["sub_nodes"][:2]] == ["Node 250", "Node 249"]
    assert after["aggregate_keywords"][:38] == before["aggregate_keywords"][:38]
    assert set(after["aggregate_keywords"][38:]) == {"api", "integration"}
    assert after["key_entities"] == [*before["key_entities"][:19], "Ann Lee"]
    shown = index_of(*old, new)["sub_nodes"][0]
    assert (shown["name"], len(shown["keywords"])) == ("Widget Pro", 12)
    assert set(shown["keywords"][10:]) == {"api", "integration"}


def test_the_order_of_the_rows_plays_no_part() -> None:
    passages = [Passage(PRO, f"{n % 7}", [f"w{n % 5}x", f"v{n % 3}x"], [f"Name {n % 4}"]) for n in range(40)]
    assert index_of(*passages) == index_of(*reversed(passages))


@pytest.mark.parametrize(
    "words",
    [
        "alpha beta gamma delta epsilon zeta eta theta",
        "zulu yankee xray whiskey victor uniform tango sierra",
        "widget one widget two widget three widget four",
    ],
)
def test_no_field_reads_like_a_sentence(words: str) -> None:
    names = ["Anna Maria Lopez Garcia", "Gree Yun Jia 1.5", "Dana Elise Fox", "Smith & Sons & Partners & Co"]
    text = f"{words} {' '.join(names)}"
    passages = [Passage(PRO, f"{n}", words.split(), names) for n in range(6)]
    index = index_of(*passages)
    heard = fives(re.findall(r"\w+", text.lower()))
    assert [five for field in said(index) for five in fives(field) if five in heard] == []
    assert set(index["key_entities"]) == {"Anna Maria Lopez Garcia", "Dana Elise Fox"}


def test_five_memories_make_an_index_and_ten_further_down() -> None:
    assert [least_memories(kind) for kind in (None, "category", "concept", "topic")] == [5, 5, 5, 10]
