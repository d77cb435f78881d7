from threading import Event
from typing import Any

import pytest
from celery import current_app

from memory import doorbell
from memory.capture import capture
from memory.recall import recall
from tests.cast import Cast

PATIENCE_SECONDS = 10.0


@pytest.fixture(autouse=True)
def _new_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbell, "_bell", None)


def test_a_broker_that_does_not_answer_delays_no_capture(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    rung, answers = Event(), Event()
    tasks: list[str] = []

    def hang(name: str, **options: Any) -> None:
        tasks.append(name)
        rung.set()
        answers.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(current_app, "send_task", hang)
    kept = [capture(cast.ann.actor, content=f"zorkmid {n}").memory.id for n in range(3)]
    assert rung.wait(PATIENCE_SECONDS)
    assert len(recall(cast.ann.actor, "zorkmid").hits) == len(kept)
    assert tasks == ["brain.work"]  # still ringing; the later two will be one ring
    answers.set()


def test_a_ring_that_fails_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    rung = Event()

    def fail(name: str, **options: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(doorbell, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(current_app, "send_task", fail)
    doorbell.ring()
    bell = doorbell._bell
    assert bell is not None
    assert bell.idle.wait(PATIENCE_SECONDS)
    monkeypatch.setattr(current_app, "send_task", lambda name, **options: rung.set())
    doorbell.ring()
    assert rung.wait(PATIENCE_SECONDS)
