"""A tiny invented set through the product: filled, asked in every variant, told as tables."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from benchmarks import brains
from benchmarks.data import Data, read_set
from benchmarks.figures import figures
from benchmarks.measure import ALL_SIGNALS, measure
from benchmarks.precision import part_of, precisions
from benchmarks.tables import ablation_table, set_report
from benchmarks.tune import cases
from memory.capture import capture_bulk
from memory.ranking import Signals
from memory.work import work_jobs
from tests.cast import Cast

SIGNALS = len(Signals.__dataclass_fields__)

QUIET = 60.0
TALKS = {
    "Ann_1": ["My kite is red.", "The regatta begins on Friday.", "I keep bees behind the house."],
    "bob": ["The kiln needs new bricks.", "My sister plays the bassoon.", "Our cellar was flooded in spring."],
}
QUESTIONS = [
    ("Ann_1", "Which colour has the kite?", "0"),
    ("bob", "Who plays the bassoon?", "1"),
    ("bob", "What does the kiln need?", "0"),
]


@pytest.fixture
def data(tmp_path: Path) -> Data:
    folder = tmp_path / "locomo"
    folder.mkdir()
    conversations = [
        {
            "id": name,
            "dataset": "tiny",
            "sessions": [
                {"id": f"s{i}", "date": "2024-05-01", "turns": [{"id": str(i), "role": "user", "text": text}]}
                for i, text in enumerate(texts)
            ],
        }
        for name, texts in TALKS.items()
    ]
    questions = [
        {
            "id": f"q{i}",
            "conversation": conversation,
            "question": text,
            "evidence": [turn],
            "evidence_sessions": [f"s{turn}"],
            "category": "who" if text.startswith("Who") else "what",
        }
        for i, (conversation, text, turn) in enumerate(QUESTIONS)
    ]
    for name, rows in (("conversations", conversations), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    found = read_set(tmp_path, "locomo", every=1, work=tmp_path)
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _no_worker_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it would do is done after each command and each capture."""

    def then_work(verb: Callable[..., Any], **more: Any) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            answer = verb(*arguments, **options, **more)
            work_jobs(QUIET)
            return answer

        return call

    monkeypatch.setattr(brains, "call_command", then_work(call_command, no_wait=True))
    monkeypatch.setattr(brains, "capture_bulk", then_work(capture_bulk))


def test_a_set_in_brains_of_its_own_and_pooled(cast: Cast, data: Data) -> None:
    own = measure(data, pooled=False, every=1, ablate=True)
    pooled = measure(data, pooled=True, every=1)
    single = measure(data, pooled=True, every=1, filing="single")

    for report in (own, pooled, single):
        assert list(report.variants) == ["words only", "vectors only", "exhaustive", "auto"]
        for unit in ("turn", "session"):
            auto = report.variants["auto"].units[unit]
            assert (auto.all.n, auto.all.any_at[1], auto.all.share_at[10]) == (3, 1.0, 1.0)
            assert {name: each.n for name, each in auto.halves.items()} == {"A": 1, "B": 2}
            assert {name: each.n for name, each in auto.categories.items()} == {"what": 2, "who": 1}
        assert report.variants["exhaustive"].routed is None
        assert report.cost.n == 3
        assert report.cost.processor_ms_by_stage.keys() == report.cost.wall_ms_by_stage.keys()
    assert [report.title for report in (own, pooled, single)] == [
        "LoCoMo",
        "LoCoMo pooled",
        "LoCoMo pooled, filed one by one",
    ]
    assert [report.cost.entries for report in (own, pooled, single)] == [3, 6, 6]
    assert len(own.ablation) == 1 + SIGNALS
    assert own.ablation[ALL_SIGNALS].any_at[10] == 1.0

    (row,) = precisions([part_of(pooled)])
    assert (row.n, row.differences["any@10"].mean) == (3, 0.0)
    assert [each.name.partition(":")[0] for each in figures([own, pooled], [row])][:3] == [
        "LoCoMo",
        "LoCoMo",
        "LoCoMo pooled",
    ]
    assert "\n### Without one signal (auto)\n" in set_report(own)
    assert len(ablation_table([own, pooled]).splitlines()) == 3 + SIGNALS


def test_candidates_for_tuning_hold_the_evidence(cast: Cast, data: Data) -> None:
    found = cases(data, brains.fill(data, pooled=False))
    assert [(case.half, case.signals.shape, int(case.gold.sum())) for case in found] == [
        ("A", (3, SIGNALS), 1),
        ("B", (3, SIGNALS), 1),
        ("B", (3, SIGNALS), 1),
    ]
