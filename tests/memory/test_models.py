"""A brain with another embedding model than the bundled one: capture, search, a provider that is down, re-embedding."""

import io
import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from memory import embedding
from memory.calibration import calibrate
from memory.capture import capture, capture_bulk
from memory.embedding import BATCH_PIECES, NO_MODEL, STANDARD, current_model
from memory.erase import trash
from memory.models import EmbeddingModel, Job, RagEmbedding, RecallFile
from memory.providers import Vectors, remote
from memory.providers.local import LocalEmbedder
from memory.providers.remote import RemoteEmbedder
from memory.recall import recall
from memory.reembed import embedding_jobs_left, reembed
from memory.stats import thought_stats
from memory.work import work_jobs
from tests.cast import Cast
from tests.memory.endpoint import Answer, Endpoint
from tests.memory.test_capture import thought
from tests.memory.tiny_model import write_model

QUIET = 30.0


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    started = Endpoint()
    yield started
    started.stop()


@pytest.fixture
def other_model(settings: LazySettings) -> Iterator[LazySettings]:
    """Settings may name another model from here on; after the test this process has its own again."""
    embedding.embedder.cache_clear()
    yield settings
    embedding.embedder.cache_clear()


def choose(settings: LazySettings, endpoint: Endpoint | None = None, folder: Path | None = None) -> None:
    """As a restart with other settings would."""
    settings.EMBED_URL, settings.EMBED_MODEL = (endpoint.url, "m") if endpoint else (None, None)
    settings.EMBED_DIR = folder
    embedding.embedder.cache_clear()
    embedding.forget_model()


def models_used(cast: Cast) -> set[str]:
    with cast.ann.actor.session() as actor:
        return set(RagEmbedding.objects.visible_to(actor).values_list("embedding_model__name", flat=True))


def test_a_folder_of_other_dimensions_serves_a_brain(cast: Cast, other_model: LazySettings, tmp_path: Path) -> None:
    write_model(tmp_path / "tiny", 24)
    choose(other_model, folder=tmp_path / "tiny")
    memory = capture(cast.ann.actor, content="the cat").memory
    capture(cast.ann.actor, content="the tax")
    work_jobs(QUIET)
    answer = recall(cast.ann.actor, "cat")
    assert (answer.hits[0].id, answer.trace.not_used) == (memory.id, ())
    assert answer.hits[0].similarity is not None
    row = EmbeddingModel.objects.get()
    assert (row.name, row.dimensions) == (embedding.embedder().name, 24)
    assert sorted(row.calibration) == ["high", "low"]


def test_an_endpoint_serves_a_brain(cast: Cast, other_model: LazySettings, endpoint: Endpoint) -> None:
    choose(other_model, endpoint)
    memory = capture(cast.ann.actor, content="one zorkmid under one stair").memory
    work_jobs(QUIET)
    answer = recall(cast.ann.actor, "zorkmid stair")
    assert ([hit.id for hit in answer.hits], answer.trace.not_used) == ([memory.id], ())
    assert answer.hits[0].similarity is not None
    assert EmbeddingModel.objects.get().dimensions == 8


def test_while_the_endpoint_is_down_memories_are_kept_and_words_find_them(
    cast: Cast, other_model: LazySettings, endpoint: Endpoint
) -> None:
    choose(other_model, endpoint)
    endpoint.answers = [Answer(503) for _ in range(100)]
    memory = capture(cast.ann.actor, content="the zorkmid").memory
    assert work_jobs(QUIET) == 1
    assert current_model() == NO_MODEL
    answer = recall(cast.ann.actor, "zorkmid")
    assert [hit.id for hit in answer.hits] == [memory.id]
    assert answer.trace.not_used == ("vectors: the embedder does not answer",)
    with cast.ann.actor.session() as actor:
        jobs = list(Job.objects.visible_to(actor).values_list("state", "attempts", "error"))
    assert jobs == [("pending", 0, "the embedding endpoint cannot answer now (503)")]
    assert len(endpoint.requests) <= 6  # nobody waits again and again for what is down


def test_an_endpoint_that_hangs_delays_one_search_and_not_the_next(
    cast: Cast, other_model: LazySettings, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "QUERY_SECONDS", 0.3)
    choose(other_model, endpoint)
    memory = capture(cast.ann.actor, content="the zorkmid").memory
    endpoint.answers = [Answer(wait_seconds=30.0) for _ in range(3)]
    for _ in range(3):
        answer = recall(cast.ann.actor, "zorkmid")
        assert [hit.id for hit in answer.hits] == [memory.id]
        assert answer.trace.not_used == ("vectors: the embedder does not answer",)
    assert len(endpoint.requests) == 1


