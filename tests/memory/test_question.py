"""What a question asks for, read from its words."""

import pytest

from memory.question import understand
from memory.traits import Trait, traits_of


@pytest.fixture(autouse=True)
def _stored_model(cast: object) -> None:
    """The model's row needs the database."""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("What is my budget for books?", {"is_of_self", "wants_current", "wants_standing"}),
        ("What was my original budget?", {"is_of_self"}),
        ("Which hotel did you recommend to me?", set()),
        ("How do I prove that two triangles are congruent?", {"is_of_self", "wants_standing"}),
        ("Could you show me a login form?", {"is_of_self", "wants_standing"}),
        ("When will the water be repaired?", {"wants_time"}),
        ("When did Caroline go to the meeting?", {"wants_time"}),
        ("Can you summarize how my plans developed?", {"wants_overview"}),
        ("List the order in which I brought up the topics, in order.", {"is_of_self", "wants_order"}),
    ],
)
def test_kinds_of_questions(text: str, kinds: set[str]) -> None:
    question = understand(text, None)
    names = ("is_of_self", "wants_current", "wants_standing", "wants_time", "wants_overview", "wants_order")
    assert {name for name in names if getattr(question, name)} == kinds


@pytest.mark.parametrize(
    ("text", "is_person", "expected"),
    [
        ("Always show me a worked example.", True, Trait.STANDING),
        ("Always show me a worked example.", False, Trait(0)),
        ("I don\u2019t eat fish", True, Trait.STANDING),
        ("Shall we go?", True, Trait.QUESTION),
        ("Which number do we name from now on?", True, Trait.QUESTION),
        ("Could you always answer in French?", True, Trait.QUESTION | Trait.STANDING),
        ("I went there yesterday.", True, Trait.TIMED),
        ("When did you go? Last Monday?", True, Trait.QUESTION | Trait.TIMED),
        ("It rained. " * 100 + "I always say so?", True, Trait(0)),
        ("The cat sat.", True, Trait(0)),
        ("", True, Trait(0)),
    ],
)
def test_traits(text: str, is_person: bool, expected: Trait) -> None:
    assert traits_of(text, is_person=is_person) == expected
