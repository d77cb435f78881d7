"""A real HTTP server that answers like an OpenAI-compatible endpoint, or as badly as a test wants."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


@dataclass
class Answer:
    """What the server does with one request. `drip_seconds`: pause after each of the body's first bytes."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    wait_seconds: float = 0.0
    drip_seconds: float = 0.0


def vector_of(text: str, dimensions: int) -> list[float]:
    """Counts of words, by the sum of their letters: texts that share words are near each other."""
    row = np.full(dimensions, 0.01)
    for word in text.lower().split():
        row[sum(map(ord, word)) % dimensions] += 1
    return [float(number) for number in row]


class Endpoint:
    """`answers` are given in order, each once; after them every request is answered as it should be."""

    def __init__(self) -> None:
        self.dimensions = 8
        self.answers: list[Answer] = []
        self.refuses: Callable[[list[str]], bool] = lambda texts: False
        self.hangs: Callable[[list[str]], bool] = lambda texts: False
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append({"path": self.path, **body})
                endpoint.keys.append(self.headers["Authorization"])
                answer = endpoint.answers.pop(0) if endpoint.answers else endpoint.good(body)
                endpoint.released.wait(answer.wait_seconds)
                try:
                    self._send(answer)
                except OSError:  # the client has gone: that is what some tests want
                    self.close_connection = True

            def _send(self, answer: Answer) -> None:
                body = answer.body or b""
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(body)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for at in range(len(body) if answer.drip_seconds else 0):
                    self.wfile.write(body[at : at + 1])
                    time.sleep(answer.drip_seconds)
                self.wfile.write(b"" if answer.drip_seconds else body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def good(self, body: dict[str, Any]) -> Answer:
        texts = body["input"]
        if self.refuses(texts):
            return Answer(400, b'{"error": {"message": "too long: ' + texts[0][:20].encode() + b'"}}')
        dimensions = body.get("dimensions", self.dimensions)
        answer = vectors([vector_of(text, dimensions) for text in texts])
        answer.wait_seconds = 30.0 * self.hangs(texts)
        return answer

    def stop(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def vectors(rows: list[Any], *, reverse: bool = False) -> Answer:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    body = json.dumps({"object": "list", "data": data[::-1] if reverse else data, "model": "m"})
    return Answer(body=body.encode(), headers={"Content-Type": "application/json"})
