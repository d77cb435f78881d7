from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.conf import LazySettings

from accounts.errors import BrainError, Forbidden, Invalid, NotFound, TooLarge
from memory import embedding
from memory.capture import capture, capture_bulk, capture_files
from memory.corpus import forget_all
from memory.edit import Changes, edit
from memory.erase import restore, trash
from memory.memories import Filters
from memory.providers.local import LocalEmbedder
from memory.recall import recall
from memory.traces import get_trace
from memory.types import NewMessage, NewRecallFile
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.test_capture import chat, thought

QUIET = 30.0  # seconds: more than any test needs


def ids(recalled: object) -> list[UUID]:
    return [hit.id for hit in recalled.hits]  # type: ignore[attr-defined]


def test_meaning_finds_what_words_cannot(cast: Cast) -> None:
    actor = cast.ann.actor
    plumber = capture(actor, content="The man who repairs our pipes comes on Friday morning.").memory.id
    capture(actor, content="Mia loves noodles with pesto more than anything.")
    assert ids(recall(actor, "When is the plumber due?")) == []
    assert work_jobs(QUIET) == 3  # both are embedded, then filed
    answer = recall(actor, "When is the plumber due?")
    assert ids(answer) == [plumber]
    (hit,) = answer.hits
    assert hit.similarity is not None
    assert hit.similarity > 0.5
    assert answer.trace.cut_by_threshold == 1
    assert len(recall(actor, "When is the plumber due?", threshold=0).hits) == 2


def test_nobody_finds_what_is_not_theirs(cast: Cast) -> None:
    capture(cast.ann.actor, content="the zorkmid is under the stairs")
    shared = capture(cast.ann.actor, content="the zorkmid is in the office", scope="corporate").memory.id
    assert len(recall(cast.ann.actor, "zorkmid").hits) == 2
    assert ids(recall(cast.bob.actor, "zorkmid")) == [shared]
    assert ids(recall(cast.eve.actor, "zorkmid")) == []


def test_scores_do_not_depend_on_what_others_keep(cast: Cast) -> None:
    for content in ("the zorkmid is old", "a quagga is older", "nothing of the kind"):
        capture(cast.ann.actor, content=content)
    before = [(hit.id, hit.score) for hit in recall(cast.ann.actor, "old zorkmid", scope="personal").hits]
    capture_bulk(cast.bob.actor, scope="personal", files=[thought(f"zorkmid {n} old old old") for n in range(50)])
    after = [(hit.id, hit.score) for hit in recall(cast.ann.actor, "old zorkmid", scope="personal").hits]
    assert before == after


def test_both_scopes_are_ranked_together_and_named(cast: Cast) -> None:
    actor = cast.ann.actor
    mine = capture(actor, content="quagga zorkmid").memory.id
    ours = capture(actor, content="zorkmid", scope="corporate").memory.id
    answer = recall(actor, "quagga zorkmid")
    assert set(ids(answer)) == {mine, ours}
    assert (answer.trace.scopes_searched, answer.trace.scopes_skipped) == (("personal", "corporate"), ())
    alone = recall(actor, "nothing at all like it", scope="corporate")
    assert (alone.hits, alone.trace.scopes_searched, alone.trace.scopes_skipped) == ((), ("corporate",), ("personal",))
    with pytest.raises(Forbidden) as refused:
        recall(actor, "zorkmid", scope="agent")
    assert refused.value.field == "scope"


def test_a_hit_cites_its_message_with_the_ones_around_it(cast: Cast) -> None:
    actor = cast.ann.actor
    memory = capture_files(actor, scope="personal", files=[chat("a b", "c d", "zorkmid e", "f g", "h i", title="T")])[
        0
    ].memory
    (hit,) = recall(actor, "zorkmid", with_messages=True).hits
    assert (hit.id, hit.first_message, hit.last_message, hit.text, hit.role) == (memory.id, 2, 2, "zorkmid e", "user")
    assert hit.messages is not None
    assert [(m.position, m.content) for m in hit.messages] == [(1, "c d"), (2, "zorkmid e"), (3, "f g")]
    assert recall(actor, "zorkmid").hits[0].messages is None


