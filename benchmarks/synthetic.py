"""Invented memories for measurements of speed: words of an invented language, vectors in clusters.

Frequencies of words fall as in a real language (Zipf), lengths of messages are spread as in chats, and the vectors of a
topic lie together. The same seed makes the same memories.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from graph.words import STOP_WORDS
from memory.types import NewMessage, NewRecallFile

Floats = npt.NDArray[np.float32]

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "is")]
WORDS, TOPIC_WORDS, TOPIC_SHARE = 30_000, 150, 0.25
TOPIC_ENTRIES, CONVERSATION_MESSAGES = 60, 20
MEDIAN_WORDS, SPREAD, MOST_WORDS = 22, 0.7, 250
SPEAKERS = ("Ann", "Ben", "Chloe", "Dmitri")
FIRST_DAY, DAYS = datetime(2023, 1, 2, 8, tzinfo=UTC), 1_000
ASKED = ("What did I say about {}?", "Which {} is it?", "When was {}?", "What happened with {} in {month} 2024?")
MONTHS = ("January", "March", "May", "August", "November")


@dataclass(frozen=True, slots=True)
class Memories:
    """`vectors`: one a message, unit length, in the order of the files' messages."""

    files: list[NewRecallFile]
    vectors: Floats

    @property
    def texts(self) -> list[str]:
        return [message.content for file in self.files for message in file.messages]


def invent(entries: int, dimensions: int, *, seed: int) -> Memories:
    """Conversations of twenty messages, each about one topic."""
    random = np.random.default_rng(seed)
    words = _vocabulary()
    common = 1 / np.arange(1, len(words) + 1)
    common /= common.sum()
    topics = max(1, entries // TOPIC_ENTRIES)
    centres = _unit(random.normal(size=(topics, dimensions)))
    own = random.integers(200, len(words), (topics, TOPIC_WORDS))
    files: list[NewRecallFile] = []
    vectors: list[Floats] = []
    for start in range(0, entries, CONVERSATION_MESSAGES):
        count = min(CONVERSATION_MESSAGES, entries - start)
        topic = int(random.integers(topics))
        began = FIRST_DAY + timedelta(days=float(random.uniform(0, DAYS)))
        lengths = np.clip(np.exp(random.normal(np.log(MEDIAN_WORDS), SPREAD, count)), 3, MOST_WORDS).astype(int)
        messages = []
        for position, length in enumerate(lengths):
            chosen = random.choice(len(words), int(length), p=common)
            chosen = np.where(random.random(length) < TOPIC_SHARE, random.choice(own[topic], int(length)), chosen)
            messages.append(
                NewMessage(
                    role="assistant" if position % 2 else "user",
                    speaker="" if position % 2 else SPEAKERS[topic % len(SPEAKERS)],
                    content=" ".join(words[each] for each in chosen).capitalize() + ".",
                    timestamp=began + timedelta(minutes=position),
                )
            )
        files.append(NewRecallFile(kind="conversation", messages=tuple(messages), platform="invented"))
        vectors.append(_unit(centres[topic] + _unit(random.normal(size=(count, dimensions)))))
    return Memories(files, np.concatenate(vectors))


def questions(memories: Memories, count: int, *, seed: int) -> Iterator[tuple[str, Floats]]:
    """A text and a vector near one message each; one of four names a month."""
    random = np.random.default_rng(seed)
    texts = memories.texts
    for number in range(count):
        row = int(random.integers(len(texts)))
        said = sorted(set(texts[row].lower().strip(".").split()) - STOP_WORDS) or ["that"]
        words = " ".join(random.choice(said, min(5, len(said)), replace=False))
        noise = _unit(random.normal(size=memories.vectors.shape[1:]))
        yield (
            ASKED[number % len(ASKED)].format(words, month=MONTHS[number % len(MONTHS)]),
            _unit(memories.vectors[row] + noise),
        )


def _vocabulary() -> list[str]:
    """The stop words first, as in any language, then invented words of two to four syllables."""
    random = np.random.default_rng(1)
    made = dict.fromkeys(sorted(STOP_WORDS))
    while len(made) < WORDS:
        made["".join(random.choice(SYLLABLES, int(random.integers(2, 5))))] = None
    return list(made)


def _unit(vectors: npt.NDArray[np.float64]) -> Floats:
    unit: Floats = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return unit
