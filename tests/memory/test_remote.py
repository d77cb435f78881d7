import json
import logging
import multiprocessing
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memory.providers import EmbedderUnavailable, InvalidVectors, remote
from memory.providers.remote import RemoteEmbedder
from tests.memory.endpoint import Answer, Endpoint, vector_of, vectors

KEY = "sk-very-secret"
TEXT = "Anna's diary of Tuesday"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    started = Endpoint()
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BACKOFF_SECONDS", 0.01)


def embedder_of(endpoint: Endpoint, **options: Any) -> RemoteEmbedder:
    return RemoteEmbedder(endpoint.url, "m", key=KEY, **options)


def refusal(embedder: RemoteEmbedder, texts: list[str] | None = None) -> EmbedderUnavailable:
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(texts or [TEXT])
    chain = str(caught.value)
    assert KEY not in chain
    assert TEXT not in chain
    return caught.value


def test_an_endpoint_is_asked_with_key_model_and_prefixes(endpoint: Endpoint) -> None:
    embedder = embedder_of(endpoint, query_prefix="query: ", passage_prefix="passage: ")
    found = embedder.embed(["a cat", "a dog"])
    question = embedder.embed_query("which cat")
    expected = np.array([vector_of(text, 8) for text in ("passage: a cat", "passage: a dog")])
    assert found == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)
    assert question.shape == (8,)
    assert endpoint.requests == [
        {"path": "/v1/embeddings", "input": texts, "model": "m", "encoding_format": "float"}
        for texts in (["passage: a cat", "passage: a dog"], ["query: which cat"])
    ]
    assert endpoint.keys == [f"Bearer {KEY}"] * 2
    assert (embedder.name, embedder.dimensions) == ("m passage:", 8)


