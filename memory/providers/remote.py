"""An embedder behind an OpenAI-compatible endpoint: OpenAI itself, Ollama, vLLM, text-embeddings-inference …

Messages of errors hold neither the key nor any text: they are kept with jobs and written to logs. Every call has an
end: a connection, a silence, an answer that drips, and all attempts together.
"""

import json
import os
import random
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NoReturn
from urllib.parse import urlsplit

import numpy as np
import openai

from memory.providers import EmbedderUnavailable, InvalidVectors, TooSlow, Vectors, require_text, unit_vectors

CONNECT_SECONDS = 3.0
QUERY_SECONDS = 5.0  # someone waits; the words alone answer after that
EMBED_SECONDS = 25.0  # all attempts for one batch: less than a job's lease
MOST_ATTEMPTS = 3
BACKOFF_SECONDS = 0.5
QUIET_SECONDS = 10.0  # after a failure that time heals, calls fail at once instead of waiting for the same again
MOST_QUIET_SECONDS = 60.0  # when the endpoint itself says how long
MOST_ANSWER_BYTES = 64 * 2**20
# A text that is refused is tried again shortened to so many characters: it may exceed what the model reads.
SHORTENED_CHARACTERS = (600, 250)
TOO_LONG_STATUSES = {400, 413, 422}
PASSING_STATUSES = {408, 409, 425, 429}
PROBE = "How many numbers does a vector have?"


