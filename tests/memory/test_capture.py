import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest
from django.db import connections

from accounts.errors import BrainError, Conflict, Forbidden, Invalid, NotFound, Stale, TooLarge
from accounts.models import Operation
from memory.capture import append_messages, capture, capture_bulk, capture_files
from memory.edit import Changes, edit
from memory.memories import Cursor, Filters, get_memory, list_memories, list_revisions
from memory.models import IdempotencyKey, Job, Message, RagEntry, RecallFile
from memory.recall import recall
from memory.stats import thought_stats
from memory.types import Captured, Idempotency, NewMessage, NewRecallFile
from tests.cast import Cast, Person

STORED = (RecallFile, Message, RagEntry, Job, Operation, IdempotencyKey)

ODD_TEXTS = {
    "emoji": "👩‍👩‍👧‍👦 says 🏳️‍🌈 👍🏽",
    "right to left": "שלום עולם‏ مرحبا",
    "combining": "Z̷̢̛͇̊a̶l̴g̶o̷ e\u0301 é",
    "html": "<script>alert('x')</script> &amp; <b>",
    "sql": "'; DROP TABLE memory_message; -- %_\\ \"",
    "full text operators": "foo-bar & !baz | (qux:*) <-> 'a'",
    "white space": "  leading, trailing \t\r\n  ",
    "line ends": "a\r\nb\rc\nd\u2028e",
    "control": "bell \x07 escape \x1b[31m",
    "private and unassigned": "\ue000 \U000f0000 \U0010fffd",
}


def stored_rows(person: Person) -> dict[str, int]:
    with person.actor.session() as actor:
        return {model.__name__: model.objects.visible_to(actor).count() for model in STORED}


def thought(content: str, **changes: object) -> NewRecallFile:
    return replace(NewRecallFile(kind="thought", messages=(NewMessage("user", content),)), **changes)  # type: ignore[arg-type]


def chat(*contents: str, **changes: object) -> NewRecallFile:
    messages = tuple(NewMessage(("user", "assistant")[i % 2], content) for i, content in enumerate(contents))
    return replace(NewRecallFile(kind="conversation", messages=messages), **changes)  # type: ignore[arg-type]


def test_what_is_captured_comes_back_as_it_was_and_is_found_at_once(cast: Cast) -> None:
    when = datetime(2025, 1, 8, 14, 30, tzinfo=UTC)
    captured = capture(
        cast.ann.actor,
        content="The zorkmid arrives on Friday.",
        category="idea",
        tags=["Coins", "coins", "travel"],
        node="Money/Old",
        occurred_at=when,
        metadata={"mood": "good"},
    )
    memory = get_memory(cast.ann.actor, captured.memory.recall_id)
    assert captured.created
    assert memory.messages is not None
    assert [(m.position, m.role, m.content) for m in memory.messages] == [(0, "user", "The zorkmid arrives on Friday.")]
    assert (memory.recall_id, memory.category, memory.tags, memory.node.path) == (
        "zorkmid-arrives-2025-01-08", "idea", ("Coins", "travel"), "Money/Old",
    )  # fmt: skip
    assert (memory.occurred_at, memory.metadata, memory.embedding_state) == (when, {"mood": "good"}, "pending")
    assert (memory.source, memory.contributed_by, memory.trust) == ("test", cast.ann.user.id, "human")
    assert [hit.id for hit in recall(cast.ann.actor, "ZORKMIDS?").hits] == [memory.id]
    assert stored_rows(cast.ann) == {
        "RecallFile": 1, "Message": 1, "RagEntry": 1, "Job": 1, "Operation": 1, "IdempotencyKey": 0,
    }  # fmt: skip


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_text_is_kept_byte_for_byte(cast: Cast, text: str) -> None:
    captured = capture(cast.ann.actor, content=text)
    memory = get_memory(cast.ann.actor, str(captured.memory.id))
    assert memory.messages is not None
    assert memory.messages[0].content.encode() == text.encode()


@pytest.mark.parametrize(
    ("changes", "error", "field"),
    [
        ({"content": ""}, Invalid, "content"),
        ({"content": " \t\n"}, Invalid, "content"),
        ({"content": "\u200b\u200d\ufeff"}, Invalid, "content"),
        ({"content": "\u3164 \u2800"}, Invalid, "content"),
        ({"content": "a\0b"}, Invalid, "content"),
        ({"content": "a\ud800b"}, Invalid, "content"),
        ({"content": "x" * 2_000_001}, TooLarge, "content"),
        ({"category": "poem"}, Invalid, "category"),
        ({"visibility": "secret"}, Invalid, "visibility"),
        ({"scope": "agent"}, Forbidden, "scope"),
        ({"scope": "nowhere"}, Invalid, "scope"),
        ({"tags": ["ok", " "]}, Invalid, "tags"),
        ({"tags": ["x" * 101]}, TooLarge, "tags"),
        ({"tags": [str(i) for i in range(101)]}, TooLarge, "tags"),
        ({"tags": ["\0"]}, Invalid, "tags"),
        ({"node": "a//b"}, Invalid, "node"),
        ({"node": "01890000-0000-7000-8000-000000000001"}, NotFound, "node"),
        ({"source_key": ""}, Invalid, "source_key"),
        ({"source_key": "k" * 301}, TooLarge, "source_key"),
        ({"occurred_at": datetime(2025, 1, 1)}, Invalid, "occurred_at"),
        ({"metadata": {"a": float("nan")}}, Invalid, "metadata"),
        ({"metadata": {"a": "\0"}}, Invalid, "metadata"),
        ({"metadata": {"a": "x" * 70_000}}, TooLarge, "metadata"),
    ],
)
def test_what_is_refused_names_its_field_and_stores_nothing(
    cast: Cast, changes: dict[str, object], error: type[BrainError], field: str
) -> None:
    with pytest.raises(error) as refused:
        capture(cast.ann.actor, **{"content": "fine", **changes})  # type: ignore[arg-type]
    assert refused.value.field == field
    assert stored_rows(cast.ann) == dict.fromkeys((model.__name__ for model in STORED), 0)


