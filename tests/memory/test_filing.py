"""Filing by runs, with vectors that the test chooses: the sure join, many become a tree, the rest waits."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from graph.models import Node
from memory import embedding
from memory.capture import append_messages, capture, capture_bulk, capture_files
from memory.edit import Changes, edit
from memory.memories import get_memory, list_memories
from memory.models import RagEmbedding, RagEntry, RecallFile
from memory.providers import Vectors
from memory.recall import recall
from memory.types import NewMessage, NewRecallFile
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.test_capture import chat, thought

QUIET = 60.0
SUBJECTS = {
    "pottery": ("clay", "glaze", "kiln", "pottery wheel", "bowl"),
    "sailing": ("harbour", "mast", "regatta", "anchor", "sailing boat"),
    "taxes": ("invoice", "deduction", "audit", "ledger", "tax return"),
}


class BySubject:
    """An embedder for tests: a text's vector says which subjects it names, and little else.

    squeezed: below all its cosines, which some models keep close together.
    """

    name = "by-subject"
    dimensions = 17

    def __init__(self, squeezed: float) -> None:
        self.squeezed = squeezed

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = []
        for text in texts:
            row = np.full(16, 0.02)
            row[: len(SUBJECTS)] += [sum(text.count(word) for word in words) for words in SUBJECTS.values()]
            row[8 + len(text) % 8] += 0.15
            unit = row / np.linalg.norm(row)
            rows.append(np.append(unit * np.sqrt(1 - self.squeezed), np.sqrt(self.squeezed)))
        return np.array(rows, np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector


@pytest.fixture
def squeezed() -> float:
    return 0.0


@pytest.fixture(autouse=True)
def _by_subject(squeezed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    one = BySubject(squeezed)
    low, high = (squeezed + (1 - squeezed) * cosine for cosine in embedding.STANDARD)
    monkeypatch.setattr(embedding, "embedder", lambda: one)
    monkeypatch.setattr("memory.question.embedder", lambda: one)
    monkeypatch.setitem(embedding.CALIBRATION, one.name, (low, high))


def talk(subject: str, number: int, messages: int = 8) -> NewRecallFile:
    words = SUBJECTS[subject]
    return chat(
        *(f"The {words[(number + i) % 5]} and the {words[(number + 2 * i) % 5]}, part {i}" for i in range(messages))
    )


def places(cast: Cast) -> dict[str, int]:
    with cast.ann.actor.session() as actor:
        nodes = Node.objects.visible_to(actor).filter(memory_count__gt=0)
        return dict(nodes.values_list("name", "memory_count"))


def filed_by(cast: Cast) -> set[tuple[str, str]]:
    with cast.ann.actor.session() as actor:
        return set(RagEntry.objects.visible_to(actor).values_list("node__name", "filed_by"))


def test_a_bulk_of_memories_becomes_a_tree_with_names(cast: Cast) -> None:
    files = [talk(subject, number) for number in range(8) for subject in SUBJECTS]
    capture_bulk(cast.ann.actor, scope="personal", files=files)
    work_jobs(QUIET)
    found = places(cast)
    assert found["Conversations"] == 24
    assert "Inbox" not in found
    assert {by for _, by in filed_by(cast)} == {"rule"}
    with cast.ann.actor.session() as actor:
        homes: dict[str, set[str]] = {}
        for row in RecallFile.objects.visible_to(actor).select_related("node"):
            homes.setdefault(row.node.name, set()).add(row.recall_id[:4])
        vectors = RagEmbedding.objects.visible_to(actor)
        entries = dict(RagEntry.objects.visible_to(actor).values_list("id", "node_id"))
        assert {row.entry_id: row.node_id for row in vectors} == entries
    assert len(homes) == 3  # a topic for each subject
    assert sorted(count for name, count in found.items() if name in homes) == [8, 8, 8]


@pytest.mark.parametrize("squeezed", [0.0, 0.7])
def test_a_sure_match_joins_and_what_is_unsure_waits_with_a_suggestion(cast: Cast) -> None:
    actor = cast.ann.actor
    capture_bulk(
        actor,
        scope="personal",
        files=[
            *(thought(f"The clay and the kiln {n}", node="Hobbies/Pottery") for n in range(3)),
            *(thought(f"The mast and the anchor {n}", node="Hobbies/Sailing") for n in range(3)),
        ],
    )
    work_jobs(QUIET)
    sure = capture(actor, content="Another glaze for the clay bowl").memory.id
    unsure = capture(actor, content="A clay kiln beside the mast and the anchor").memory.id
    nothing = capture(actor, content="Something else").memory.id
    work_jobs(QUIET)
    at = {memory.id: memory.node.path for memory in list_memories(actor)}
    by = {memory.id: memory.filed_by for memory in list_memories(actor)}
    assert (by[sure], by[unsure], by[nothing]) == ("rule", "nobody", "nobody")
    assert (at[sure], at[unsure], at[nothing]) == ("Hobbies/Pottery", "Inbox", "Inbox")
    with actor.session():
        suggested = RecallFile.objects.visible_to(actor).get(id=unsure).filing_suggestion or {}
        assert suggested["confidence"] > 0.5
        assert Node.objects.visible_to(actor).get(id=suggested["node_id"]).name in ("Pottery", "Sailing")
    assert filed_by(cast) == {
        ("Pottery", "person"), ("Pottery", "rule"), ("Sailing", "person"), ("Inbox", "nobody"),
    }  # fmt: skip


@pytest.mark.parametrize("squeezed", [0.0, 0.7])
def test_a_long_conversation_about_something_new_gets_a_node_of_its_own(cast: Cast) -> None:
    actor = cast.ann.actor
    capture(actor, content="The clay and the kiln", node="Hobbies/Pottery")
    work_jobs(QUIET)
    capture_files(actor, scope="personal", files=[talk("taxes", 1)])
    work_jobs(QUIET)
    (new,) = set(places(cast)) - {"Hobbies", "Pottery", "Conversations"}
    assert set(new.lower().replace(" and ", " ").split()) <= set(" ".join(SUBJECTS["taxes"]).split())
    assert ("Pottery", "person") in filed_by(cast)
    assert (new, "rule") in filed_by(cast)


def test_what_a_person_chose_is_never_filed_anew(cast: Cast) -> None:
    actor = cast.ann.actor
    capture_bulk(actor, scope="personal", files=[talk(subject, n) for n in range(8) for subject in SUBJECTS])
    mine = capture(actor, content="The clay and the kiln").memory
    edit(actor, str(mine.id), Changes(node="Inbox"))
    work_jobs(QUIET)
    assert get_memory(actor, str(mine.id)).node.path == "Inbox"
    edit(actor, str(mine.id), Changes(node="My own/Place"))
    work_jobs(QUIET)
    moved = get_memory(actor, str(mine.id))
    assert (moved.node.path, moved.filed_by) == ("My own/Place", "person")


def test_what_is_appended_goes_where_its_conversation_is(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture_files(actor, scope="personal", files=[chat("clay", "kiln", node="Hobbies/Pottery")])[0].memory
    append_messages(actor, str(memory.id), [NewMessage("user", "the mast")])
    work_jobs(QUIET)
    assert filed_by(cast) == {("Pottery", "person")}
    assert places(cast) == {"Hobbies": 1, "Pottery": 1}


def test_recall_warms_the_nodes_that_fit_and_says_what_stayed_cold(cast: Cast) -> None:
    actor = cast.ann.actor
    files = [talk(subject, number) for number in range(30) for subject in SUBJECTS]
    capture_bulk(actor, scope="personal", files=files)
    work_jobs(QUIET)
    answer = recall(actor, "a clay bowl in the kiln", scope="personal", session="one")
    everything = recall(actor, "a clay bowl in the kiln", scope="personal", mode="exhaustive")
    assert answer.trace.entries_read < everything.trace.entries_read == answer.trace.entries_total == 720
    assert {hit.node.path for hit in answer.hits} <= {node.node.path for node in answer.warmed}
    assert answer.warmed[0].confidence > max(node.confidence for node in answer.cold)
    assert answer.trace.tokens.handed_over < answer.trace.tokens.warmed_nodes < answer.trace.tokens.everything
    assert (everything.warmed, everything.cold, everything.trace.navigation) == ((), (), {})


def test_where_one_node_is_known_only_what_is_surely_like_it_joins(cast: Cast) -> None:
    actor = cast.ann.actor
    capture_files(actor, scope="personal", files=[replace(talk("pottery", 1), node="Crafts/Pottery")])
    mixed = "the clay and the invoice and the audit"
    capture_files(actor, scope="personal", files=[talk("pottery", 2), chat(mixed, mixed)])
    work_jobs(QUIET)
    assert places(cast)["Pottery"] == 2
    assert places(cast)["Inbox"] == 1


def test_a_node_that_would_have_to_be_split_takes_no_more(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.filing.FULL_ENTRIES", 8)
    actor = cast.ann.actor
    capture_files(actor, scope="personal", files=[replace(talk("pottery", 1), node="Crafts/Pottery")])
    work_jobs(QUIET)
    capture_files(actor, scope="personal", files=[talk("pottery", 2)])
    work_jobs(QUIET)
    assert places(cast)["Pottery"] == 1