def test_without_a_key_no_other_key_of_the_environment_is_sent(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-somebody-else")
    RemoteEmbedder(endpoint.url, "m").embed([TEXT])
    assert endpoint.keys == ["Bearer none"]


def test_shorter_vectors_are_asked_for_and_are_another_space(endpoint: Endpoint) -> None:
    embedder = embedder_of(endpoint, dimensions=4)
    assert (embedder.name, embedder.dimensions, embedder.embed([TEXT]).shape) == ("m 4", 4, (1, 4))
    assert [request["dimensions"] for request in endpoint.requests] == [4]


def test_dimensions_are_asked_for_when_nobody_knows_them(endpoint: Endpoint) -> None:
    assert embedder_of(endpoint).dimensions == 8
    assert embedder_of(endpoint, stored_dimensions=lambda name: 5).dimensions == 5
    assert embedder_of(endpoint).embed([]).shape == (0, 8)


def test_blank_texts_are_not_sent(endpoint: Endpoint) -> None:
    with pytest.raises(ValueError, match=r"^text 1 to embed is blank$"):
        embedder_of(endpoint).embed(["text", " "])
    with pytest.raises(ValueError, match=r"^text 0 to embed is blank$"):
        embedder_of(endpoint).embed_query("\n")
    assert endpoint.requests == []


def test_vectors_are_put_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    endpoint.answers = [vectors([[1, 0], [0, 1]], reverse=True)]
    assert embedder_of(endpoint).embed(["a", "b"]).tolist() == [[1, 0], [0, 1]]


NOT_HEALING = [
    (Answer(401), EmbedderUnavailable, "the embedding endpoint refuses the key (401): check BRAIN_EMBED_KEY"),
    (Answer(403), EmbedderUnavailable, "the embedding endpoint refuses the key (403): check BRAIN_EMBED_KEY"),
    (
        Answer(404),
        EmbedderUnavailable,
        "the embedding endpoint does not know the address or the model (404): check BRAIN_EMBED_URL and "
        "BRAIN_EMBED_MODEL",
    ),
    (Answer(402), EmbedderUnavailable, "the embedding endpoint refuses the request (402)"),
    (Answer(400), EmbedderUnavailable, "the embedding endpoint refuses a text or a setting (400)"),
    (Answer(body=b"<html>"), InvalidVectors, "the embedding endpoint's answer is no list of vectors"),
    (Answer(body=b""), InvalidVectors, "the embedding endpoint's answer is no list of vectors"),
    (Answer(body=b"[" * 100_000), InvalidVectors, "the embedding endpoint's answer is no list of vectors"),
    (Answer(body=b'{"data": 3}'), InvalidVectors, "the embedding endpoint's answer is no list of vectors"),
    (Answer(body=b'{"data": [{"index": 0}]}'), InvalidVectors, "the embedding endpoint's answer is no list of vectors"),
    (vectors(["AAAA"]), InvalidVectors, "the embedding endpoint's answer is no list of vectors"),
    (vectors([]), InvalidVectors, "the embedding endpoint answered 0 vectors for 1 texts"),
    (vectors([[1, 0], [0, 1]]), InvalidVectors, "the embedding endpoint answered 2 vectors for 1 texts"),
    (vectors([[1, float("nan")]]), InvalidVectors, "the embedder's answer holds numbers that are not finite"),
    (vectors([[1, float("inf")]]), InvalidVectors, "the embedder's answer holds numbers that are not finite"),
    (vectors([[0, 0]]), InvalidVectors, "the embedder's answer holds a vector of zeros"),
    (vectors([[1, TEXT]]), InvalidVectors, "the embedder's answer is no table of numbers"),
    (vectors([[1, 10**400]]), InvalidVectors, "the embedder's answer is no table of numbers"),
]


@pytest.mark.parametrize(("answer", "kind", "message"), NOT_HEALING)
def test_what_no_second_attempt_heals_is_said_at_once(
    endpoint: Endpoint, answer: Answer, kind: type[EmbedderUnavailable], message: str
) -> None:
    if answer.status >= 400:
        answer.body = json.dumps({"error": {"message": f"bad key {KEY} for {TEXT}"}}).encode()
    endpoint.answers = [answer]
    embedder = embedder_of(endpoint)
    error = refusal(embedder)
    assert isinstance(error, kind)
    assert str(error) == message
    assert len(endpoint.requests) == 1
    assert embedder.embed([TEXT]).shape == (1, 8)  # and the next call works


def test_another_number_of_dimensions_is_refused(endpoint: Endpoint) -> None:
    message = "expected 1 vectors of 5 numbers, got an array of shape (1, 8)"
    assert str(refusal(embedder_of(endpoint, stored_dimensions=lambda name: 5))) == message
    embedder = embedder_of(endpoint)
    embedder.embed([TEXT])
    endpoint.dimensions = 5
    message = "expected 1 vectors of 8 numbers, got an array of shape (1, 5)"
    assert str(refusal(embedder)) == message


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_what_may_heal_is_tried_again(endpoint: Endpoint, status: int) -> None:
    endpoint.answers = [Answer(status, b"busy"), Answer(status, b"busy")]
    assert embedder_of(endpoint).embed([TEXT]).shape == (1, 8)
    assert len(endpoint.requests) == 3


def test_attempts_are_bounded_and_then_it_is_quiet_for_a_while(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.answers = [Answer(500, f"{KEY} {TEXT}".encode()) for _ in range(3)]
    embedder = embedder_of(endpoint)
    assert str(refusal(embedder)) == "the embedding endpoint cannot answer now (500)"
    assert str(refusal(embedder)) == "the embedding endpoint cannot answer now (500)"
    assert len(endpoint.requests) == 3
    embedder._quiet_until = 0.0
    assert embedder.embed([TEXT]).shape == (1, 8)


def test_a_wait_that_the_endpoint_asks_for_is_kept(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("memory.providers.remote.time.sleep", waits.append)
    endpoint.answers = [Answer(429, headers={"Retry-After": "7"}), Answer(429, headers={"Retry-After": "soon"})]
    assert embedder_of(endpoint).embed([TEXT]).shape == (1, 8)
    assert waits[0] == 7
    assert waits[1] < 1


def test_a_wait_past_the_deadline_is_left_to_the_job(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(429, headers={"Retry-After": "3600"})]
    embedder = embedder_of(endpoint)
    assert str(refusal(embedder)) == "the embedding endpoint cannot answer now (429)"
    assert str(refusal(embedder)) == "the embedding endpoint cannot answer now (429)"
    assert len(endpoint.requests) == 1


def test_a_question_is_tried_once(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(500)]
    with pytest.raises(EmbedderUnavailable):
        embedder_of(endpoint).embed_query(TEXT)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(wait_seconds=30.0), "the embedding endpoint at 127.0.0.1 does not answer in time"),
        (Answer(body=b" " * 10_000, drip_seconds=0.05), "the embedding endpoint's answer takes too long"),
        (Answer(body=b"{", headers={"Content-Length": "10"}, wait_seconds=0), None),
    ],
)
def test_an_answer_that_does_not_come_ends(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, answer: Answer, message: str | None
) -> None:
    monkeypatch.setattr(remote, "EMBED_SECONDS", 0.3)
    endpoint.answers = [answer] * 3
    error = refusal(embedder_of(endpoint))
    assert message is None or str(error) == message


