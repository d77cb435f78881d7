"""Tables, the drawing, what counts as reached, and the environment of an installation of our own."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.asking import only, without
from benchmarks.figures import Figure, figures, figures_table, reached
from benchmarks.installation import answers, own_environment
from benchmarks.plot import Group, plot
from benchmarks.precision import Part, Precision, precision_table, precisions
from benchmarks.scores import Difference, Outcome
from benchmarks.tables import percent, points, table
from memory.ranking import WEIGHTS, Weights


def test_a_table_has_columns_of_one_width() -> None:
    assert table(["", "n"], [["words", 1_982], ["auto", 5]]).splitlines() == [
        "|       |    n |",
        "| ----- | ---: |",
        "| words | 1982 |",
        "| auto  |    5 |",
    ]


def test_shares_and_differences_are_told_in_points() -> None:
    assert percent(0.0701) == "7.0 %"
    assert points(Difference(10, 0.0068, -0.0102, 0.0239)) == "+0.68 (-1.02 … +2.39)"


@pytest.mark.parametrize(
    ("value", "aim", "told"),
    [(0.80, 0.85, "no"), (0.81, 0.85, "floor"), (0.85, 0.85, "aim"), (0.9, None, "yes"), (0.1, None, "no")],
)
def test_what_is_reached(value: float, aim: float | None, told: str) -> None:
    assert reached(value, 0.81, aim) == told


def test_routing_figures_of_all_pooled_sets_together() -> None:
    def outcome(name: str, *places: int) -> Outcome:
        return Outcome(name, "c", "x", 1, places)

    one = Part("One pooled", [outcome("a", 1), outcome("b", 2)], [outcome("a", 1), outcome("b")], 0.1, 0.8, 1.0, 9, 70)
    two = Part("Two pooled", [outcome("a", 11)], [outcome("a", 3)], 0.04, 0.5, 0.7, 4, 90)

    rows = precisions([one, two])

    assert [row.title for row in rows] == ["together", "One pooled", "Two pooled"]
    together = rows[0]
    assert (together.n, together.nodes, together.largest_node) == (3, 13, 90)
    assert (together.entries_read_share, together.routed, together.filed_share) == (0.08, 0.7, 0.9)
    assert {name: each.mean for name, each in together.differences.items()} == {"any@10": 0.0, "share@10": 0.0}
    assert precisions([one]) == [rows[1]]
    assert len(precision_table(rows).splitlines()) == 5


def test_the_promise_about_routing_is_one_point() -> None:
    lost, level = Difference(100, -0.011, -0.03, 0.0), Difference(100, -0.01, -0.03, 0.0)
    row = Precision("together", 100, {"any@10": lost, "share@10": level}, 0.11, 0.8, 1.0, 9, 70)
    found = figures([], [row])
    assert [figure.reached for figure in found] == ["no", "yes", "no"]
    assert found[0] == Figure(
        "auto − exhaustive, together: any@10, points (95 %)", "≥ -1", "", "-1.10 (-3.00 … +0.00)", "", "", "no"
    )
    assert figures_table(found).startswith("| figure")


def test_the_drawing_is_well_formed_and_holds_every_value() -> None:
    groups = [Group("Set <1>", "any@10", (0.25, 1.0), 0.5, 0.75), Group("Set 2", "share@10", (0.0, 0.5))]
    root = ElementTree.fromstring(plot("A & B", ["words", "auto"], groups))  # noqa: S314  (our own)
    name = "{http://www.w3.org/2000/svg}"
    titles = [each.text for each in root.iter(f"{name}title")]
    assert titles == ["A & B", "0.250", "1.000", "0.000", "0.500"]
    assert "Set <1>" in [each.text for each in root.iter(f"{name}text")]


def test_variants_of_the_weights() -> None:
    nothing = dict.fromkeys(Weights.__dataclass_fields__, 0.0)
    assert only("words") == Weights(**{**nothing, "words": 1.0})
    assert (without("date").date, without("date").vector) == (0.0, WEIGHTS.vector)


def test_an_installation_of_our_own_knows_nothing_of_a_persons() -> None:
    theirs = {
        "PATH": "/bin",
        "BRAIN_DATA_DIR": "/their/data",
        "BRAIN_SECRET_KEY": "their secret",
        "BRAIN_MODEL_DIR": "/their/model",
        "DATABASE_URL": "postgresql://theirs",
        "REDIS_URL_FILE": "/their/redis",
    }
    assert own_environment(theirs, Path("/ours/data"), 4321) == {
        "PATH": "/bin",
        "BRAIN_MODEL_DIR": "/their/model",
        "BRAIN_DATA_DIR": "/ours/data",
        "BRAIN_PORT": "4321",
    }


def test_where_nothing_runs_nothing_answers(tmp_path: Path) -> None:
    assert not answers(tmp_path)
    (tmp_path / "ready.json").write_text("{}")
    assert not answers(tmp_path)
    (tmp_path / "ready.json").write_text('{"url": "http://127.0.0.1:9"}')
    assert not answers(tmp_path)
