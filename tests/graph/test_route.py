import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.route import Choice, NodeWeights, choose, confidences, score_nodes

NAN = float("nan")
Floats = npt.NDArray[np.float32]


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


# -- scores ------------------------------------------------------------------------------------------------------------


def test_a_score_is_a_weighted_sum_of_standard_deviations() -> None:
    words, best_entry, centroid = floats(0, 10), floats(3, 1), floats(0.5, 0.7)
    assert score_nodes(words, best_entry, centroid).round(4).tolist() == [-1.0, 1.0]
    weights = NodeWeights(words=1, centroid=0.5, best_entry=0.25)
    assert score_nodes(words, best_entry, centroid, weights=weights).round(4).tolist() == [-1.25, 1.25]


def test_names_and_dates_count_when_the_question_has_them() -> None:
    alike = floats(1, 1)
    scores = score_nodes(alike, alike, alike, name_match=floats(1, 0), date_match=floats(0, 1))
    assert scores.round(4).tolist() == [-2.0, 2.0]


def test_what_is_unknown_counts_as_average() -> None:
    nothing = floats(NAN, NAN, NAN)
    assert score_nodes(floats(0, NAN, 2), nothing, nothing).round(4).tolist() == [-1.0, 0.0, 1.0]


def test_signals_must_match() -> None:
    with pytest.raises(ValueError, match="signals"):
        score_nodes(floats(1, 2), floats(1), floats(1, 2))


@given(st.lists(st.floats(-1e6, 1e6, width=32) | st.just(NAN), max_size=20))
def test_scores_are_finite(values: list[float]) -> None:
    assert np.isfinite(score_nodes(floats(*values), floats(*values), floats(*values[::-1]))).all()


# -- confidences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([5], [1]),
        ([0, 0.7], [0.2689, 0.7311]),
        ([NAN, 0], [0, 1]),
        ([NAN, NAN], [0.5, 0.5]),
        ([1e6, -1e6], [1, 0]),
    ],
)
def test_confidence_is_a_share_of_the_odds(scores: list[float], expected: list[float]) -> None:
    assert confidences(floats(*scores)).round(4).tolist() == pytest.approx(expected, abs=1e-4)


# -- choice ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence", "sizes", "warmed", "too_large"),
    [
        pytest.param([], [], (), (), id="no nodes"),
        pytest.param([0.9995, 0.0005], [60, 60], (0,), (), id="one stands out"),
        pytest.param([0.05] * 20, [60] * 20, (0, 1, 2), (), id="three nodes in a small brain"),
        pytest.param([0.01] * 100, [60] * 100, (0, 1, 2, 3, 4, 5, 6, 7), (), id="eight nodes"),
        pytest.param([0.02] * 50, [60] * 50, (0, 1, 2, 3, 4), (), id="a tenth of the entries"),
        pytest.param([0.01] * 100, [190] * 100, (0, 1, 2, 3, 4), (), id="a thousand entries"),
        pytest.param([0.1, 0.6, 0.3], [60, 60, 60], (1, 2, 0), (), id="best first"),
        pytest.param([0.2, 0.2, 0.2], [60, 60, 60], (0, 1, 2), (), id="in order where equal"),
        pytest.param([0.5, 0.3, 0.2], [201, 60, 60], (1, 2), (0,), id="a node above the budget"),
        pytest.param([0.5, 0.3, 0.2], [200, 60, 60], (0, 1, 2), (), id="the largest topic always fits"),
        pytest.param([0.5, 0.3, 0.2], [0, 60, 60], (1, 2), (), id="a node without entries of its own"),
        pytest.param([NAN, 0.3, 0.2], [60, 60, 60], (1, 2, 0), (), id="an unknown node comes last"),
        pytest.param(
            [0.3, 0.2, 0.2, 0.1, 0.1, 0.1], [60, 60, 60, 150, 20, 1_700], (0, 1, 2, 4), (5,), id="what fits follows"
        ),
    ],
)
def test_the_best_nodes_within_the_budget_are_warmed(
    confidence: list[float], sizes: list[int], warmed: tuple[int, ...], too_large: tuple[int, ...]
) -> None:
    choice = choose(floats(*confidence), sizes)
    covered = float(np.nansum(floats(*confidence)[list(warmed)]))
    assert choice == Choice(warmed, too_large, covered=choice.covered)
    assert choice.covered == pytest.approx(covered)


def test_budgets_can_be_set() -> None:
    confidence = floats(*[0.1] * 10)
    assert choose(confidence, [10] * 10, budget_nodes=2).warmed == (0, 1)
    assert choose(confidence, [10] * 10, share=0.5).warmed == (0, 1, 2, 3, 4)
    assert choose(confidence, [10] * 10, share=0.5, most_entries=40).warmed == (0, 1, 2, 3)
    assert choose(confidence, [10] * 10, least_nodes=1).warmed == (0,)
    assert choose(confidence, [10] * 10, share=1, enough=0.35).warmed == (0, 1, 2, 3)


def test_sizes_must_match() -> None:
    with pytest.raises(ValueError, match="sizes"):
        choose(floats(1, 0), [1])


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.integers(0, 3_000)), max_size=60))
def test_the_budget_is_kept(nodes: list[tuple[float, int]]) -> None:
    confidence, sizes = floats(*(node[0] for node in nodes)), [node[1] for node in nodes]
    choice = choose(confidence, sizes)
    budget = min(0.1 * sum(sizes), 1_000)
    spent = sum(sizes[node] for node in choice.warmed)
    assert spent <= budget or (len(choice.warmed) <= 3 and spent <= 3 * max(budget, 200))
    assert len(set(choice.warmed)) == len(choice.warmed) <= 8
    assert set(choice.warmed).isdisjoint(choice.too_large)
