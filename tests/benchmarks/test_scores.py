"""The arithmetic of the benchmark, on figures small enough to check by hand."""

import statistics

import numpy as np
import pytest

from benchmarks.scores import (
    KS,
    Difference,
    Outcome,
    bootstrap,
    by_category,
    by_half,
    halves,
    means,
    paired,
    places_of,
    saving,
    score,
)


def outcome(number: int, wanted: int, *places: int, conversation: str = "c", category: str = "x") -> Outcome:
    return Outcome(f"q{number}", conversation, category, wanted, places)


def test_places_are_of_unique_units_in_rank_order() -> None:
    assert places_of(["a", "b", "a", "c", "b", "d"], frozenset({"a", "c", "d", "not there"})) == (1, 3, 4)
    assert places_of([], frozenset({"a"})) == ()


def test_score_counts_any_all_share_and_the_first_place() -> None:
    found = score([outcome(1, 2, 1, 6), outcome(2, 1, 4), outcome(3, 4)])
    assert found.n == 3
    assert found.any_at == {1: 0.3333, 3: 0.3333, 5: 0.6667, 10: 0.6667, 20: 0.6667}
    assert found.all_at == {1: 0.0, 3: 0.0, 5: 0.3333, 10: 0.6667, 20: 0.6667}
    assert found.share_at == {1: 0.1667, 3: 0.1667, 5: 0.5, 10: 0.6667, 20: 0.6667}
    assert found.mrr == round((1 + 1 / 4) / 3, 4)


def test_a_place_past_the_last_k_counts_for_the_mean_reciprocal_rank_alone() -> None:
    found = score([outcome(1, 1, 50)])
    assert (found.any_at, found.mrr) == (dict.fromkeys(KS, 0.0), 0.02)


def test_score_of_nothing_is_zero() -> None:
    zeros = dict.fromkeys(KS, 0.0)
    found = score([])
    assert (found.n, found.any_at, found.all_at, found.share_at, found.mrr) == (0, zeros, zeros, zeros, 0.0)


def test_categories_are_scored_apart() -> None:
    found = by_category([outcome(1, 1, 1, category="when"), outcome(2, 1, category="who"), outcome(3, 1, 1)])
    assert {name: (each.n, each.any_at[1]) for name, each in found.items()} == {
        "when": (1, 1.0),
        "who": (1, 0.0),
        "x": (1, 1.0),
    }


def test_halves_take_every_second_conversation_by_its_id() -> None:
    asked = [outcome(n, 1, conversation=c) for n, c in enumerate(["d", "b", "b", "a", "c"])]
    assert halves(asked) == {"q0": "B", "q1": "B", "q2": "B", "q3": "A", "q4": "A"}


def test_one_conversation_is_halved_by_its_questions() -> None:
    asked = [outcome(n, 1, 1) for n in range(3)]
    assert halves(asked) == {"q0": "A", "q1": "B", "q2": "A"}
    assert {name: each.n for name, each in by_half(asked).items()} == {"A": 2, "B": 1}


def test_paired_differences_are_of_the_same_question() -> None:
    ours = [outcome(1, 2, 1, 2), outcome(2, 1, 1), outcome(3, 1), outcome(4, 1, 1)]
    theirs = [outcome(1, 2, 1), outcome(2, 1), outcome(3, 1), outcome(4, 1, 1)]
    share = paired(ours, theirs, "share", 10)
    assert (share.n, share.mean, share.low, share.high) == (4, 0.375, 0.0, 0.75)
    assert paired(ours, theirs, "share", 10) == share
    assert paired(ours, theirs, "any", 10).mean == 0.25
    with pytest.raises(AssertionError):
        paired(ours, theirs[::-1], "any", 10)


def test_the_interval_is_that_of_the_mean() -> None:
    values = np.array([1.0, -1.0] * 200)
    found = bootstrap(values)
    expected = 1.96 / np.sqrt(len(values))
    assert found.mean == 0.0
    assert found.low == pytest.approx(-expected, abs=0.01)
    assert found.high == pytest.approx(expected, abs=0.01)
    assert bootstrap(np.zeros(0)) == Difference(0, 0.0, 0.0, 0.0)
    assert bootstrap(np.full(5, 0.5)) == Difference(5, 0.5, 0.5, 0.5)


def test_saving_is_the_median_over_questions_that_had_something_instead() -> None:
    assert saving([10, 10, 10, 10], [100, 20, 1_000, 0]) == 0.9
    assert saving([10], [0]) == 0.0


def test_means_count_a_missing_stage_as_nothing() -> None:
    rows = [{"load": 1.0, "fuse": 3.0}, {"fuse": 1.0}]
    assert means(rows, statistics.fmean) == {"load": 0.5, "fuse": 2.0}
    assert means(rows, statistics.median) == {"load": 0.5, "fuse": 2.0}
