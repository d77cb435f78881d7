"""Search by words alone, in the languages people write: no vectors are made here."""

import pytest

from memory.capture import capture, capture_bulk
from memory.recall import recall
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.test_capture import thought

# (language, what is kept, something else in that language, what is asked)
PAIRS = [
    ("English", "We looked at the houses by the river.", "The tax return is in the drawer.", "house"),
    ("German", "Wir haben die Häuser am Fluss besichtigt.", "Die Steuer liegt in der Schublade.", "Haus"),
    ("German", "Der Versicherungsvertrag liegt im Schrank.", "Das Auto ist in der Werkstatt.", "Versicherung"),
    (
        "German",
        "Der Klempner repariert am Freitag die Rohre.",
        "Das Auto ist in der Werkstatt.",
        "Wann kommt der Klempner?",
    ),
    ("German", "Frau Müller wohnt in der Hauptstraße.", "Das Auto ist in der Werkstatt.", "Mueller"),
    ("French", "Les chevaux mangent dans le pré.", "La voiture est chez le garagiste.", "Où est le cheval ?"),
    ("French", "J'ai rangé l'échelle dans le garage.", "La soupe est dans le frigo.", "echelle"),
    ("Spanish", "Los teléfonos están en la oficina de mi hermana.", "El coche está en el taller.", "telefono"),
    ("Spanish", "Las canciones son de mi abuela.", "El coche está en el taller.", "¿Dónde está la canción?"),
    ("Italian", "Le finestre della cucina sono nuove.", "La macchina è dal meccanico.", "Dov'è la finestra?"),
    ("Portuguese", "Os livros são da minha irmã.", "O carro está na oficina.", "Onde está o livro?"),
    ("Dutch", "De verzekeringsmaatschappij belde gisteren.", "De auto staat in de garage.", "verzekering"),
    ("Swedish", "Sjukhusräkningen kom på fredag och den är hög.", "Bilen är hos mekanikern.", "sjukhus"),
    ("Finnish", "Talossa on kolme huonetta ja se on vanha.", "Auto on korjaamolla.", "talo"),
    ("Polish", "Kupiłem książki dla siostry.", "Samochód jest w warsztacie.", "Gdzie jest książka?"),
    ("Turkish", "Anahtarları çekmecede, çok eski ve paslı.", "Araba tamircide.", "anahtar"),
    ("Russian", "Мы купили новые книги для школы.", "Машина в ремонте.", "книга"),
    ("Russian", "Сантехник придёт в пятницу чинить трубы.", "Машина в ремонте.", "Когда придёт сантехник?"),
    ("Greek", "Ο δάσκαλος ήρθε χθες.", "Το αυτοκίνητο είναι στο συνεργείο.", "δάσκαλοι"),
    ("Arabic", "اشترينا سيارة جديدة أمس.", "الطعام في الثلاجة.", "السيارة"),
    ("Hindi", "मैंने नई किताबें खरीदीं।", "गाड़ी मरम्मत में है।", "किताब"),
    ("Chinese", "猫在沙发上睡觉。", "汽车在修理厂。", "猫"),
    ("Chinese", "明天和水管工见面。", "汽车在修理厂。", "水管工什么时候来?"),
    ("Japanese", "東京タワーの近くで猫を見た。", "車は修理中です。", "猫"),
    ("Japanese", "東京タワーの近くで猫を見た。", "車は修理中です。", "東京タワー"),
    ("Korean", "집에 우산을 두고 왔다.", "자동차는 정비소에 있다.", "집"),
    ("Korean", "학교에서 친구를 만났다.", "자동차는 정비소에 있다.", "학교"),
    ("Thai", "ช่างประปาจะมาวันศุกร์", "รถอยู่ที่อู่", "ประปา"),
    ("Turkish", "İstanbul'da üç gün kaldık ve çok güzel.", "Araba tamircide.", "istanbul"),
    ("accents", "Das Treffen ist in Zürich.", "Das Auto ist in der Werkstatt.", "Zurich"),
    ("accents", "We met in Zurich.", "The car is at the garage.", "Zürich"),
]


@pytest.mark.parametrize(("language", "kept", "other", "asked"), PAIRS)
def test_words_find_what_was_kept(cast: Cast, language: str, kept: str, other: str, asked: str) -> None:
    capture_bulk(cast.ann.actor, scope="personal", files=[thought(other), thought(kept), thought(other + " 2")])
    assert [hit.text for hit in recall(cast.ann.actor, asked).hits] == [kept]


@pytest.mark.parametrize(
    ("query", "language"),
    [("Когда придёт сантехник?", "Russian"), ("Wann kommt der Klempner?", "German"), ("水管工什么时候来?", "Chinese")],
)
def test_the_answer_says_that_the_bundled_model_reads_english(cast: Cast, query: str, language: str) -> None:
    capture(cast.ann.actor, content=query)
    work_jobs(60.0)
    answer = recall(cast.ann.actor, query)
    assert answer.trace.not_used == (f"vectors: the embedding model reads English, the question looks {language}",)
    assert len(answer.hits) == 1  # the words serve it


@pytest.mark.parametrize("query", ["When is the plumber due?", "plumber", "Ask Müller about the rent"])
def test_the_answer_says_nothing_of_the_kind_to_english(cast: Cast, query: str) -> None:
    assert recall(cast.ann.actor, query).trace.not_used == ()