def test_texts_follow_no_redirection_to_another_host(endpoint: Endpoint) -> None:
    endpoint.answers = [Answer(307, headers={"Location": endpoint.url.replace("127.0.0.1", "localhost")})]
    assert str(refusal(embedder_of(endpoint))) == "the embedding endpoint refuses the request (307)"
    assert len(endpoint.requests) == 1


def test_an_answer_without_end_is_cut(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_ANSWER_BYTES", 1_000)
    endpoint.answers = [Answer(body=b" " * 2_000)]
    assert str(refusal(embedder_of(endpoint))) == "the embedding endpoint's answer does not end"


def test_a_refused_connection_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    embedder = RemoteEmbedder(f"http://user:{KEY}@127.0.0.1:{port}/v1?key={KEY}", "m", key=KEY)
    assert str(refusal(embedder)) == "the embedding endpoint at 127.0.0.1 cannot be reached"


def test_a_text_that_is_too_long_for_the_model_is_shortened_alone(endpoint: Endpoint) -> None:
    endpoint.refuses = lambda texts: any(len(text) > 500 for text in texts)
    found = embedder_of(endpoint).embed(["short one", "long " * 200, "another"])
    assert found.shape == (3, 8)
    assert [len(request["input"]) for request in endpoint.requests] == [3, 1, 2, 1, 1, 1, 1]
    assert [request["input"][0][:5] for request in endpoint.requests if len(request["input"][0]) == 250] == ["long "]


def test_an_endpoint_that_refuses_everything_is_not_asked_forever(endpoint: Endpoint) -> None:
    endpoint.refuses = lambda texts: True
    error = refusal(embedder_of(endpoint), ["word " * 100] * 64)
    assert str(error) == "the embedding endpoint refuses a text or a setting (400)"
    assert len(endpoint.requests) == 8


def test_a_forked_process_has_connections_of_its_own(endpoint: Endpoint) -> None:
    embedder = embedder_of(endpoint)
    embedder.embed([TEXT])
    context = multiprocessing.get_context("fork")
    shapes = context.SimpleQueue()
    child = context.Process(target=lambda: shapes.put(embedder.embed_query(TEXT).shape))
    child.start()
    child.join(30)
    assert shapes.get() == (8,)
    assert embedder.embed([TEXT]).shape == (1, 8)


def test_logs_hold_neither_key_nor_text(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger().setLevel(logging.DEBUG)
    embedder_of(endpoint).embed([TEXT])
    logging.getLogger().setLevel(logging.WARNING)
    assert KEY not in caplog.text
    assert TEXT not in caplog.text
