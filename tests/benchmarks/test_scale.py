"""Invented memories, copies of a brain, and how the figures of speed are told; no figure itself is tested."""

import numpy as np
import pytest

from accounts.people import create_organization
from benchmarks import crowd, scale
from benchmarks.scale import Ingest, Milliseconds, Report, Searches, Statement, Stored, main, markdown
from benchmarks.synthetic import invent, questions
from memory.capture import capture
from memory.corpus import forget_all
from memory.recall import recall
from tests.cast import Cast


def searches(installation: int, p50: float) -> Searches:
    wall, floor = Milliseconds(p50, 9.0, 10.0), Milliseconds(0.5, 1.0, 1.0)
    return Searches(1_000, installation, 10, wall, 3.2, None, floor, 80.0, 70.0, 12.0, 1_000_000, 0, {"load": 0.25})


def test_invented_memories_are_the_same_every_time_and_lie_together_by_topic() -> None:
    memories, again = invent(240, 64, seed=3), invent(240, 64, seed=3)
    assert memories.files == again.files
    assert (memories.vectors == again.vectors).all()
    assert len(memories.texts) == len(memories.vectors) == 240
    assert np.allclose(np.linalg.norm(memories.vectors, axis=1), 1, atol=1e-5)
    talk, other = memories.vectors[:20], memories.vectors[120:140]
    assert (talk @ talk.T).mean() > (talk @ other.T).mean()
    (asked, near), *_ = list(questions(memories, 4, seed=5))
    assert asked.startswith("What did I say about ")
    assert (memories.vectors @ near).max() > 0.6


def test_a_copied_brain_is_another_persons_and_can_be_dropped(cast: Cast) -> None:
    organization = create_organization(crowd.ORGANIZATION, slug=crowd.ORGANIZATION)
    someone = crowd.person("someone")
    capture(someone, content="the zorkmid is under the stairs")
    before = crowd.entries_in_installation()
    crowd.copy_brain(someone.readable[0].id, organization.id, 3)
    assert crowd.entries_in_installation() == before + 3
    forget_all()
    assert len(recall(someone, "zorkmid", scope="personal").hits) == 1
    assert recall(cast.ann.actor, "zorkmid", scope="personal").hits == ()
    kept = capture(cast.ann.actor, content="a quagga stays").memory
    crowd.drop()
    assert crowd.entries_in_installation() == 1
    assert [hit.id for hit in recall(cast.ann.actor, "quagga", scope="personal").hits] == [kept.id]


def test_the_report_tells_ratios() -> None:
    report = Report(
        commit="abc",
        python="3.11",
        searches=[searches(10_000, 4.0), searches(100_000, 5.0)],
        ingest=Ingest(2_000, 90.0, (110.0, 90.0), 2, kept_ms=0.5, with_vectors_ms=12.5, embedder_ms=10.0),
        stored=[Stored("everything", 2_048.4)],
        statements=[Statement("SELECT 1", 0.11, 0.1)],
    )
    text = markdown(report)
    assert "A brain of 1,000: p50 at 100,000 is 1.25 times that at 10,000 (1.25 times, each against its floor)." in text
    for cells in (
        ["1,000 of 10,000", "4.00", "9.00", "10.00", "3.20", "–", "0.50", "8.0", "12.0", "80", "1,000", "0"],
        ["kept and found by words", "2,000", "0.50"],
        ["share of the embedder's own", "0.90", "0.80"],
        ["SELECT 1", "0.110", "0.100", "1.10"],
        ["everything", "2,048"],
    ):
        assert cells in [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


@pytest.mark.parametrize("sizes", ["1000", "10000,2000000", "many"])
def test_sizes_that_are_not_measured_are_refused(sizes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", None)
    with pytest.raises(SystemExit):
        main(["--sizes", sizes])
