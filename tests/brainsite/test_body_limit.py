import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest
from django.conf import LazySettings

from brainsite.body_limit import UPLOAD_PATH, BodyLimit, Receive, Scope, Send

Message = MutableMapping[str, Any]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads as Django does: all of the body, or nothing when the caller went away."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def call(path: str, *chunks: bytes, announced: int | None = None) -> tuple[int, bytes]:
    headers = [] if announced is None else [(b"content-length", str(announced).encode())]
    left = [{"type": "http.request", "body": c, "more_body": i < len(chunks) - 1} for i, c in enumerate(chunks)]
    sent: list[Message] = []

    async def receive() -> Message:
        return left.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(BodyLimit(echo)({"type": "http", "path": path, "headers": headers}, receive, send))
    start, body = sent
    return start["status"], body["body"]


@pytest.fixture(autouse=True)
def _small_limits(settings: LazySettings) -> None:
    settings.BODY_BYTES, settings.UPLOAD_BYTES = 10, 20


REFUSED = (413, [{"code": "too_large", "detail": "At most 10 bytes.", "attr": None}])


def test_a_body_within_the_limit_passes_as_it_is() -> None:
    assert call("/api/v1/search/", b"12345", b"67890", announced=10) == (200, b"1234567890")
    assert call("/api/v1/search/", b"12345", b"67890") == (200, b"1234567890")
    assert call(UPLOAD_PATH, b"1234567890", b"1234567890") == (200, b"12345678901234567890")


@pytest.mark.parametrize("announced", [11, None])
def test_a_larger_one_is_refused_before_it_is_read_to_its_end(announced: int | None) -> None:
    status, body = call("/api/v1/search/", b"123456", b"123456", b"never read", announced=announced)
    assert (status, json.loads(body)["errors"]) == REFUSED
