import os
from pathlib import Path

import numpy as np
import pytest

from memory.calibration import calibrate
from memory.embedding import CALIBRATION
from memory.providers import EmbedderUnavailable, Vectors
from memory.providers.local import MODEL_NAME, QUERY_PREFIX, LocalEmbedder
from memory.providers.onnx import OnnxEmbedder
from tests.memory.tiny_model import table, write_model

BUNDLED = Path(os.environ["BRAIN_MODEL_DIR"])


def unit(rows: np.ndarray) -> Vectors:
    units: Vectors = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return units


def test_the_dimensions_are_read_from_the_models_output(tmp_path: Path) -> None:
    write_model(tmp_path, 24)
    embedder = OnnxEmbedder(tmp_path)
    assert embedder.dimensions == 24
    assert embedder.embed([]).shape == (0, 24)
    rows = table(24)
    assert embedder.embed(["cat dog", "tax"]) == pytest.approx(
        unit(np.stack([(rows[1] + rows[2]) / 2, rows[3]])), abs=1e-6
    )


def test_pooling_may_be_the_first_token(tmp_path: Path) -> None:
    write_model(tmp_path, 24)
    first = OnnxEmbedder(tmp_path, pooling="cls")
    assert first.embed(["cat dog"])[0] == pytest.approx(unit(table(24)[1]), abs=1e-6)
    assert first.name != OnnxEmbedder(tmp_path).name


def test_prefixes_stand_before_questions_and_texts(tmp_path: Path) -> None:
    write_model(tmp_path, 24)
    rows = table(24)
    embedder = OnnxEmbedder(tmp_path, pooling="cls", query_prefix="dog ", passage_prefix="tax ")
    assert embedder.embed_query("cat") == pytest.approx(unit(rows[2]), abs=1e-6)
    assert embedder.embed(["cat"])[0] == pytest.approx(unit(rows[3]), abs=1e-6)
    with pytest.raises(ValueError, match=r"^text 0 to embed is blank$"):
        embedder.embed_query(" ")


def test_a_name_belongs_to_the_files_and_to_what_stands_before_texts(tmp_path: Path) -> None:
    for folder, dimensions in (("one", 24), ("other", 16)):
        write_model(tmp_path / folder, dimensions)
    one = OnnxEmbedder(tmp_path / "one")
    assert one.name.startswith("one-mean-")
    names = {
        one.name,
        OnnxEmbedder(tmp_path / "one", query_prefix="query: ").name,
        OnnxEmbedder(tmp_path / "one", passage_prefix="passage: ").name,
        OnnxEmbedder(tmp_path / "other").name,
    }
    assert len(names) == 3  # a question's prefix changes no stored vector


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tmp_path)
    message = f"{tmp_path} holds neither model_quantized.onnx nor model.onnx"
    for attempt in (lambda: embedder.name, lambda: embedder.dimensions, lambda: embedder.embed(["text"])):
        with pytest.raises(EmbedderUnavailable) as caught:
            attempt()
        assert str(caught.value) == message


def test_files_that_are_no_model_are_refused(tmp_path: Path) -> None:
    write_model(tmp_path, 24)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderUnavailable, match=f"^cannot load the model in {tmp_path}: "):
        OnnxEmbedder(tmp_path).embed(["text"])
    write_model(tmp_path, 24)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderUnavailable, match=f"^cannot load the model in {tmp_path}: "):
        OnnxEmbedder(tmp_path).embed(["text"])


def test_a_model_of_pictures_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path, 24, input_name="pixel_values")
    with pytest.raises(EmbedderUnavailable, match="wants other inputs than an encoder of text"):
        OnnxEmbedder(tmp_path).embed(["text"])


def test_the_bundled_model_works_as_any_other_folder() -> None:
    texts = ["The cat sat on the mat.", "Ann: Which day?"]
    same = OnnxEmbedder(BUNDLED, query_prefix=QUERY_PREFIX, threads=2)
    bundled = LocalEmbedder(BUNDLED)
    assert same.dimensions == 384
    assert same.embed(texts) == pytest.approx(bundled.embed(texts), abs=1e-6)
    assert same.embed_query("Which cat?") == pytest.approx(bundled.embed_query("Which cat?"), abs=1e-6)


def test_sentences_of_our_own_find_the_scale_that_conversations_gave_the_bundled_model() -> None:
    assert calibrate(LocalEmbedder(BUNDLED)) == pytest.approx(CALIBRATION[MODEL_NAME], abs=0.03)


def test_a_model_that_tells_nothing_apart_is_not_zoomed(tmp_path: Path) -> None:
    write_model(tmp_path, 24)  # knows none of the words: all vectors are one
    low, high = calibrate(OnnxEmbedder(tmp_path))
    assert high - low == pytest.approx(0.05, abs=1e-3)
    assert low < 1 < high