def test_a_provider_that_fails_later_stops_nothing(cast: Cast, other_model: LazySettings, endpoint: Endpoint) -> None:
    choose(other_model, endpoint)
    first = capture(cast.ann.actor, content="the first zorkmid").memory
    work_jobs(QUIET)
    endpoint.answers = [Answer(401), Answer(401)]
    second = capture(cast.ann.actor, content="the second zorkmid").memory
    work_jobs(QUIET)
    answer = recall(cast.ann.actor, "zorkmid")
    assert {hit.id for hit in answer.hits} == {first.id, second.id}
    assert answer.trace.not_used == ("vectors: the embedder does not answer",)


def test_an_endpoint_too_slow_for_a_batch_gets_smaller_ones_until_it_is_done(
    cast: Cast, other_model: LazySettings, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "EMBED_SECONDS", 0.5)
    monkeypatch.setattr(remote, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr("memory.jobs.POSTPONED", timedelta(0))
    monkeypatch.setattr(embedding, "QUICK_SECONDS", 0.0)
    choose(other_model, endpoint)
    endpoint.hangs = lambda texts: len(texts) > 20
    capture(cast.ann.actor, content="The zorkmid lies under the stair. " * 2_000)
    work_jobs(QUIET)
    sizes = [len(request["input"]) for request in endpoint.requests if "zorkmid" in request["input"][0]]
    assert sizes == [BATCH_PIECES, 32, 16, 16, 16, 16, 13]
    assert recall(cast.ann.actor, "zorkmid").trace.not_used == ()
    assert max(len(text) for request in endpoint.requests for text in request["input"]) <= 1_200
    monkeypatch.setattr(embedding, "QUICK_SECONDS", 60.0)  # it has become quick: as many as at first again
    endpoint.hangs = lambda texts: False
    endpoint.requests.clear()
    capture(cast.ann.actor, content="The zorkmid is under the stair. " * 5_000)
    work_jobs(QUIET)
    assert [len(request["input"]) for request in endpoint.requests][:4] == [16, 32, 64, 64]


def test_an_endpoint_that_serves_other_dimensions_later_is_not_mixed_in(
    cast: Cast, other_model: LazySettings, endpoint: Endpoint
) -> None:
    choose(other_model, endpoint)
    capture(cast.ann.actor, content="the first zorkmid")
    work_jobs(QUIET)
    choose(other_model, endpoint)
    endpoint.dimensions = 5
    capture(cast.ann.actor, content="the second zorkmid")
    work_jobs(QUIET)
    answer = recall(cast.ann.actor, "zorkmid")
    assert (len(answer.hits), answer.trace.not_used) == (2, ("vectors: the embedder does not answer",))
    assert [hit.similarity for hit in answer.hits] == [None, None]


def test_an_unknown_model_is_measured_once(cast: Cast, other_model: LazySettings, endpoint: Endpoint) -> None:
    choose(other_model, endpoint)
    capture(cast.ann.actor, content="the first zorkmid")
    work_jobs(QUIET)
    asked = len(endpoint.requests)
    embedding.forget_model()
    capture(cast.ann.actor, content="the second zorkmid")
    work_jobs(QUIET)
    assert len(endpoint.requests) == asked + 1
    row = EmbeddingModel.objects.get()
    assert (current_model().low, current_model().high) == (row.calibration["low"], row.calibration["high"])


def test_reembed_gives_every_live_memory_vectors_of_the_new_model(
    cast: Cast, other_model: LazySettings, endpoint: Endpoint, tmp_path: Path
) -> None:
    actor = cast.ann.actor
    write_model(tmp_path / "tiny", 24)
    choose(other_model, folder=tmp_path / "tiny")
    capture_bulk(actor, scope="personal", files=[thought(f"zorkmid {n}") for n in range(3)])
    capture(cast.bob.actor, content="the zorkmid of Bob", scope="corporate")
    trashed = capture(actor, content="the zorkmid in the bin").memory
    work_jobs(QUIET)
    old = embedding.embedder().name
    trash(actor, str(trashed.id))
    assert list(reembed()) == []  # nothing lacks anything

    assert recall(actor, "zorkmid").trace.not_used == ()

    choose(other_model, endpoint)
    answer = recall(actor, "zorkmid")  # words go on, and nothing of another space is compared
    assert (len(answer.hits), {hit.similarity for hit in answer.hits}) == (4, {None})
    assert answer.trace.not_used == ("vectors: the embedding model has read 0 of 4 entries so far",)
    asked = list(reembed())
    assert sorted((str(a.brain.scope), a.count) for a in asked) == [("corporate", 1), ("personal", 3)]
    assert embedding_jobs_left() == 4
    assert thought_stats(actor).pending == 4
    assert sum(a.count for a in reembed()) == 4  # stopped and started again: still lacking …
    assert embedding_jobs_left() == 4  # … and asked for once
    work_jobs(QUIET)
    assert (list(reembed()), embedding_jobs_left()) == ([], 0)
    assert thought_stats(actor).pending == 0
    assert models_used(cast) == {old, "m"}
    assert None not in {hit.similarity for hit in recall(actor, "zorkmid").hits}
    with actor.session():
        live = RecallFile.objects.visible_to(actor).filter(state="live")
        assert set(live.values_list("embedding_state", flat=True)) == {"embedded"}


def test_reembed_prints_its_progress(cast: Cast, other_model: LazySettings, endpoint: Endpoint) -> None:
    capture(cast.ann.actor, content="the zorkmid")
    work_jobs(QUIET)
    choose(other_model, endpoint)
    stream = io.StringIO()
    call_command("reembed", no_wait=True, stdout=stream)
    (brain,) = cast.ann.actor.brains_to_read("personal")
    assert stream.getvalue() == (
        f"personal brain {brain.id}: 1 memories to embed\n1 memories in 1 brains had no vectors of this model\n"
    )
    work_jobs(QUIET)
    stream = io.StringIO()
    call_command("reembed", stdout=stream)
    assert stream.getvalue() == "0 memories in 0 brains had no vectors of this model\n"


def test_reembed_says_when_the_model_does_not_work(cast: Cast, other_model: LazySettings, endpoint: Endpoint) -> None:
    choose(other_model, endpoint)
    endpoint.answers = [Answer(401)]
    message = "The embedding model does not work: the embedding endpoint refuses the key (401): check BRAIN_EMBED_KEY"
    with pytest.raises(CommandError) as refused:
        call_command("reembed", stdout=io.StringIO())
    assert str(refused.value) == message


class Squeezed:
    """The bundled model with all its cosines between 0.6 and 1, as some models have them."""

    name = "squeezed"
    dimensions = 385

    def __init__(self) -> None:
        self.bundled = LocalEmbedder(Path(os.environ["BRAIN_MODEL_DIR"]))

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._squeezed(vector) for vector in self.bundled.embed(texts)])

    def embed_query(self, text: str) -> Vectors:
        return self._squeezed(self.bundled.embed_query(text))

    def _squeezed(self, vector: Vectors) -> Vectors:
        return np.append(vector * np.sqrt(0.4), np.sqrt(0.6)).astype(np.float32)