class _Passing(EmbedderUnavailable):
    """May be over at the next attempt, in `after` seconds if the endpoint said so."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class _Late(_Passing, TooSlow):
    """No answer within the time there was."""


class _Refused(EmbedderUnavailable):
    """The endpoint takes this text for no good one."""


class RemoteEmbedder:
    """`model` at the endpoint with this base URL (it ends in /v1 as a rule).

    dimensions: asked of the endpoint, for models that can shorten their vectors; None takes what it gives.
    stored_dimensions: how many numbers earlier vectors of this name have, None if there are none; asked until the
    first answer.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        dimensions: int | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        stored_dimensions: Callable[[str], int | None] = lambda name: None,
    ) -> None:
        self._url = url
        self._key = key
        self._model = model
        self._asked_dimensions = dimensions
        self._dimensions = dimensions
        self._stored_dimensions = stored_dimensions
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        # Vectors of shortened texts, or of texts that begin otherwise, are another space.
        parts = [
            model,
            *([str(dimensions)] if dimensions else []),
            *([passage_prefix.strip()] if passage_prefix else []),
        ]
        self.name = " ".join(parts)[:200]
        self._host = urlsplit(url).hostname or "its host"
        self._client: openai.OpenAI | None = None
        self._client_pid = 0
        self._quiet_until = 0.0
        self._last_failure = ""

    @property
    def dimensions(self) -> int:
        """Known, or asked of the endpoint. EmbedderUnavailable when it does not answer."""
        return self._expected() or self._vectors([PROBE], time.monotonic() + QUERY_SECONDS, attempts=1).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (number of texts, dimensions); attempts again what may heal, within 25 s in all."""
        require_text(texts)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        prefixed = [self._passage_prefix + text for text in texts]
        return self._vectors(prefixed, time.monotonic() + EMBED_SECONDS, attempts=MOST_ATTEMPTS)

    def embed_query(self, text: str) -> Vectors:
        """Unit vector of a question, shape (dimensions,); one attempt of at most 5 s."""
        require_text([text])
        vector: Vectors = self._vectors([self._query_prefix + text], time.monotonic() + QUERY_SECONDS, attempts=1)[0]
        return vector

    def _expected(self) -> int | None:
        if self._dimensions is None:
            self._dimensions = self._stored_dimensions(self.name)
        return self._dimensions

    def _vectors(self, texts: list[str], deadline: float, *, attempts: int) -> Vectors:
        """Of a refused batch each half alone; of a refused text its beginning."""
        try:
            return self._with_retries(texts, deadline, attempts)
        except _Refused:
            if len(texts) > 1:
                half = len(texts) // 2
                first = self._vectors(texts[:half], deadline, attempts=attempts)
                return np.concatenate([first, self._vectors(texts[half:], deadline, attempts=attempts)])
            for most in SHORTENED_CHARACTERS:
                if len(texts[0]) > most:
                    try:
                        return self._with_retries([texts[0][:most]], deadline, attempts)
                    except _Refused:
                        continue
            raise

    def _with_retries(self, texts: list[str], deadline: float, attempts: int) -> Vectors:
        if time.monotonic() < self._quiet_until:
            raise EmbedderUnavailable(self._last_failure)
        for attempt in range(1, attempts + 1):
            try:
                return self._read(self._ask(texts, deadline), len(texts))
            except _Passing as error:
                wait = error.after
                if wait is None:
                    wait = BACKOFF_SECONDS * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311  (no secret)
                if attempt == attempts or time.monotonic() + wait >= deadline:
                    self._last_failure = str(error)
                    self._quiet_until = time.monotonic() + max(
                        QUIET_SECONDS, min(error.after or 0.0, MOST_QUIET_SECONDS)
                    )
                    raise
                time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, texts: list[str], deadline: float) -> bytes:
        """The answer's body, whatever it holds."""
        left = max(0.1, deadline - time.monotonic())
        body = bytearray()
        more: Any = {"dimensions": self._asked_dimensions} if self._asked_dimensions else {}
        try:
            with self._connected().embeddings.with_streaming_response.create(
                input=texts,
                model=self._model,
                encoding_format="float",
                timeout=openai.Timeout(left, connect=min(left, CONNECT_SECONDS)),
                **more,
            ) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MOST_ANSWER_BYTES:
                        raise InvalidVectors("the embedding endpoint's answer does not end")
                    if time.monotonic() > deadline:
                        raise _Late("the embedding endpoint's answer takes too long")
        except openai.APIStatusError as error:
            self._explain(error)
        except openai.APITimeoutError:
            raise _Late(f"the embedding endpoint at {self._host} does not answer in time") from None
        except openai.APIConnectionError:
            raise _Passing(f"the embedding endpoint at {self._host} cannot be reached") from None
        except EmbedderUnavailable:
            raise
        except Exception as error:  # while the body is read, the client's own transport raises what it likes
            raise _Passing(f"the embedding endpoint's answer broke off ({type(error).__name__})") from None
        return bytes(body)

    def _explain(self, error: openai.APIStatusError) -> NoReturn:
        """Without the endpoint's own words: they may repeat the key or the text."""
        status = error.status_code
        if status in (401, 403):
            raise EmbedderUnavailable(
                f"the embedding endpoint refuses the key ({status}): check BRAIN_EMBED_KEY"
            ) from None
        if status == 404:
            raise EmbedderUnavailable(
                "the embedding endpoint does not know the address or the model (404): check BRAIN_EMBED_URL and "
                "BRAIN_EMBED_MODEL"
            ) from None
        if status in TOO_LONG_STATUSES:
            raise _Refused(f"the embedding endpoint refuses a text or a setting ({status})") from None
        if status in PASSING_STATUSES or status >= 500:
            after = _seconds(error.response.headers.get("retry-after"))
            raise _Passing(f"the embedding endpoint cannot answer now ({status})", after=after) from None
        raise EmbedderUnavailable(f"the embedding endpoint refuses the request ({status})") from None

    def _read(self, body: bytes, count: int) -> Vectors:
        try:
            data = json.loads(body)["data"]
            by_place = {item["index"]: item["embedding"] for item in data}
            rows = [by_place[place] for place in range(len(data))]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InvalidVectors("the embedding endpoint's answer is no list of vectors") from None
        if len(rows) != count:
            raise InvalidVectors(f"the embedding endpoint answered {len(rows)} vectors for {count} texts")
        if any(not isinstance(row, list) for row in rows):
            raise InvalidVectors("the embedding endpoint's answer is no list of vectors")
        dimensions = self._expected() or len(rows[0])
        try:
            vectors = unit_vectors(rows, count=count, dimensions=dimensions)
        except InvalidVectors as error:
            raise InvalidVectors(str(error).split(":", 1)[0]) from None  # what follows may quote the answer
        self._dimensions = dimensions
        return vectors

    def _connected(self) -> openai.OpenAI:
        """This process' client: connections of a parent process are not shared."""
        client = self._client
        if client is None or self._client_pid != os.getpid():
            # A key that is not set must not be looked for elsewhere, the client's own attempts know no end, and texts
            # go to the host that was named and no other.
            client = openai.OpenAI(
                base_url=self._url,
                api_key=self._key or "none",
                max_retries=0,
                http_client=openai.DefaultHttpxClient(follow_redirects=False),
            )
            weakref.finalize(self, client.close)
            self._client, self._client_pid = client, os.getpid()
        return client


def _seconds(value: str | None) -> float | None:
    """Retry-After in seconds; its other form, a date, is not worth a clock's difference."""
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None