def test_a_short_answer_is_found_by_the_question_before_it(cast: Cast) -> None:
    actor = cast.ann.actor
    messages = (
        NewMessage("user", "Which day does the plumber come to mend the pipes?", "Ann"),
        NewMessage("assistant", "Friday.", "Ben"),
    )
    other = thought("Friday.")
    capture_files(actor, scope="personal", files=[NewRecallFile(kind="conversation", messages=messages), other])
    work_jobs(QUIET)
    hits = recall(actor, "plumber pipes", limit=3, threshold=0).hits
    assert [(hit.text, hit.first_message) for hit in hits][:2] == [
        ("Which day does the plumber come to mend the pipes?", 0),
        ("Friday.", 1),
    ]


def test_the_last_sentence_of_a_long_text_is_found_by_its_meaning(cast: Cast) -> None:
    actor = cast.ann.actor
    filler = "The committee discussed the budget of the library at great length. " * 300
    capture(actor, content=filler + "In the end the striped animal ran away from the zoo.")
    capture(actor, content=filler)
    work_jobs(120.0)
    answer = recall(actor, "A zebra escaped", scope="personal", limit=1)
    assert answer.hits[0].text.endswith("from the zoo.")


def test_search_is_narrowed_by_every_filter(cast: Cast) -> None:
    actor = cast.ann.actor
    day = datetime(2025, 3, 1, tzinfo=UTC)
    a = capture(actor, content="zorkmid a", category="idea", tags=["x"], node="N/M", occurred_at=day).memory.id
    b = capture(actor, content="zorkmid b", node="N", occurred_at=day + timedelta(days=1)).memory.id

    def found(**options: object) -> set[UUID]:
        return set(ids(recall(actor, "zorkmid", filters=Filters(**options), scope="personal")))  # type: ignore[arg-type]

    assert found() == {a, b}
    assert (found(category="idea"), found(tags=("x",)), found(node="n"), found(node="N/M")) == ({a}, {a}, {a, b}, {a})
    assert (found(since=day + timedelta(hours=1)), found(until=day)) == ({b}, {a})
    with pytest.raises(NotFound) as refused:
        found(node="Nowhere")
    assert refused.value.field == "node"


@pytest.mark.parametrize(
    ("options", "error", "field"),
    [
        ({"query": ""}, Invalid, "query"),
        ({"query": "\u200b"}, Invalid, "query"),
        ({"query": "a\0"}, Invalid, "query"),
        ({"query": "x" * 20_001}, TooLarge, "query"),
        ({"limit": 0}, Invalid, "limit"),
        ({"limit": 101}, Invalid, "limit"),
        ({"threshold": 1.5}, Invalid, "threshold"),
        ({"threshold": float("nan")}, Invalid, "threshold"),
        ({"mode": "psychic"}, Invalid, "mode"),
        ({"max_tokens": 0}, Invalid, "max_tokens"),
        ({"filters": Filters(category="poem")}, Invalid, "category"),
        ({"filters": Filters(tags=("x",) * 101)}, TooLarge, "tags"),
    ],
)
def test_bad_questions_name_their_field(
    cast: Cast, options: dict[str, object], error: type[BrainError], field: str
) -> None:
    with pytest.raises(error) as refused:
        recall(cast.ann.actor, **{"query": "fine", **options})  # type: ignore[arg-type]
    assert refused.value.field == field


@pytest.mark.parametrize("query", ["foo-bar", '"', "&|!:*", "%_\\", "'; --", "( ) <-> ~", "?" * 50, "zorkmid " * 1_250])
def test_punctuation_is_text(cast: Cast, query: str) -> None:
    capture(cast.ann.actor, content="foo-bar zorkmid")
    found = recall(cast.ann.actor, query, scope="personal").hits
    assert len(found) == int("foo" in query or "zorkmid" in query)


def test_a_limit_is_filled_in_a_small_brain_among_large_ones(cast: Cast) -> None:
    capture_bulk(cast.bob.actor, scope="personal", files=[thought(f"zorkmid number {n}") for n in range(300)])
    capture_bulk(cast.ann.actor, scope="personal", files=[thought(f"zorkmid of Ann {n}") for n in range(30)])
    assert len(recall(cast.ann.actor, "zorkmid", limit=20).hits) == 20


def test_a_budget_of_tokens_is_kept_and_said(cast: Cast) -> None:
    capture_bulk(cast.ann.actor, scope="personal", files=[thought(f"zorkmid {n} " + "word " * 40) for n in range(5)])
    answer = recall(cast.ann.actor, "zorkmid", max_tokens=120)
    assert (len(answer.hits), answer.truncated) == (2, True)
    assert not recall(cast.ann.actor, "zorkmid", max_tokens=10_000).truncated


