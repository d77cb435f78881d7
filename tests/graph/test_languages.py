import time

import pytest

from graph.words import language_of, query_terms, stem, terms


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("When is the plumber due?", "english"),
        ("plumber", None),
        ("12345 !!!", None),
        ("", None),
        ("Wann kommt der Klempner?", "german"),
        ("Häuser", "german"),
        ("Versicherung", "german"),
        ("Quand arrive le plombier ?", "french"),
        ("¿Dónde está la llave?", "spanish"),
        ("Dov'è la chiave della macchina?", "italian"),
        ("Onde está a chave do carro?", "portuguese"),
        ("Hoeveel is de huur?", "dutch"),
        ("Hur mycket är hyran?", "swedish"),
        ("Hvornår kommer du og hvad er huslejen?", "danish"),
        ("Hvordan går det og hva er husleien?", "norwegian"),
        ("Kuinka paljon vuokra on?", "finnish"),
        ("Mennyi a lakbér?", "hungarian"),
        ("Ile wynosi czynsz?", "polish"),
        ("Kolik je nájem?", "czech"),
        ("Cât este chiria?", "romanian"),
        ("Kira ne kadar?", "turkish"),
        ("Berapa harga sewa rumah ini?", "indonesian"),
        ("Когда придёт сантехник?", "russian"),
        ("Де мій ключ?", "ukrainian"),
        ("Πότε έρχεται ο υδραυλικός;", "greek"),
        ("متى يأتي السباك؟", "arabic"),
        ("کلید ماشین کجاست؟", "persian"),
        ("לאן נסענו בחופשה?", "hebrew"),
        ("प्लंबर कब आएगा?", "hindi"),
        ("水管工什么时候来?", "chinese"),
        ("水道屋さんはいつ来ますか", "japanese"),
        ("배관공은 언제 와요?", "korean"),
        ("ช่างประปาจะมาเมื่อไหร่", "thai"),
    ],
)
def test_a_question_shows_its_language(text: str, language: str | None) -> None:
    assert language_of(text) == language


ENGLISH = [
    "Ask Müller about the rent of the flat in Zürich, his résumé is here.",
    "The die was cast and the man in the war had no hat.",
    "Los Angeles trip",
    "I'm going to the El Niño talk with Zoë",
    "Where is Rue de la Paix?",
    "In the café she said: c'est la vie, and we laughed about it.",
    "houses insurance contracts connections national information",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_an_english_text_has_the_stems_of_english_and_nothing_beside_them(text: str) -> None:
    words = [word.strip(".,:?").casefold() for word in text.split()]
    alone = {term for word in words for term in terms(f"the {word} is").counts}
    assert terms(text).counts.keys() <= alone
    assert len(terms(text).counts) == len({stem(word) for word in words})


def test_what_is_asked_is_not_widened_by_beginnings() -> None:
    assert len(query_terms("Wo ist der Versicherungsvertrag?")) <= 2
    assert len(terms("Wo ist der Versicherungsvertrag?").counts) > 10


def test_small_words_of_a_language_are_not_asked_for_and_have_no_length() -> None:
    assert query_terms("Wo ist der Schlüssel?") == query_terms("Schlüssel")
    assert terms("Wo ist der Schlüssel?").length == 1
    assert query_terms("wo ist der")  # unless there is nothing else


def test_two_threads_may_read_languages_and_long_texts_take_linear_time() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        terms(text)
        return time.process_time() - start

    once = "Die Krankenversicherungsbeiträge steigen im nächsten Jahr erheblich für alle. "
    assert seconds(once * 8_000) < 40 * max(seconds(once * 1_000), 0.002)
