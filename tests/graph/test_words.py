import time
import unicodedata
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.words import Terms, entities, keywords, pack, query_terms, terms, unpack

any_text = st.text(st.characters())


def hashes(*stems: str) -> dict[int, int]:
    """One occurrence of each stem."""
    return {zlib.crc32(stem.encode()): 1 for stem in stems}


@pytest.mark.parametrize(
    ("text", "stems", "length"),
    [
        ("I don't know James's well-known cafés", ["i", "don't", "know", "jame", "well", "known", "cafe"], 5),
        ("BRAIN_DATA_DIR=/var/lib, version 2.0", ["brain", "data", "dir", "var", "lib", "version", "2", "0"], 8),
        ("l'eau d’Artagnan", ["eau", "artagnan"], 2),
        ("Łódź, Straße", ["lodz", "strass"], 2),
        ("Книгами", ["книг"], 1),
        ("Οδυσσέας", ["οδυσσε"], 1),
        ("किताबें", ["किताब"], 1),
        ("黒猫です 7月", ["黒猫", "猫で", "です", "黒", "猫", "7", "月"], 5),
        ("iPhone手机 서울은", ["iphon", "手机", "手", "机", "서울", "울은", "서", "울", "은"], 4),
        ("👍🏽 🇩🇪 👩\u200d👧 ❤️", ["👍", "🇩🇪", "👩\u200d👧", "❤"], 4),
        ("co\u00adoperate zero\u200bwidth", ["cooper", "zerowidth"], 2),
        ("x" * 41, ["x" * 41], 1),
        ("\ud800 … → !!!", [], 0),
        ("", [], 0),
    ],
)
def test_a_text_becomes_hashes_of_stems(text: str, stems: list[str], length: int) -> None:
    assert terms(text) == Terms(hashes(*stems), length)


def test_occurrences_are_counted_and_stop_words_are_left_out_of_the_length() -> None:
    assert terms("Painting is the painter's painted paint") == Terms(
        {
            zlib.crc32(b"paint"): 3,
            zlib.crc32(b"is"): 1,
            zlib.crc32(b"the"): 1,
            zlib.crc32(b"painter"): 1,
        },
        4,
    )


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("When did Caroline go to the support group?", ["carolin", "go", "support", "group"]),
        ("Support the support groups", ["support", "group"]),
        ("who are they", ["who", "are", "they"]),
        ("猫 and the dog", ["猫", "dog"]),
        ("?", []),
    ],
)
def test_a_question_keeps_stop_words_only_when_it_holds_nothing_else(question: str, stems: list[str]) -> None:
    assert query_terms(question) == tuple(hashes(*stems))


@given(any_text)
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    stored = terms(text)
    assert set(query_terms(text)) <= stored.counts.keys()
    assert bool(query_terms(text)) == bool(stored.counts)
    assert 0 <= stored.length <= sum(stored.counts.values())


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x17F)))
def test_composed_and_decomposed_accents_are_the_same(text: str) -> None:
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


# -- the stored form


@given(
    st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 2**16 - 1), max_size=50),
    st.integers(0, 2**32 - 1),
)
def test_packed_terms_come_back(counts: dict[int, int], length: int) -> None:
    packed = pack(Terms(counts, length))
    found = unpack(memoryview(packed))
    assert len(packed) == 4 + 6 * len(counts)
    assert found.length == length
    assert found.hashes.dtype == np.uint32
    assert found.counts.dtype == np.uint16
    assert list(zip(found.hashes.tolist(), found.counts.tolist(), strict=True)) == sorted(counts.items())


def test_counts_saturate() -> None:
    assert unpack(pack(Terms({7: 70_000}, 70_000))).counts.tolist() == [65_535]


@pytest.mark.parametrize("size", [0, 3, 5, 9, 11])
def test_unpacking_something_else_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"^packed terms of {size} bytes: expected 4 \\+ 6 n$"):
        unpack(bytes(size))


# -- words for people

