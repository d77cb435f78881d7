"""Arrays that the corpus is made of: ones that grow, and sketches of vectors."""

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from memory.ranking import Floats

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


class Growing(Generic[Scalar]):
    """An array that grows at its end without copying itself each time."""

    def __init__(self, dtype: type[Scalar], width: int | None = None) -> None:
        self._values: npt.NDArray[Scalar] = np.zeros((64, width) if width else 64, dtype=dtype)
        self.size = 0

    @property
    def values(self) -> npt.NDArray[Scalar]:
        return self._values[: self.size]

    @property
    def nbytes(self) -> int:
        return int(self._values.nbytes)

    def extend(self, more: npt.ArrayLike) -> None:
        added = np.asarray(more, dtype=self._values.dtype)
        need = self.size + len(added)
        if need > len(self._values):
            bigger = np.zeros((max(need, 2 * len(self._values)), *self._values.shape[1:]), dtype=self._values.dtype)
            bigger[: self.size] = self.values
            self._values = bigger
        self._values[self.size : need] = added
        self.size = need


class Sketches:
    """One bit a dimension of every vector: on which side of the brain's mean it lies. 48 bytes for 384 dimensions.

    Differences of bits order vectors nearly as cosines do, so candidates are found without reading any vector.
    """

    def __init__(self, dimensions: int) -> None:
        self.words = -(-dimensions // 64)
        self.bits = Growing(np.uint64, self.words)
        self.mean: Floats = np.zeros(dimensions, np.float32)
        self.made_for = 0
        self.stale: set[int] = set()

    @property
    def used_bytes(self) -> int:
        return self.bits.size * self.words * 8

    def forget(self, piece: int) -> None:
        self.stale.add(piece)

    def distances(self, query: Floats, vectors: Growing[np.float32], known: Growing[np.bool_]) -> Ints:
        """Differing bits of every piece, shape (pieces,); meaningless where no vector is known."""
        self._catch_up(vectors.values, known.values)
        differing = np.bitwise_count(self.bits.values ^ self._sketch(query[None])[0])
        total: Ints = differing.sum(axis=1, dtype=np.int64)
        return total

    def _catch_up(self, vectors: Floats, known: Bools) -> None:
        self.bits.extend(np.zeros((len(vectors) - self.bits.size, self.words), np.uint64))
        count = int(known.sum())
        if count > 2 * self.made_for:  # the mean of a growing brain settles soon
            self.mean = vectors[known].mean(axis=0)
            self.made_for, self.stale = count, set(np.flatnonzero(known).tolist())
        if self.stale:
            pieces = np.fromiter(self.stale, np.int64)
            self.bits.values[pieces] = self._sketch(vectors[pieces])
            self.stale.clear()

    def _sketch(self, vectors: Floats) -> npt.NDArray[np.uint64]:
        bits = np.packbits(vectors > self.mean, axis=1)
        padded = np.zeros((len(vectors), self.words * 8), np.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(np.uint64)
