"""A model of a few hundred bytes in the ONNX format: a table of vectors, one row for each word it knows."""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = ("[UNK]", "cat", "dog", "tax", "the", "zorkmid")


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _tensor_type(name: str, kind: int, axes: list[str | int]) -> bytes:
    shape = b"".join(_bytes(1, _number(1, axis) if isinstance(axis, int) else _bytes(2, axis)) for axis in axes)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def table(dimensions: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(len(WORDS), dimensions)).astype("<f4")


def write_model(folder: Path, dimensions: int, *, file: str = "model.onnx", input_name: str = "input_ids") -> None:
    """ONNX: last_hidden_state = Gather(table, input_ids)."""
    int64, floats = 7, 1
    rows = table(dimensions)
    weights = _number(1, rows.shape[0]) + _number(1, rows.shape[1]) + _number(2, floats)
    weights += _bytes(8, "table") + _bytes(9, rows.tobytes())
    node = _bytes(1, "table") + _bytes(1, input_name) + _bytes(2, "last_hidden_state") + _bytes(4, "Gather")
    graph = _bytes(1, node) + _bytes(2, "tiny") + _bytes(5, weights)
    graph += _bytes(11, _tensor_type(input_name, int64, ["batch", "tokens"]))
    graph += _bytes(12, _tensor_type("last_hidden_state", floats, ["batch", "tokens", "dimensions"]))
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))
    folder.mkdir(exist_ok=True)
    (folder / file).write_bytes(model)
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
