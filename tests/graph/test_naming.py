import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.naming import names, pairs
from graph.words import keywords

SPEAKERS = {"Caroline": 20, "caroline": 20, "love": 12, "people": 9}

any_phrase = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["pottery", "New York", "support group", "LGBTQ", "lgbtq", "ann@example.org", "12345", "sk-live_a1b2c3d4", "art"]
)
any_groups = st.lists(st.dictionaries(any_phrase, st.integers(1, 30), max_size=8), max_size=5)


def test_a_group_is_named_by_what_sets_it_apart() -> None:
    groups = [
        {"pottery": 15, "painting": 20, "family": 4, "kids": 5},
        {"adoption": 9, "family": 6, "kids": 6},
        {"camping": 8, "family": 6, "kids": 6},
    ]
    assert names(groups) == ["Painting and Pottery", "Adoption", "Camping"]


def test_names_are_written_as_their_texts_write_them() -> None:
    groups = [
        {"LGBTQ": 9, "lgbtq": 10, "support group": 6, "support": 7, "group": 8},
        {"iPhone": 7, "iphone": 8},
        {"Bank of Oslo": 6, "oslo": 6, "bank": 6},
        {"SQLAlchemy": 5, "sqlalchemy": 6},
    ]
    assert names(groups) == ["LGBTQ and Support Group", "iPhone", "Bank of Oslo", "SQLAlchemy"]


def test_speakers_of_a_chat_name_nothing() -> None:
    groups = [{**SPEAKERS, "pottery": 5}, {**SPEAKERS, "adoption": 5}, {**SPEAKERS, "camping": 5}]
    assert names(groups) == ["Pottery", "Adoption", "Camping"]


def test_speakers_who_are_known_name_nothing_under_a_short_name_either() -> None:
    group = {"Melanie": 20, "melanie": 20, "Mel": 15, "mel": 15, "Melanie Jones": 9, "pottery": 5}
    assert names([group], speakers=["Melanie Jones"]) == ["Pottery"]


def test_a_name_that_few_groups_have_may_name_them() -> None:
    groups = [{"Oslo": 9, "oslo": 9}, {"recipe": 9}, {"guitar": 9}, {"garden": 9}]
    assert names(groups) == ["Oslo", "Recipe", "Guitar", "Garden"]


def test_what_the_whole_brain_talks_about_does_not_name_a_part() -> None:
    groups = [{"recipe": 9, "budget": 12}, {"guitar": 9, "garden": 5}]
    background = {"recipe": 9, "budget": 600, "garden": 5, "guitar": 400}
    assert names(groups, background=background) == ["Recipe", "Garden"]
    assert names(groups) == ["Budget and Recipe", "Guitar and Garden"]


def test_a_word_gives_way_to_the_phrase_it_is_part_of() -> None:
    groups = [{"mental": 6, "health": 6, "mental health": 5}, {"guitar": 5}]
    assert names(groups) == ["Mental Health", "Guitar"]


def test_words_of_one_stem_count_together() -> None:
    groups = [{"hike": 4, "hiking": 3, "hikes": 3, "sushi": 6}, {"guitar": 5}]
    assert names(groups) == ["Hiking and Sushi", "Guitar"]


@pytest.mark.parametrize(
    "phrase",
    [
        "ann@example.org",
        "www.example.org",
        "2023",
        "555-0199",
        "sk_live_a1b2c3d4e5",
        "AKIAIOSFODNN7EXAMPLE",
        "getWeather",
        "love",
        "messed",
        "x",
        "",
        "a b c d e",
        "nice day",
    ],
)
def test_what_identifies_or_says_nothing_is_no_name(phrase: str) -> None:
    assert names([{phrase: 9}]) == ["Topic 1"]


def test_names_differ_from_each_other_and_from_those_taken() -> None:
    groups = [{"pottery": 9}, {"pottery": 9}, {"pottery": 9, "recipe": 2}, {}]
    assert names(groups, taken=["POTTERY", "topic 2"]) == ["Topic 1", "Topic 3", "Recipe", "Topic 4"]


@pytest.mark.parametrize(
    ("most_words", "expected"), [(1, "Pottery"), (2, "Home Garden"), (3, "Home Garden and Pottery")]
)
def test_the_number_of_words_can_be_set(most_words: int, expected: str) -> None:
    groups = [{"home garden": 9, "home": 9, "garden": 9, "pottery": 9}, {"guitar": 9}]
    assert names(groups, most_words=most_words)[0] == expected


@given(any_groups, st.lists(any_phrase, max_size=3))
def test_names_are_short_unique_and_the_same_every_time(groups: list[dict[str, int]], taken: list[str]) -> None:
    found = names(groups, taken=taken)
    folded = [name.casefold() for name in found]
    assert all(1 <= len(name.split()) <= 4 and "@" not in name for name in found)
    assert len({*folded, *(name.casefold() for name in taken)}) == len(folded) + len(
        {name.casefold() for name in taken}
    )
    assert names([dict(reversed(group.items())) for group in groups], taken=taken) == found


# -- pairs -------------------------------------------------------------------------------------------------------------


def test_pairs_are_key_words_side_by_side() -> None:
    text = (
        "The support group met; our support group's garden, step-by-step guidance, mental\nhealth and ann@example.org."
    )
    assert pairs(text, keywords(text, 12)) == ["support group", "group met", "group garden"]


def test_pairs_hold_key_words_only() -> None:
    assert pairs("My secret garden gate", ["garden", "gate"]) == ["garden gate"]
    assert pairs("garden gate", []) == []
