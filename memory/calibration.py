"""What a cosine of a model means: measured once on sentences of our own, see docs/decisions/0006-calibration.md."""

import numpy as np

from memory.providers import Embedder, Vectors

# A question and a sentence that answers it, by language. With the answers to the others of its language a question has
# nothing in common.
PAIRS = (
    (
        ("When is the plumber coming?", "The man who repairs our pipes will be here on Friday morning."),
        ("What does Mia like to eat?", "Mia loves noodles with pesto more than anything."),
        ("Which database did we choose?", "After the meeting we settled on Postgres for the new service."),
        ("How old is our dog?", "Rex turned seven last week, he is getting slower on his walks."),
        ("Where did they go on holiday?", "In August we spent two weeks in a cabin by the sea in Norway."),
        ("Why was the release delayed?", "We pushed the launch to March because the payment tests kept failing."),
        ("What is Ben allergic to?", "Ben cannot have peanuts, his face swells up at once."),
        ("Who won the chess tournament?", "Clara beat everyone at the chess club and took the cup home."),
        ("How much is the rent?", "The landlord now wants 1,200 a month for the flat."),
        ("What instrument does Lucy practise?", "Lucy sits at the piano for an hour every evening."),
        ("What did the doctor say about my knee?", "The physician told me to rest the knee and avoid running."),
        ("Which book should I read next?", "You would enjoy the new novel by Ishiguro, start with that one."),
    ),
    (
        ("Wann kommt der Klempner?", "Der Mann, der unsere Rohre repariert, kommt am Freitag."),
        ("Was isst Mia gern?", "Mia mag Nudeln mit Pesto lieber als alles andere."),
        ("Wie hoch ist die Miete?", "Der Vermieter verlangt jetzt 1200 Euro im Monat für die Wohnung."),
        ("Wohin fahren wir in den Urlaub?", "Im August verbringen wir zwei Wochen am Meer in Dänemark."),
    ),
    (
        ("Quand arrive le plombier ?", "L'homme qui répare nos tuyaux vient vendredi matin."),
        ("Qu'est-ce que Paul aime manger ?", "Paul adore la soupe à l'oignon et le fromage."),
        ("Quel âge a notre chien ?", "Le chien a eu sept ans la semaine dernière."),
        ("Pourquoi la réunion a-t-elle été reportée ?", "Nous avons déplacé la réunion car le client est malade."),
    ),
    (
        ("¿Cuándo viene el fontanero?", "El hombre que arregla las tuberías llega el viernes por la mañana."),
        ("¿Qué le gusta comer a Ana?", "A Ana le encanta el arroz con pollo de su abuela."),
        ("¿Cuánto cuesta el alquiler?", "El dueño pide ahora 900 euros al mes por el piso."),
        ("¿Dónde está la llave del coche?", "He dejado la llave del coche en el cajón de la cocina."),
    ),
    (
        ("Когда придёт сантехник?", "Мастер, который чинит трубы, придёт в пятницу утром."),
        ("Что любит есть Маша?", "Маша больше всего любит блины со сметаной."),
        ("Сколько лет нашей собаке?", "На прошлой неделе нашей собаке исполнилось семь лет."),
        ("Где ключ от машины?", "Я оставил ключи в ящике на кухне."),
    ),
    (
        ("水管工什么时候来?", "修水管的师傅星期五上午过来。"),
        ("小美喜欢吃什么?", "小美最喜欢吃番茄鸡蛋面。"),
        ("我们的狗几岁了?", "我们家的狗上星期满七岁了。"),
        ("房租多少钱?", "房东现在每个月要三千块。"),
    ),
)
# The similarities that the medians of matching and of unrelated pairs stand for, so that the bundled model gets the
# limits that were found for it on real conversations.
MATCHING, UNRELATED = 0.77, 0.34
# A language counts when the model tells matching from unrelated in it nearly as well as in its best one: to a model of
# English alone all Chinese sentences are alike, and say nothing about its scale.
READS = 2 / 3
LEAST_SPAN = 0.05  # a model that tells the two apart no better than this gets no zoom on its noise


def calibrate(embedder: Embedder) -> tuple[float, float]:
    """The cosines of this model that count as similarity 0 and 1. Raises EmbedderUnavailable."""
    matching, unrelated = medians(embedder)
    span = max(LEAST_SPAN, (matching - unrelated) / (MATCHING - UNRELATED))
    low = unrelated - UNRELATED * span
    return round(low, 3), round(low + span, 3)


def medians(embedder: Embedder) -> tuple[float, float]:
    """The cosines in the middle of the matching and of the unrelated pairs, in the languages that the model reads."""
    by_language = [_cosines(embedder, pairs) for pairs in PAIRS]
    gaps = [float(np.median(matching) - np.median(unrelated)) for matching, unrelated in by_language]
    read = [cosines for cosines, gap in zip(by_language, gaps, strict=True) if gap >= READS * max(gaps)]
    return (
        float(np.median(np.concatenate([matching for matching, _ in read or by_language]))),
        float(np.median(np.concatenate([unrelated for _, unrelated in read or by_language]))),
    )


def _cosines(embedder: Embedder, pairs: tuple[tuple[str, str], ...]) -> tuple[Vectors, Vectors]:
    questions = np.stack([embedder.embed_query(question) for question, _ in pairs])
    found = questions @ embedder.embed([answer for _, answer in pairs]).T
    is_own = np.eye(len(pairs), dtype=bool)
    return found[is_own], found[~is_own]
