"""Fitting weights: what tells the evidence apart gains, what does not stays where it was."""

import numpy as np
import pytest

from benchmarks.data import Question
from benchmarks.scores import Outcome
from benchmarks.tune import NAMES, Case, comparison, examples, fit, loss, outcomes, weights_text


def case(number: int, half: str, signals: list[list[float]], units: str, evidence: str = "g") -> Case:
    question = Question(f"q{number}", "c", "Which?", "x", None, {"turn": frozenset(evidence)})
    return Case(question, frozenset(evidence), half, np.array(signals, np.float32), tuple(units))


def random_cases(count: int) -> list[Case]:
    """The first signal tells the evidence, the second is noise."""
    draw = np.random.default_rng(7)
    made = []
    for number in range(count):
        signals = draw.normal(size=(20, 2))
        signals[0, 0] += 2.0
        made.append(case(number, "AB"[number % 2], signals.tolist(), "g" + "abcdefghijklmnopqrs".replace("g", "z")))
    return made


def test_the_signal_that_tells_the_evidence_gains() -> None:
    start = np.array([0.5, 0.5])
    learnt = examples([random_cases(200)], start)
    fitted = fit(learnt, start, pull=1e-4)
    assert fitted[0] > 0.5
    assert abs(fitted[1]) < 0.1


def test_a_strong_pull_leaves_the_weights_as_they_are() -> None:
    start = np.array([0.5, 0.5])
    assert fit(examples([random_cases(50)], start), start, pull=1e6) == pytest.approx(start, abs=1e-3)


def test_the_fit_is_where_its_own_sum_is_least() -> None:
    start = np.array([0.5, 0.5])
    learnt = examples([random_cases(60)], start)
    fitted = fit(learnt, start, pull=1e-9)
    heats = np.geomspace(0.1, 10, 200)
    best = min(loss(learnt, heat * fitted) for heat in heats)
    assert best <= min(loss(learnt, heat * start) for heat in heats)
    assert min(loss(learnt, heat * (fitted + 0.05)) for heat in heats) >= best


def test_sets_count_the_same_and_questions_without_evidence_in_sight_teach_nothing() -> None:
    one = [case(1, "A", [[1.0], [0.0]], "ga")]
    two = [case(2, "A", [[1.0], [0.0]], "ga"), case(3, "A", [[1.0], [0.0]], "gg"), case(4, "A", [[1.0], [0.0]], "ab")]
    found = examples([one, two], np.array([1.0]))
    assert [(each.weight, each.target.tolist()) for each in found] == [
        (1.0, [1.0, 0.0]),
        (0.5, [1.0, 0.0]),
        (0.5, [0.5, 0.5]),
    ]


def test_outcomes_are_of_one_half_and_of_unique_units() -> None:
    cases = [case(1, "A", [[0.0], [3.0], [2.0], [1.0]], "gaab"), case(2, "B", [[1.0]], "g")]
    assert outcomes(cases, np.array([1.0]), "A") == [Outcome("q1", "c", "x", 1, (3,))]
    assert outcomes(cases, np.array([-1.0]), "A") == [Outcome("q1", "c", "x", 1, (1,))]
    lines = comparison({"Set": cases}, np.array([1.0]), np.array([-1.0])).splitlines()
    assert lines[2:] == [
        "| Set, half A (fitted on) | 1 | 1.000 / 1.000 | 1.000 / 1.000 |".replace("| 1 |", "|   1 |"),
        "| Set, half B             |   1 | 1.000 / 1.000 | 1.000 / 1.000 |",
    ]


def test_weights_are_printed_as_they_stand_in_the_code() -> None:
    lines = weights_text(np.arange(len(NAMES)) / 10).splitlines()
    assert lines[:2] == ["    vector: float = 0.00", "    words: float = 0.10"]
    assert len(lines) == len(NAMES)
