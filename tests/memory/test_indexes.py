"""Index files are exact at once, whatever was done before; and they are kept, so that asking again is cheap."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actor import Actor, job_actor
from accounts.errors import BrainError, NotFound
from accounts.keys import find_key
from accounts.people import actor_for_key
from graph.models import Node, NodeIndex, NodeMemory
from graph.tree import list_nodes
from memory.capture import append_messages, capture, capture_bulk, capture_files
from memory.corpus_version import lock_brain
from memory.edit import Changes, edit
from memory.erase import restore, trash
from memory.indexes import node_index, refresh_indexes
from memory.memories import list_memories
from memory.models import RagEntry
from memory.nodes import make_node, move_node, rename_node
from memory.types import NewMessage
from tests.cast import Cast, _person
from tests.memory.test_capture import chat, thought
from tests.memory.test_nodes import node_at

TOPIC, DEEP = "Business/Sales/Pricing", "Business/Sales/Pricing/Widget Pro"
START = datetime(2025, 3, 15, tzinfo=UTC)


def fill(actor: Actor, count: int, node: str, *, words: str = "widget pricing", scope: str = "personal") -> list[str]:
    """Thoughts on successive days from START; their ids."""
    files = [
        thought(f"{words} {node[-3:].lower()}{n}", node=node, occurred_at=START + timedelta(days=n))
        for n in range(count)
    ]
    return [str(kept.memory.id) for kept in capture_bulk(actor, scope=scope, files=files)]  # type: ignore[union-attr]


def index_at(actor: Actor, path: str, scope: str = "personal") -> dict[str, Any] | None:
    return node_index(actor, node_at(actor, path, scope))


def found(index: dict[str, Any] | None) -> dict[str, Any]:
    assert index is not None
    return index


def stored(actor: Actor) -> dict[str, int]:
    """The nodes that have a stored index, by name, and the version it is good at."""
    with actor.session():
        rows = dict(NodeIndex.objects.visible_to(actor).values_list("node_id", "revision"))
        names = dict(Node.objects.visible_to(actor).filter(id__in=rows).values_list("id", "name"))
    return {names[node_id]: revision for node_id, revision in rows.items()}


def without_time(index: dict[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (index or {}).items() if name != "last_updated"}


def test_five_memories_make_an_index_on_three_levels_and_ten_below(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 4, DEEP)
    paths = ("Business", "Business/Sales", TOPIC, DEEP)
    assert [index_at(actor, path) for path in paths] == [None] * 4
    fill(actor, 1, DEEP)
    assert [index_at(actor, path) is not None for path in paths] == [True, True, True, False]
    fill(actor, 4, DEEP)
    assert index_at(actor, DEEP) is None
    last = fill(actor, 1, DEEP)[0]
    assert found(index_at(actor, DEEP))["total_memory_count"] == 10
    trash(actor, last)
    assert index_at(actor, DEEP) is None
    assert "Widget Pro" not in stored(actor)


def test_an_index_as_a_whole(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 4, DEEP, words="widget pro pricing")
    fill(actor, 2, "Business/Sales/Pricing/Widget Lite", words="starter widget pricing")
    capture(actor, content="We asked Widget Corp about pricing.", node=TOPIC, occurred_at=START - timedelta(days=400))
    before = timezone.now()
    index = found(index_at(actor, TOPIC))
    updated = datetime.fromisoformat(index.pop("last_updated"))
    assert before - timedelta(minutes=1) < updated < timezone.now()
    lists = [index.pop("aggregate_keywords"), *(sub.pop("keywords") for sub in index["sub_nodes"])]
    assert set(lists[0][:2]) == {"pricing", "widget"}
    assert [set(words) for words in lists] == [
        {"pricing", "widget", "pro", "starter", "corp", "asked", "pro0", "pro1", "pro2", "pro3", "ite0", "ite1"},
        {"pricing", "widget", "pro", "pro0", "pro1", "pro2", "pro3"},
        {"pricing", "widget", "starter", "ite0", "ite1"},
    ]
    keywords = ", ".join(lists[0][:4])
    assert index == {
        "node_id": str(node_at(actor, TOPIC)),
        "node_name": "Pricing",
        "parent_node": "Sales",
        "sub_nodes": [
            {"name": "Widget Pro", "memory_count": 4, "date_range": {"oldest": "2025-03-15", "newest": "2025-03-18"}},
            {"name": "Widget Lite", "memory_count": 2, "date_range": {"oldest": "2025-03-15", "newest": "2025-03-16"}},
        ],
        "key_entities": ["Widget Corp"],
        "summary": f"Pricing, 7 memories. Keywords: {keywords}. Names: Widget Corp. Dates: 2024-02-09 to 2025-03-18.",
        "total_memory_count": 7,
        "date_range": {"oldest": "2024-02-09", "newest": "2025-03-18"},
    }


def test_deletion_takes_words_counts_and_dates_out_at_once(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 6, TOPIC)
    before = without_time(index_at(actor, TOPIC))
    secret = str(
        capture(
            actor, content="The zorkmid belongs to Mister Quux.", node=TOPIC, occurred_at=START - timedelta(days=99)
        ).memory.id
    )
    with_it = found(index_at(actor, TOPIC))
    assert "zorkmid" in with_it["aggregate_keywords"]
    assert (with_it["key_entities"], with_it["date_range"]["oldest"]) == (["Mister Quux"], "2024-12-06")
    trash(actor, secret)
    assert stored(actor) == {}  # no word of it waits in the database to be replaced
    assert without_time(index_at(actor, TOPIC)) == before
    restore(actor, secret)
    assert without_time(index_at(actor, TOPIC)) == without_time(with_it)


def test_an_index_is_made_once_and_kept_while_nothing_below_changes(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 5, TOPIC)
    fill(actor, 5, "Home")
    home = node_at(actor, "Home")
    first = node_index(actor, home)
    made_at = stored(actor)["Home"]
    assert node_index(actor, home) == first
    capture(actor, content="elsewhere", node=TOPIC)
    assert node_index(actor, home) == first  # it has not been made anew: its time is the same
    assert stored(actor)["Home"] == made_at + 1
    capture(actor, content="here", node="Home/Garden")
    assert without_time(node_index(actor, home)) != without_time(first)


def test_entries_that_are_rewritten_in_place_are_noticed(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 5, TOPIC)
    index_at(actor, "Business")
    brain = actor.brain_to_write("personal")
    with actor.session():
        revision = lock_brain(actor, brain)
        RagEntry.objects.writable_by(actor).update(keywords=["changed"], revision=revision)
    assert found(index_at(actor, "Business"))["aggregate_keywords"] == ["changed"]


def test_names_and_places_are_those_of_now(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 12, DEEP)
    ids = {path: node_at(actor, path) for path in ("Business", "Business/Sales", TOPIC, DEEP)}

    def names() -> list[Any]:
        indexes = [found(node_index(actor, node_id)) for node_id in ids.values()]
        return [(i["node_name"], i["parent_node"], [sub["name"] for sub in i["sub_nodes"]]) for i in indexes]

    assert names() == [
        ("Business", None, ["Sales"]),
        ("Sales", "Business", ["Pricing"]),
        ("Pricing", "Sales", ["Widget Pro"]),
        ("Widget Pro", "Pricing", []),
    ]
    rename_node(actor, ids[TOPIC], "Prices")
    assert names()[1:] == [
        ("Sales", "Business", ["Prices"]),
        ("Prices", "Sales", ["Widget Pro"]),
        ("Widget Pro", "Prices", []),
    ]
    move_node(actor, ids[DEEP], None)
    assert [node_index(actor, ids[path]) for path in ("Business", "Business/Sales", TOPIC)] == [None] * 3
    assert found(node_index(actor, ids[DEEP]))["parent_node"] is None


def test_who_may_not_write_reads_an_exact_index_and_stores_nothing(cast: Cast) -> None:
    ann = cast.ann.actor
    fill(ann, 6, "Business", scope="corporate")
    node = node_at(ann, "Business", "corporate")
    viewer = _person(cast.acme, "vic@acme.test", "viewer").actor
    key = find_key(cast.key_of("context"))
    assert key is not None
    for reader in (viewer, actor_for_key(key)):
        assert found(node_index(reader, node))["total_memory_count"] == 6
        assert stored(ann) == {}
    index = node_index(ann, node)
    assert list(stored(ann)) == ["Business"]
    capture(ann, content="zorkmid", scope="corporate", node="Home")
    for reader in (viewer, actor_for_key(key)):
        assert node_index(reader, node) == index


def test_an_index_of_another_persons_node_does_not_exist(cast: Cast) -> None:
    ann, bob = cast.ann.actor, cast.bob.actor
    fill(ann, 6, "Canary", words="canary secret")
    fill(bob, 6, "Canary", words="own words")
    assert "secret" in found(index_at(ann, "Canary"))["aggregate_keywords"]
    for other in (bob, cast.eve.actor):
        for node in (node_at(ann, "Canary"), uuid4()):
            with pytest.raises(NotFound) as refused:
                node_index(other, node)
            assert (refused.value.message, refused.value.field) == ("Not found.", None)
    mine = found(index_at(bob, "Canary"))
    assert (mine["total_memory_count"], "secret" in str(mine)) == (6, False)


def test_the_worker_refreshes_a_node_and_all_above_it(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 6, DEEP)
    brain = actor.brain_to_write("personal")
    worker = job_actor(brain.id, brain.scope)
    assert refresh_indexes(worker, brain, [node_at(actor, DEEP)]) == 3
    assert set(stored(actor)) == {"Business", "Sales", "Pricing"}
    topic = node_at(actor, TOPIC)
    with worker.session():
        lock_brain(worker, brain)  # as while filing
        assert refresh_indexes(worker, brain, [topic]) == 3
    assert len(set(stored(actor).values())) == 1


def test_while_somebody_changes_the_brain_an_index_is_shown_but_not_stored(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 6, "Business")
    node = node_at(actor, "Business")
    writer = job_actor(actor.readable[0].id, "personal")
    held, done = Event(), Event()

    def hold() -> None:
        with writer.session():
            lock_brain(writer, writer.writable[0])
            held.set()
            done.wait(10)
        connection.close()

    thread = Thread(target=hold)
    thread.start()
    assert held.wait(10)
    assert found(node_index(actor, node))["total_memory_count"] == 6
    assert stored(actor) == {}
    done.set()
    thread.join()
    node_index(actor, node)
    assert list(stored(actor)) == ["Business"]


def test_readers_beside_a_writer_keep_nothing_outdated(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 8, "Business/Sales")
    nodes = [node_at(actor, path) for path in ("Business", "Business/Sales")]
    done = Event()
    wrong: list[Any] = []

    def read() -> None:
        while not done.is_set():
            sales = (node_index(actor, nodes[0]) or {})["sub_nodes"][0]
            wrong.extend([sales] * (sales["memory_count"] not in (8, 9)))
        connection.close()

    readers = [Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(30):
        memory = capture(actor, content=f"zorkmid {n}", node="Business/Sales").memory.id
        trash(actor, str(memory))
        indexes = [found(node_index(actor, node)) for node in nodes]
        wrong.extend(index for index in indexes if index["total_memory_count"] != 8 or "zorkmid" in str(index))
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_an_archived_index_is_revived_on_use(cast: Cast) -> None:
    actor = cast.ann.actor
    fill(actor, 6, "Business")
    index = index_at(actor, "Business")
    with actor.session():
        NodeIndex.objects.writable_by(actor).update(archived_at=timezone.now())
    assert index_at(actor, "Business") == index
    with actor.session():
        assert NodeIndex.objects.visible_to(actor).get().archived_at is None


def test_a_wide_and_deep_node_takes_a_handful_of_queries(cast: Cast) -> None:
    actor = cast.ann.actor
    for n in range(7):
        capture(actor, content=f"words {n}", node=f"A/B{n}/C{n}")
    node = node_at(actor, "A")
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as context:
            node_index(actor, node)
        counts.append(len(context))
    # BEGIN; versions, node, stored; three levels; dates, entries; versions; lock, store; COMMIT. Then the first four.
    assert counts == [13, 5]


# -- whatever happens --------------------------------------------------------------------------------------------------

PLACES = ("A", "A/B", "A/B/C", "A/B/C/D", "A/E", "F", "F/G", "Inbox")
WORDS = ("apple", "pear", "plum", "cherry", "quince", "zebra", "Ann Lee", "Bob Ray")


class Life:
    """Random changes to one brain. What is refused changes nothing, which is checked like all else."""

    def __init__(self, actor: Actor, seed: int) -> None:
        self.actor, self.chance = actor, random.Random(seed)

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=4))

    def memory(self, state: str = "live") -> str:
        rows = list_memories(self.actor, scope="personal", state=state, limit=100)
        return str(self.chance.choice(rows).id) if rows else str(uuid4())

    def node(self) -> UUID:
        return self.chance.choice(list_nodes(self.actor, scope="personal")).id

    def capture(self) -> None:
        when = START + timedelta(days=self.chance.randrange(-500, 500))
        capture(self.actor, content=self.text(), node=self.chance.choice(PLACES), occurred_at=when)

    def converse(self) -> None:
        file = chat(*(self.text() for _ in range(self.chance.randint(2, 4))), node=self.chance.choice(PLACES))
        capture_files(self.actor, scope="personal", files=[file])

    def append(self) -> None:
        append_messages(self.actor, self.memory(), [NewMessage("user", self.text())])

    def refile(self) -> None:
        edit(self.actor, self.memory(), Changes(node=self.chance.choice(PLACES)))

    def rewrite(self) -> None:
        edit(self.actor, self.memory(), Changes(content=self.text()))

    def trash(self) -> None:
        trash(self.actor, self.memory())

    def restore(self) -> None:
        restore(self.actor, self.memory("trashed"))

    def rename(self) -> None:
        rename_node(self.actor, self.node(), f"N{self.chance.randrange(20)}")

    def move(self) -> None:
        move_node(self.actor, self.node(), self.chance.choice([None, str(self.node()), str(self.node())]))

    def make(self) -> None:
        make_node(self.actor, self.chance.choice(PLACES))

    def step(self) -> str:
        changes: list[Callable[[], None]] = [
            self.capture, self.capture, self.capture, self.converse, self.append, self.refile, self.rewrite,
            self.trash, self.restore, self.rename, self.move, self.move, self.make,
        ]  # fmt: skip
        try:
            self.chance.choice(changes)()
        except BrainError as error:
            return type(error).__name__
        return "done"


def recount(actor: Actor) -> dict[UUID, set[UUID]]:
    """Node → the recall files with an entry in its subtree, from the entries alone."""
    with actor.session():
        parents = dict(Node.objects.visible_to(actor).values_list("id", "parent_id"))
        entries = list(RagEntry.objects.visible_to(actor).values_list("node_id", "recall_file_id"))
    below: dict[UUID, set[UUID]] = {node_id: set() for node_id in parents}
    for node_id, recall_file_id in entries:
        current: UUID | None = node_id
        while current is not None:
            below[current].add(recall_file_id)
            current = parents[current]
    return below


def counted(actor: Actor) -> tuple[dict[UUID, set[UUID]], dict[UUID, int]]:
    with actor.session():
        rows = NodeMemory.objects.visible_to(actor).values_list("node_id", "recall_file_id")
        nodes = dict(Node.objects.visible_to(actor).values_list("id", "memory_count"))
        below: dict[UUID, set[UUID]] = {node_id: set() for node_id in nodes}
        for node_id, recall_file_id in rows:
            below[node_id].add(recall_file_id)
    return below, nodes


def indexes(actor: Actor) -> dict[UUID, dict[str, Any]]:
    return {view.id: without_time(node_index(actor, view.id)) for view in list_nodes(actor, scope="personal")}


@pytest.mark.parametrize("seed", range(4))
def test_after_any_life_every_count_and_every_index_is_exact(cast: Cast, seed: int) -> None:
    life = Life(cast.ann.actor, seed)
    actor = life.actor
    capture_bulk(actor, scope="personal", files=[thought(life.text(), node=place) for place in PLACES[:-1] * 2])
    outcomes: set[str] = set()
    for _ in range(6):
        outcomes |= {life.step() for _ in range(15)}
        kept = indexes(actor)
        with actor.session():
            NodeIndex.objects.writable_by(actor).delete()
        assert indexes(actor) == kept
        below = recount(actor)
        assert counted(actor) == (below, {node_id: len(files) for node_id, files in below.items()})
        live = list_memories(actor, scope="personal", limit=100)
        assert set().union(*below.values()) == {memory.id for memory in live}
    assert "done" in outcomes
    assert any(kept.values())
