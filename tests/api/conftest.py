"""A small client for the REST door: a path below /api/v1/ in, status and JSON out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from tests.cast import Cast

ROOT = "/api/v1/"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str]
    raw: bytes

    @property
    def cause(self) -> tuple[int, str, str | None]:
        """Status, code and attr of the first error."""
        first = self.body["errors"][0]
        return self.status, first["code"], first["attr"]

    @property
    def without_id(self) -> tuple[int, bytes]:
        """Everything that could tell two refusals apart but the request's id."""
        request_id = self.headers["X-Request-ID"].encode()
        return self.status, self.raw.replace(request_id, b"")


class Api:
    """Requests with one key. `raw` bodies go out as they are, others as JSON."""

    def __init__(self, key: str | None = None, client: Client | None = None) -> None:
        self.key = key
        self.client = client or Client(raise_request_exception=False)

    def send(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, kind: str = JSON, **headers: Any
    ) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        own = {"x-brain-key": self.key} if self.key else {}
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        response = self.client.generic(method, ROOT + path, data, content_type=kind, headers={**own, **named})
        content = getattr(response, "content", b"")
        shown = json.loads(content) if content and response["Content-Type"] == JSON else None
        return Answer(response.status_code, shown, response.headers, content)

    def get(self, path: str, **headers: Any) -> Answer:
        return self.send("GET", path, None, **headers)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.send("POST", path, body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.send("PATCH", path, body, **options)

    def delete(self, path: str, **headers: Any) -> Answer:
        return self.send("DELETE", path, None, **headers)

    def upload(self, path: str, data: Mapping[str, Any], **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.client.post(ROOT + path, data, headers={"x-brain-key": self.key or "", **named})
        return Answer(response.status_code, json.loads(response.content), response.headers, response.content)

    def capture(self, content: str, **more: Any) -> Any:
        """The JSON of a new thought."""
        answer = self.post("thoughts/", {"content": content, **more})
        assert answer.status == 201, answer.raw
        return answer.body

    def all_thoughts(self) -> list[str]:
        """What is stored, as far as this key sees: to prove that a refusal stored nothing."""
        return [thought["content"] for thought in self.get("thoughts/?limit=100").body["results"]]


@pytest.fixture
def ann(cast: Cast) -> Api:
    return Api(cast.ann.key)


@pytest.fixture
def bob(cast: Cast) -> Api:
    return Api(cast.bob.key)


@pytest.fixture
def eve(cast: Cast) -> Api:
    return Api(cast.eve.key)


@pytest.fixture
def agent(cast: Cast) -> Callable[[str], Api]:
    """The robot's door of a kind: agent, context or intent."""
    return lambda kind: Api(cast.key_of(kind))
