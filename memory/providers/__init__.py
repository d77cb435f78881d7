"""Embedders: what turns a text into a vector. The one plug point: a local model, or any endpoint that offers one.

Vectors of two embedders are never compared. An embedder that does not answer never stops a capture: the text is kept
and searched by its words, and embedded later.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class EmbedderUnavailable(Exception):
    """The embedder cannot work now; the message says what to do. The same call may succeed later."""


class TooSlow(EmbedderUnavailable):
    """The embedder did not answer in time; it may do fewer texts at once."""


class InvalidVectors(EmbedderUnavailable):
    """The embedder answered with something that is no set of vectors for these texts."""


class Embedder(Protocol):
    """One embedding model. Calls may come from several threads at a time, and take long: never in a transaction."""

    @property
    def name(self) -> str:
        """Names the vector space: two embedders of one name give comparable vectors."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of texts to be found, shape (number of texts, dimensions).

        ValueError for a blank text, EmbedderUnavailable when the model cannot answer.
        """

    def embed_query(self, text: str) -> Vectors:
        """Unit vector of a question, shape (dimensions,). Errors as in `embed`."""


def require_text(texts: Sequence[str]) -> None:
    """ValueError when a text is blank: providers answer it with an error or with a vector close to anything."""
    for position, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {position} to embed is blank")


def unit_vectors(answer: npt.ArrayLike, *, count: int, dimensions: int) -> Vectors:
    """A provider's answer as float32 vectors of length one, shape (count, dimensions).

    InvalidVectors when the answer has another shape, holds a number that is not finite, or a vector of zeros.
    """
    try:
        vectors = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidVectors(f"the embedder's answer is no table of numbers: {error}") from error
    if vectors.size == 0 and count == 0:
        return np.zeros((0, dimensions), dtype=np.float32)
    if vectors.shape != (count, dimensions):
        raise InvalidVectors(f"expected {count} vectors of {dimensions} numbers, got an array of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise InvalidVectors("the embedder's answer holds numbers that are not finite")
    # Scaled first: squares of very large or very small numbers leave the range of a float.
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not largest.all():
        raise InvalidVectors("the embedder's answer holds a vector of zeros")
    vectors = vectors / largest
    units: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return units
