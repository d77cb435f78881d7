import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.pieces import Piece, embedded_texts, pieces

texts = st.text(st.sampled_from("ab.!?。 \n\t\u0301👩👧🏽🇩🇪\u200d\ufe0f漢")) | st.text(st.characters())


def cut(text: str, limit: int) -> list[str]:
    return [piece.text for piece in pieces(text, limit)]


@given(texts, st.integers(1, 20))
def test_pieces_hold_every_character_that_is_not_blank_in_order(text: str, limit: int) -> None:
    found = pieces(text, limit)
    assert "".join("".join(piece.text for piece in found).split()) == "".join(text.split())
    assert [piece.text for piece in found] == [text[piece.start : piece.end] for piece in found]
    assert [piece.text for piece in found] == [piece.text.strip() for piece in found]
    assert all(1 <= len(piece.text) <= limit for piece in found)
    offsets = [offset for piece in found for offset in (piece.start, piece.end)]
    assert offsets == sorted(offsets)


@given(texts)
def test_a_text_that_fits_is_one_piece(text: str) -> None:
    assert cut(text, max(1, len(text))) == [text.strip()] * bool(text.strip())


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        (
            "One two.\nThree.\n \nFour five. Six seven. Eight.",
            20,
            ["One two.\nThree.", "Four five.", "Six seven. Eight."],
        ),
        (
            "He said “No.” Then he left. Nobody saw him go home.",
            30,
            ["He said “No.” Then he left.", "Nobody saw him go home."],
        ),
        ("first line\nsecond line\nthird line", 15, ["first line", "second line", "third line"]),
        ("一二三。四五六。七八九。", 8, ["一二三。四五六。", "七八九。"]),
        ("no sentence ends anywhere in here", 20, ["no sentence ends", "anywhere in here"]),
        ("abcdefghij" * 3, 12, ["abcdefghijab", "cdefghijabcd", "efghij"]),
        ("e\u0301" * 6, 5, ["e\u0301e\u0301", "e\u0301e\u0301", "e\u0301e\u0301"]),
        ("👩\u200d👧👍🏽❤\ufe0f", 4, ["👩\u200d👧", "👍🏽❤\ufe0f"]),
        ("🇩🇪🇫🇷🇯🇵", 3, ["🇩🇪", "🇫🇷", "🇯🇵"]),
        ("a" + "\u0301" * 200, 100, ["a" + "\u0301" * 99, "\u0301" * 100, "\u0301"]),
        (" \n\t ", 5, []),
        ("", 5, []),
    ],
)
def test_cuts_fall_where_a_reader_would_make_them(text: str, limit: int, expected: list[str]) -> None:
    assert cut(text, limit) == expected


def test_a_piece_says_where_it_was() -> None:
    assert pieces("  One two.  \n\n Three. ", 10) == [Piece(2, 10, "One two."), Piece(15, 21, "Three.")]


def test_no_small_rest_is_left_over() -> None:
    sentence = "Thirty characters of sentence. "
    assert [len(piece) for piece in cut(sentence * 30, 900)] == [619, 309]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^limit must be at least 1, not 0$"):
        pieces("text", 0)


# -- what is embedded


def test_a_short_message_carries_its_speaker_and_what_was_said_before() -> None:
    said = embedded_texts(" Friday ", speaker="Ben", previous=" Which day?\n", previous_speaker="Ann")
    assert said == ["Ann: Which day?\nBen: Friday"]


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, ["Friday"]),
        ({"speaker": "Ben"}, ["Ben: Friday"]),
        ({"speaker": "Ben", "previous": " ", "previous_speaker": "Ann"}, ["Ben: Friday"]),
        ({"speaker": "Ben", "previous": "Which day?"}, ["Which day?\nBen: Friday"]),
        ({"previous": " " + "x" * 300 + "\n"}, ["x" * 300 + "\nFriday"]),
        ({"previous": "x" * 301}, ["Friday"]),
    ],
)
def test_what_is_unknown_is_left_out(context: dict[str, str], expected: list[str]) -> None:
    assert embedded_texts("Friday", **context) == expected  # type: ignore[arg-type]


def test_a_long_message_speaks_for_itself() -> None:
    text = "One. Two. Three. Four."
    assert embedded_texts(text, speaker="Ben", previous="Which?", limit=12) == cut(text, 12)


def test_a_blank_message_has_nothing_to_embed() -> None:
    assert embedded_texts(" \n", speaker="Ben", previous="Which?") == []