CONFIDENTIAL = """Mail foo.bar@example.com or call +49 170 1234567 or 555–123–4567 at 24:33.098, see https://x.com/Foo
- [x] card 4111 1111 1111 1111, account 12345678, IBAN DE89 3704 0044 0532 0130 00
password: hunter2 token=Abc key AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY sk-proj-abcdefghij
a1b2c3d 123e4567-e89b-12d3-a456-426614174000 AbCdEfGhIjKlMnOpQrStUv 10 2023-05-08T13:56"""


def test_keywords_are_the_most_frequent_words_as_first_written() -> None:
    text = "Hey Mel! Thanks for the Pottery class in 2023. Our pottery teacher's café sells pots, classes cost 30."
    assert keywords(text, 9) == ["pottery", "class", "mel", "2023", "teacher", "café", "sells", "pots", "cost"]
    assert keywords(text, 2) == ["pottery", "class"]


def test_keywords_of_scripts_without_spaces() -> None:
    assert keywords("黒猫のデータベース設計 중국어로 中华人民共和国", 9) == [
        "黒猫", "データベース", "設計", "중국어로", "中华", "华人", "人民", "民共", "共和",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "I met Melanie Smith and Dr. Brown of the Bank of America.",
            ["Melanie Smith", "Dr. Brown", "Bank of America"],
        ),
        ("We moved from New York to Rio de Janeiro", ["New York", "Rio de Janeiro"]),
        ("Use Version 2.0 of GitHub on my iPhone 15 Pro", ["Version 2.0", "GitHub", "iPhone 15 Pro"]),
        ("The LGBTQ group likes GPT-4 and Jean-Luc's dog", ["LGBTQ", "GPT-4", "Jean-Luc"]),
        ("Anna left. Anna came. Hey Tom, we saw Anna", ["Anna", "Tom"]),
        ("Pottery is fun. Great idea! Yesterday I went home. New ideas.", []),
        ("THIS IS ALL SHOUTING ABOUT NOTHING AT ALL", []),
        ("We read The Very Hungry Caterpillar Eats Seven Green Apples", ["Hungry Caterpillar Eats Seven"]),
        ("Мы видели Анну Каренину", ["Анну Каренину"]),
        ("黒猫 😀 42", []),
        ("", []),
    ],
)
def test_names_are_found_by_their_capitals(text: str, names: list[str]) -> None:
    assert entities(text, 9) == names


def test_nothing_that_identifies_or_unlocks_is_shown() -> None:
    assert keywords(CONFIDENTIAL, 99) == ["mail", "call", "card", "account", "iban", "de", "key"]
    assert entities(CONFIDENTIAL, 99) == ["IBAN DE"]


@given(any_text, st.integers(0, 5))
def test_any_text_has_few_short_keywords_and_names(text: str, most: int) -> None:
    for shown in (keywords(text, most), entities(text, most)):
        assert len(shown) <= most
        assert all(1 <= len(entry) <= 60 for entry in shown)


# -- hostile texts


def seconds(work: Callable[[], object]) -> float:
    """Processor time, the best of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "part",
    [
        "a", "é", "a'", "' ", "a ", "A ", "Ab ", "Ab of ", "Ab. ", "a@", "1 ", "1    ", "1-a", "1.", "ab1", "aA", "sk-",
        "://", "[", "[x ", "password is ", "pin:  ", "\u0315\u0300", "a\u0315\u0300", "漢字", "ภาษา", "😀", "👩\u200d",
        "🇩", "\n", "—", "x.y@z.w ", "a1B2", "AKIA", "\u0315\u200b\u0300", "\U0001e8d0\U0001e944",
    ],
)  # fmt: skip
@pytest.mark.parametrize("read", [terms, query_terms, lambda text: keywords(text, 9), lambda text: entities(text, 9)])
def test_time_grows_with_the_length_of_the_text_and_no_faster(part: str, read: Callable[[str], object]) -> None:
    short = part * (12_000 // len(part))
    read(short)
    # Quadratic work would take 64 times as long; 5 ms stand for what the clock cannot tell.
    assert seconds(lambda: read(short * 8)) < 8 * 3 * (seconds(lambda: read(short)) + 0.005)