def test_without_an_embedder_words_go_on_and_the_answer_says_so(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing = LocalEmbedder(tmp_path)
    monkeypatch.setattr(embedding, "embedder", lambda: nothing)
    monkeypatch.setattr("memory.question.embedder", lambda: nothing)
    memory = capture(cast.ann.actor, content="the zorkmid").memory
    assert work_jobs(QUIET) == 1
    answer = recall(cast.ann.actor, "zorkmid")
    assert (ids(answer), answer.trace.not_used) == ([memory.id], ("vectors: the embedder does not answer",))
    monkeypatch.undo()
    assert ids(recall(cast.ann.actor, "zorkmid")) == [memory.id]


def test_without_a_cache_search_goes_on(cast: Cast, settings: LazySettings) -> None:
    gone = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": gone}
    memory = capture(cast.ann.actor, content="the zorkmid").memory
    answer = recall(cast.ann.actor, "zorkmid")
    assert ids(answer) == [memory.id]
    with pytest.raises(NotFound):
        get_trace(cast.ann.actor, answer.trace_id)


def test_a_trace_belongs_to_its_asker_and_holds_no_text(cast: Cast) -> None:
    capture(cast.ann.actor, content="the zorkmid")
    answer = recall(cast.ann.actor, "zorkmid")
    trace = get_trace(cast.ann.actor, answer.trace_id)
    assert (trace["mode"], trace["entries_total"], trace["entries_read"]) == ("auto", 1, 1)
    stages = {"understand", "load", "filter", "words", "navigate", "search", "fuse", "attach", "blocks"}
    assert set(trace["stages_ms"]) == stages
    assert "zorkmid" not in repr(trace)
    for other in (cast.bob.actor, cast.eve.actor):
        with pytest.raises(NotFound):
            get_trace(other, answer.trace_id)
    with pytest.raises(NotFound):
        get_trace(cast.ann.actor, uuid4())


def test_a_cached_corpus_follows_every_change(cast: Cast) -> None:
    """The same answers from the process' warm corpus and from one that was just loaded."""
    actor = cast.ann.actor
    random = np.random.default_rng(7)
    words = ["zorkmid", "quagga", "plumber", "noodle", "stairs", "friday"]
    kept: list[UUID] = []
    binned: list[UUID] = []
    queries = ["zorkmid", "quagga stairs", "noodle friday plumber"]
    for step in range(60):
        text = " ".join(random.choice(words, 4)) + f" {step}"
        action = random.choice(["capture", "capture", "edit", "trash", "restore", "embed"])
        if action == "edit" and kept:
            edit(actor, str(kept[0]), Changes(content=text))
        elif action == "trash" and len(kept) > 2:
            binned.append(kept.pop(1))
            trash(actor, str(binned[-1]))
        elif action == "restore" and binned:
            kept.append(binned.pop())
            restore(actor, str(kept[-1]))
        elif action == "embed":
            work_jobs(QUIET)
        else:
            kept.append(capture(actor, content=text).memory.id)
        mode = str(random.choice(["auto", "exhaustive"]))
        warm = [
            [(h.id, round(h.score, 3)) for h in recall(actor, q, limit=100, threshold=0, mode=mode).hits]
            for q in queries
        ]
        from memory.corpus import forget_all

        forget_all()
        cold = [
            [(h.id, round(h.score, 3)) for h in recall(actor, q, limit=100, threshold=0, mode=mode).hits]
            for q in queries
        ]
        assert [sorted(a, key=str) for a in warm] == [sorted(a, key=str) for a in cold]


def test_a_brain_that_lost_much_answers_as_a_fresh_process_does(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.corpus.LEAST_SPARSE", 4)
    subjects = ("kiln", "harbour", "ledger", "garden", "train", "violin", "bread", "comet")
    kept = [
        capture(cast.ann.actor, content=f"We spoke about the {subject} for an hour.").memory for subject in subjects
    ]
    work_jobs(QUIET)

    def ask() -> list[tuple[str, float]]:
        hits = recall(cast.ann.actor, "music with strings", scope="personal", threshold=0.0, session="same").hits
        return [(hit.text, hit.score) for hit in hits]

    assert len(ask()) == 8
    for memory in kept[:4]:
        trash(cast.ann.actor, str(memory.id))
    warm = ask()
    forget_all()
    assert warm == ask()
    assert warm[0][0] == "We spoke about the violin for an hour."
    assert len(warm) == 4
