import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.cluster import Run, concepts, topics

Floats = npt.NDArray[np.float32]


def axis(number: int) -> Floats:
    unit: Floats = np.eye(16, dtype=np.float32)[number]
    return unit


def around(*numbers: int, count: int, spread: float = 0.05) -> Floats:
    """`count` unit vectors close to each of these axes, one axis after the other."""
    random = np.random.default_rng(1)
    rows = np.repeat(np.eye(16)[list(numbers)], count, axis=0)
    rows += spread * random.normal(size=rows.shape)
    near: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return near


def sizes_of(labels: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> list[int]:
    return [int(size) for size in np.bincount(labels, weights=sizes)]


# -- runs --------------------------------------------------------------------------------------------------------------


def test_a_run_points_where_its_entries_point() -> None:
    run = Run.of(np.stack([axis(0), axis(1), np.zeros(16, np.float32), np.full(16, np.nan, np.float32)]))
    assert (run.vector.tolist(), run.entry_count) == (pytest.approx([0.5**0.5] * 2 + [0.0] * 14), 4)


def test_a_run_without_vectors_points_nowhere() -> None:
    assert Run.of(np.zeros((3, 16), np.float32)).vector.tolist() == [0.0] * 16


# -- topics ------------------------------------------------------------------------------------------------------------


def test_runs_about_one_thing_become_one_topic() -> None:
    vectors = around(3, 1, 2, count=8)
    assert topics(vectors, [8] * 24).tolist() == [0] * 8 + [1] * 8 + [2] * 8


def test_what_all_runs_have_in_common_does_not_join_them() -> None:
    vectors = around(3, 1, 2, count=8) + 4 * axis(9)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert topics(vectors, [8] * 24).tolist() == [0] * 8 + [1] * 8 + [2] * 8


def test_a_topic_that_is_too_large_is_split() -> None:
    vectors, sizes = np.concatenate([around(0, count=60), around(1, count=6)]), np.full(66, 8)
    found = topics(vectors, sizes)
    assert max(sizes_of(found, sizes)) <= 200
    assert set(found[:60]).isdisjoint(found[60:])


def test_runs_that_are_all_alike_are_cut_in_order() -> None:
    found = topics(np.tile(axis(0), (50, 1)), [8] * 50)
    assert found.tolist() == sorted(found)
    assert sizes_of(found, np.full(50, 8)) == [96, 104, 96, 104]


def test_a_tiny_topic_joins_its_nearest() -> None:
    apart = (axis(2) + 0.2 * axis(1))[None]
    vectors = np.concatenate([around(0, 1, count=8, spread=0.01), apart])
    assert topics(vectors, [8] * 16 + [3]).tolist() == [0] * 8 + [1] * 9


def test_a_tiny_topic_without_room_beside_it_stays() -> None:
    vectors = np.stack([axis(0), axis(1)])
    assert topics(vectors, [200, 5]).tolist() == [0, 1]


@pytest.mark.parametrize("missing", [0.0, np.nan])
def test_runs_without_a_vector_have_no_topic_and_change_no_other(missing: float) -> None:
    vectors = around(3, 1, 2, count=8)
    found = topics(np.insert(vectors, [0, 12], missing, axis=0), [8] * 26)
    assert found.tolist() == [-1, *[0] * 8, *[1] * 4, -1, *[1] * 4, *[2] * 8]


@pytest.mark.parametrize(("count", "expected"), [(0, []), (1, [0])])
def test_few_runs_are_no_error(count: int, expected: list[int]) -> None:
    assert topics(around(0, count=5)[:count], [8] * count).tolist() == expected


def test_a_large_brain_is_clustered_in_parts() -> None:
    random = np.random.default_rng(0)
    centres = random.normal(size=(160, 16))
    vectors = np.repeat(centres, 8, axis=0) + 0.1 * random.normal(size=(1_280, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found, sizes = topics(vectors.astype(np.float32), [8] * 1_280), np.full(1_280, 8)
    assert 120 <= found.max() + 1 <= 200
    assert 12 <= min(sizes_of(found, sizes)) <= max(sizes_of(found, sizes)) <= 200


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40)), max_size=40), st.integers(0, 3))
def test_topics_are_a_numbered_partition_within_bounds(runs: list[tuple[int, int]], seed: int) -> None:
    vectors = np.stack([axis(number) for number, _ in runs]) if runs else np.zeros((0, 16), np.float32)
    sizes = np.array([size for _, size in runs], np.int64)
    found = topics(vectors, sizes, seed=seed)
    assert found.tolist() == topics(vectors, sizes, seed=seed).tolist()
    assert list(dict.fromkeys(found.tolist())) == list(range(len(set(found.tolist()))))
    assert all(size <= 200 for size in sizes_of(found, sizes))


@pytest.mark.parametrize("sizes", [[8], [8, 0], [[8, 8]]])
def test_sizes_must_match(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="sizes"):
        topics(np.stack([axis(0), axis(1)]), sizes)


# -- concepts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_a_few_topics_are_one_concept(count: int) -> None:
    assert concepts(around(0, 5, count=3)[:count], [60] * count).tolist() == [0] * count


def test_topics_close_to_each_other_become_a_concept() -> None:
    assert concepts(around(3, 1, 2, count=4), [60] * 12).tolist() == [0] * 4 + [1] * 4 + [2] * 4


@given(st.lists(st.integers(0, 7), min_size=6, max_size=60))
def test_concepts_are_a_numbered_partition_of_at_most_eight_topics(numbers: list[int]) -> None:
    centroids = np.stack([axis(number) + 0.1 * axis(8 + place % 8) for place, number in enumerate(numbers)])
    found = concepts(centroids, [60] * len(numbers)).tolist()
    assert list(dict.fromkeys(found)) == list(range(len(set(found))))
    assert max(found.count(concept) for concept in found) <= 8


def test_many_topics_are_grouped_in_parts() -> None:
    random = np.random.default_rng(0)
    found = concepts(random.normal(size=(600, 16)).astype(np.float32), [60] * 600)
    assert 75 <= found.max() + 1 <= 150
    assert np.bincount(found).max() <= 8