def test_a_megabyte_is_kept_and_its_last_sentence_found(cast: Cast) -> None:
    text = "All work and no play makes a dull day. " * 26_000 + "Finally the quagga ate a zorkmid."
    captured = capture(cast.ann.actor, content=text)
    memory = get_memory(cast.ann.actor, str(captured.memory.id))
    assert memory.messages is not None
    assert memory.messages[0].content == text
    assert [hit.id for hit in recall(cast.ann.actor, "quagga").hits] == [memory.id]


def test_a_known_source_makes_nothing_new(cast: Cast) -> None:
    first = capture(cast.ann.actor, content="one", source_key="app:1")
    again = capture(cast.ann.actor, content="one", source_key="app:1")
    assert (again.memory, again.created) == (first.memory, False)
    with pytest.raises(Conflict) as refused:
        capture(cast.ann.actor, content="two", source_key="app:1")
    assert refused.value.field == "source_key"
    assert capture(cast.bob.actor, content="two", source_key="app:1").created
    assert stored_rows(cast.ann)["RecallFile"] == 1


def test_a_longer_transcript_of_a_known_source_is_continued(cast: Cast) -> None:
    actor = cast.ann.actor
    first = capture_files(actor, scope="personal", files=[chat("a", "b", source_key="s")])[0]
    second = capture_files(actor, scope="personal", files=[chat("a", "b", "zorkmid", source_key="s")])[0]
    assert (second.created, second.memory.id, second.memory.message_count) == (False, first.memory.id, 3)
    assert [hit.first_message for hit in recall(actor, "zorkmid").hits] == [2]
    for other in (chat("a", "B", source_key="s"), chat("a", source_key="s")):
        with pytest.raises(Conflict):
            capture_files(actor, scope="personal", files=[other])


def test_an_idempotency_key_makes_a_repeat_harmless(cast: Cast) -> None:
    once = Idempotency("key-1", hashlib.sha256(b"body").digest())
    first = capture(cast.ann.actor, content="one", idempotency=once)
    again = capture(cast.ann.actor, content="one", idempotency=once)
    assert (again.memory, again.created) == (first.memory, False)
    assert capture(cast.bob.actor, content="one", idempotency=once).created
    with pytest.raises(Conflict) as refused:
        capture(cast.ann.actor, content="two", idempotency=replace(once, body_hash=hashlib.sha256(b"x").digest()))
    assert refused.value.field == "Idempotency-Key"
    assert stored_rows(cast.ann)["RecallFile"] == 1


