"""What an answer is made of: the part that fits, repeats folded, the newest first, reasons, blocks, the budget."""

from datetime import UTC, datetime

import pytest

from memory.attach import EXCERPT_CHARACTERS, NEIGHBOUR_CHARACTERS, TOKENS_A_HIT, tokens
from memory.capture import capture, capture_files
from memory.recall import recall
from memory.shadow import misses_of
from memory.types import Recall
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.test_capture import chat

QUIET = 60.0
NAMES = ("Ann", "Bob", "Carol", "Dan")
FILLER = "The committee met again and spoke of the weather, of the roads and of nothing else. " * 30


def answer(cast: Cast, query: str, **more: object) -> Recall:
    return recall(cast.ann.actor, query, scope="personal", **{"threshold": 0.0, **more})  # type: ignore[arg-type]


def test_of_a_long_text_the_part_that_fits_is_shown_word_for_word(cast: Cast) -> None:
    text = FILLER + "The zorkmid is kept under the third stair. " + FILLER
    capture(cast.ann.actor, content=text)
    (hit,) = answer(cast, "where is the zorkmid kept").hits
    assert "The zorkmid is kept under the third stair." in hit.text
    assert len(hit.text) <= EXCERPT_CHARACTERS
    assert text[hit.start : hit.start + len(hit.text)] == hit.text
    assert hit.characters == len(text)


def test_what_is_beside_a_hit_is_cut_towards_it(cast: Cast) -> None:
    before, after = FILLER + "Where is it?", "Thanks! " + FILLER
    capture_files(cast.ann.actor, scope="personal", files=[chat(before, "The zorkmid is under the stair.", after)])
    hit = answer(cast, "zorkmid stair", with_messages=True).hits[0]
    assert hit.messages is not None
    first, own, last = hit.messages
    assert own.content == "The zorkmid is under the stair."
    assert first.content.endswith("Where is it?")
    assert before[first.start :] == first.content
    assert last.content.startswith("Thanks! ")
    assert after.startswith(last.content)
    assert max(len(first.content), len(last.content)) <= NEIGHBOUR_CHARACTERS
    assert (first.characters, own.characters, last.characters) == (len(before), None, len(after))


def test_ten_hits_with_what_is_around_them_keep_to_the_budget(cast: Cast) -> None:
    files = [chat(FILLER, f"The zorkmid number {n}. {FILLER}", FILLER) for n in range(12)]
    capture_files(cast.ann.actor, scope="personal", files=files)
    found = answer(cast, "zorkmid number", with_messages=True)
    handed = sum(tokens(m.content) for hit in found.hits for m in hit.messages or ())
    assert len(found.hits) == 10
    assert not found.truncated
    assert handed <= 10 * TOKENS_A_HIT
    assert found.trace.tokens.handed_over == handed
    few = answer(cast, "zorkmid number", with_messages=True, max_tokens=500)
    assert few.truncated
    assert 0 < len(few.hits) < 10
    assert few.trace.tokens.handed_over <= 500


def test_what_says_the_same_takes_one_place(cast: Cast) -> None:
    for _ in range(3):
        capture(cast.ann.actor, content="The zorkmid is under the stair.")
    capture(cast.ann.actor, content="A zorkmid was lost in spring.")
    hits = answer(cast, "zorkmid").hits
    assert sorted(hit.text for hit in hits) == ["A zorkmid was lost in spring.", "The zorkmid is under the stair."]
    (folded,) = [hit for hit in hits if hit.repeats]
    assert len({folded.entry_id, *folded.repeats}) == 3


@pytest.fixture
def budgets(cast: Cast) -> None:
    for year, amount in ((2023, 200), (2025, 350), (2024, 275)):
        capture(
            cast.ann.actor,
            content=f"My monthly budget for books is {amount} dollars now.",
            occurred_at=datetime(year, 3, 1, tzinfo=UTC),
        )
    work_jobs(QUIET)


@pytest.mark.usefixtures("budgets")
def test_of_statements_about_one_thing_the_newest_comes_first_and_the_others_stay(cast: Cast) -> None:
    hits = answer(cast, "What is my monthly budget for books?").hits
    assert hits[0].text == "My monthly budget for books is 350 dollars now."
    assert {hit.newer for hit in hits[1:]} == {hits[0].entry_id}
    assert len(hits) == 3