SQUEEZED = (0.6 + 0.4 * STANDARD[0], 0.6 + 0.4 * STANDARD[1])
KEPT = (
    "The man who repairs our pipes comes on Friday.",
    "Mia loves noodles with pesto.",
    "We settled on Postgres for the new service.",
    "Rex turned seven last week.",
    "In August we went to a cabin in Norway.",
    "The launch was pushed to March.",
    "Ben cannot have peanuts.",
    "The landlord wants more for the flat.",
)
ASKED = ("When will the plumber be here?", "Which database do we use?", "What is Ben allergic to?", "the rent")


def test_a_model_with_another_scale_gives_the_same_answers_and_similarities(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers() -> list[list[tuple[str, float | None]]]:
        found = [recall(cast.ann.actor, query).hits for query in ASKED]
        return [[(hit.text, hit.similarity) for hit in hits] for hits in found]

    capture_bulk(cast.ann.actor, scope="personal", files=[thought(text) for text in KEPT])
    work_jobs(QUIET)
    expected = answers()
    squeezed = Squeezed()
    monkeypatch.setattr(embedding, "embedder", lambda: squeezed)
    monkeypatch.setattr("memory.question.embedder", lambda: squeezed)
    monkeypatch.setitem(embedding.CALIBRATION, "squeezed", SQUEEZED)
    assert sum(asked.count for asked in reembed()) == len(KEPT)
    work_jobs(QUIET)
    found = answers()
    assert [[text for text, _ in hits] for hits in found] == [[text for text, _ in hits] for hits in expected]
    for hits, same in zip(found, expected, strict=True):
        assert [similarity for _, similarity in hits] == pytest.approx([each for _, each in same], abs=0.005)
    assert 0 < sum(map(len, expected)) < len(ASKED) * len(KEPT)  # the threshold cuts some
    assert calibrate(squeezed) == pytest.approx(SQUEEZED, abs=0.4 * 0.03)


def test_the_settings_choose_the_embedder(other_model: LazySettings, endpoint: Endpoint) -> None:
    choose(other_model, endpoint)
    assert isinstance(embedding.embedder(), RemoteEmbedder)