def test_two_at_once_with_one_key_make_one_memory(cast: Cast) -> None:
    once = Idempotency("key-1", hashlib.sha256(b"body").digest())
    made: list[Captured] = []

    def run() -> None:
        made.append(capture(cast.ann.actor, content="one", idempotency=once))
        connections.close_all()

    threads = [Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert {captured.memory.id for captured in made} == {made[0].memory.id}
    assert [captured.created for captured in made].count(True) == 1


def test_in_bulk_the_good_are_kept_and_the_bad_told_in_their_place(cast: Cast) -> None:
    files = [thought("one"), thought(""), thought("two", node="01890000-0000-7000-8000-000000000001"), thought("three")]
    results = capture_bulk(cast.ann.actor, scope="personal", files=files)
    told = [(type(r).__name__, getattr(r, "field", "")) for r in results]
    assert told == [("Captured", ""), ("Invalid", "content"), ("NotFound", "node"), ("Captured", "")]
    assert stored_rows(cast.ann)["RecallFile"] == 2


def test_parallel_appends_lose_no_turn_and_keep_their_order(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture_files(actor, scope="personal", files=[chat("start")])[0].memory

    def run(number: int) -> None:
        append_messages(
            actor, str(memory.id), [NewMessage("user", f"turn {number} a"), NewMessage("user", f"turn {number} b")]
        )
        connections.close_all()

    threads = [Thread(target=run, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = get_memory(actor, str(memory.id)).messages or ()
    assert [m.position for m in messages] == list(range(41))
    pairs = [(messages[i].content[:-2], messages[i + 1].content[:-2]) for i in range(1, 41, 2)]
    assert sorted(a for a, _ in pairs) == sorted(f"turn {n}" for n in range(20))
    assert all(a == b for a, b in pairs)


def test_an_edit_keeps_the_earlier_words_and_forgets_them_in_search(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture(actor, content="the old zorkmid").memory
    edited = edit(actor, str(memory.id), Changes(content="the new quagga", tags=["x"]), expected_revision=1)
    assert (edited.revision, edited.tags, edited.recall_id) == (2, ("x",), memory.recall_id)
    assert [(r["revision"], r["content"]) for r in list_revisions(actor, str(memory.id))] == [(1, "the old zorkmid")]
    assert (recall(actor, "zorkmid").hits, [h.id for h in recall(actor, "quagga").hits]) == ((), [memory.id])
    with pytest.raises(Stale):
        edit(actor, str(memory.id), Changes(content="late"), expected_revision=1)
    assert (get_memory(actor, str(memory.id)).messages or ())[0].content == "the new quagga"


def test_a_transcript_is_never_rewritten(cast: Cast) -> None:
    memory = capture_files(cast.ann.actor, scope="personal", files=[chat("a", "b")])[0].memory
    with pytest.raises(Invalid) as refused:
        edit(cast.ann.actor, str(memory.id), Changes(content="c"))
    assert refused.value.field == "content"
    with pytest.raises(Invalid):
        append_messages(cast.ann.actor, str(capture(cast.ann.actor, content="t").memory.id), [NewMessage("user", "x")])


def test_only_the_contributor_or_a_curator_changes_a_corporate_memory(cast: Cast) -> None:
    by_bob = capture(cast.bob.actor, content="from Bob", scope="corporate").memory
    by_ann = capture(cast.ann.actor, content="from Ann", scope="corporate").memory
    assert edit(cast.ann.actor, str(by_bob.id), Changes(tags=["checked"])).tags == ("checked",)
    with pytest.raises(Forbidden):
        edit(cast.bob.actor, str(by_ann.id), Changes(tags=["mine"]))
    assert get_memory(cast.bob.actor, str(by_ann.id)).tags == ()


def test_a_foreign_memory_is_not_there(cast: Cast) -> None:
    memory = capture(cast.ann.actor, content="secret zorkmid").memory
    for ref in (str(memory.id), memory.recall_id):
        with pytest.raises(NotFound):
            get_memory(cast.bob.actor, ref)
        with pytest.raises(NotFound):
            edit(cast.bob.actor, ref, Changes(tags=["x"]))
        with pytest.raises(NotFound):
            append_messages(cast.eve.actor, ref, [NewMessage("user", "x")])
    assert get_memory(cast.ann.actor, memory.recall_id).revision == 1


def test_pages_neither_skip_nor_repeat_while_rows_arrive(cast: Cast) -> None:
    actor = cast.ann.actor
    expected = [capture(actor, content=f"thought {n}").memory.id for n in range(7)][::-1]
    seen, after = [], None
    for _ in range(4):
        page = list_memories(actor, limit=2, after=after)
        seen += [memory.id for memory in page]
        after = Cursor(page[-1].created_at, page[-1].id) if page else after
        capture(actor, content="arrives meanwhile")
    assert seen == expected


def test_lists_are_narrowed_by_every_filter(cast: Cast) -> None:
    actor = cast.ann.actor
    day = datetime(2025, 3, 1, tzinfo=UTC)
    a = capture(actor, content="a", category="idea", tags=["x", "y"], node="N/M", occurred_at=day).memory.id
    b = capture(actor, content="b", tags=["x"], node="N", occurred_at=day + timedelta(days=1)).memory.id
    c = capture(actor, content="c", scope="corporate", occurred_at=day + timedelta(days=2)).memory.id

    def ids(**options: object) -> list[object]:
        scope = str(options.pop("scope", "both"))
        return [m.id for m in list_memories(actor, scope=scope, filters=Filters(**options))]  # type: ignore[arg-type]

    assert ids() == [c, b, a]
    assert ids(scope="corporate") == [c]
    assert ids(category="idea") == [a]
    assert (ids(tags=("x",)), ids(tags=("x", "y"))) == ([b, a], [a])
    assert (ids(node="n"), ids(node="N/M")) == ([b, a], [a])
    assert (ids(since=day + timedelta(days=1)), ids(until=day)) == ([c, b], [a])
    with pytest.raises(Invalid):
        ids(since=day, until=day - timedelta(days=1))


def test_stats_are_counts_of_live_rows(cast: Cast) -> None:
    actor = cast.ann.actor
    capture(actor, content="a", tags=["x"], category="idea")
    capture_files(actor, scope="corporate", files=[chat("b", "c", tags=("x", "y"))])
    stats = thought_stats(actor)
    assert (stats.memories, stats.entries, stats.pending) == (2, 3, 3)
    assert stats.by_scope == {"corporate": 1, "personal": 1}
    assert stats.by_category == {"idea": 1, "thought": 1}
    assert stats.top_tags == {"x": 2, "y": 1}
    assert thought_stats(cast.eve.actor).memories == 0