@pytest.mark.usefixtures("budgets")
def test_a_year_in_the_question_decides(cast: Cast) -> None:
    found = answer(cast, "What was my monthly budget for books in 2023?")
    first = found.hits[0]
    assert first.text == "My monthly budget for books is 200 dollars now."
    assert "date" in [reason.signal for reason in first.why]


def test_a_time_counted_from_an_event_finds_what_was_then(cast: Cast) -> None:
    for day, content in (
        (1, "I bought a rain jacket at the market."),
        (8, "I bought a lamp at the market."),
        (15, "I bought a fish at the market."),
        (28, "I bought new tyres at the market."),
    ):
        capture(cast.ann.actor, content=content, occurred_at=datetime(2025, 5, day, 12, tzinfo=UTC))
    capture(cast.ann.actor, content="The trip to Lisbon began.", occurred_at=datetime(2025, 5, 22, 9, tzinfo=UTC))
    work_jobs(QUIET)
    hits = answer(cast, "What did I buy at the market two weeks before the trip to Lisbon?").hits
    assert hits[0].text == "I bought a lamp at the market."


def test_a_hit_says_what_each_signal_gave(cast: Cast) -> None:
    capture(cast.ann.actor, content="The zorkmid is under the stair.")
    capture(cast.ann.actor, content="Bread rises overnight.")
    hits = answer(cast, "Where is my zorkmid?").hits
    reasons = {reason.signal: reason for reason in hits[0].why}
    assert reasons["role"].gave == 2.0
    assert reasons["coverage"].rank == 1
    assert [reason.gave for reason in hits[0].why] == sorted((r.gave for r in hits[0].why), reverse=True)


def test_standing_wishes_stand_beside_the_hits_of_a_request(cast: Cast) -> None:
    wish = "Always show a worked example when I ask about probability."
    capture(cast.ann.actor, content=wish)
    for n in range(15):
        capture(cast.ann.actor, content=f"Two dice were thrown, and throw {n} gave a six.")
    work_jobs(QUIET)
    asked = answer(cast, "Could you explain the chance of two sixes with dice?")
    shown = [hit.text for block in asked.blocks if block.kind == "standing" for hit in block.hits]
    assert wish in [*shown, *(hit.text for hit in asked.hits)]
    assert [b.kind for b in answer(cast, "When were the dice thrown by Ann Miller?").blocks] == []


def test_a_standing_wish_does_not_answer_a_question_of_fact(cast: Cast) -> None:
    capture(cast.ann.actor, content="The plumber comes on Friday at nine to mend the kitchen pipes.")
    capture(cast.ann.actor, content="From now on answer me in short sentences.")
    work_jobs(QUIET)
    assert "plumber" in answer(cast, "When will the water be repaired?").hits[0].text


def test_a_question_for_the_order_gets_a_list_in_the_order_of_time(cast: Cast) -> None:
    said = ["We chose the zorkmid.", "We painted the zorkmid.", "We sold the zorkmid."]
    for month, content in zip((5, 1, 9), said, strict=True):
        capture(cast.ann.actor, content=content, occurred_at=datetime(2025, month, 1, tzinfo=UTC))
    found = answer(cast, "In which order did things happen to the zorkmid, in order?")
    (block,) = [block for block in found.blocks if block.kind == "in_order"]
    assert [hit.text for hit in block.hits] == [said[1], said[0], said[2]]


def test_sampled_searches_count_what_routing_missed(cast: Cast, settings: object) -> None:
    files = [chat(*(f"The zorkmid of {name} in {place}" for name in NAMES)) for place in ("Rome", "Bonn", "Oslo")]
    capture_files(cast.ann.actor, scope="personal", files=files)
    work_jobs(QUIET)
    settings.SHADOW_SHARE = 0.0  # type: ignore[attr-defined]
    brain = cast.ann.actor.brain_to_write("personal")
    answer(cast, "zorkmid in Oslo")
    assert misses_of(brain) == {}
    settings.SHADOW_SHARE = 1.0  # type: ignore[attr-defined]
    found = answer(cast, "zorkmid in Oslo")
    (misses,) = misses_of(brain).values()
    assert (misses.wanted, misses.missed) == (10, 0)
    assert "shadow" in found.trace.stages_ms


def test_a_second_question_fetches_no_entry_again(cast: Cast) -> None:
    capture(cast.ann.actor, content="The zorkmid is under the stair.")
    assert answer(cast, "zorkmid").trace.entries_loaded == 1
    assert answer(cast, "stair").trace.entries_loaded == 0
