import multiprocessing
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.providers import EmbedderUnavailable, InvalidVectors, Vectors, unit_vectors
from memory.providers.local import LocalEmbedder

TEXTS = ["Ann: Which day?\nBen: Friday", "The cat sat on the mat.", "黒猫です", "word " * 2_000]


@cache
def embedder() -> LocalEmbedder:
    return LocalEmbedder(Path(os.environ["BRAIN_MODEL_DIR"]))


def embed_texts() -> Vectors:
    return embedder().embed(TEXTS)


def test_texts_become_unit_vectors() -> None:
    vectors = embed_texts()
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-6)


def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    alone = np.stack([embedder().embed([text])[0] for text in TEXTS])
    assert embed_texts() == pytest.approx(alone, abs=1e-6)


def test_two_threads_give_the_same_vectors_in_the_same_order() -> None:
    pair = LocalEmbedder(Path(os.environ["BRAIN_MODEL_DIR"]), threads=2)
    assert pair.embed(TEXTS) == pytest.approx(embed_texts(), abs=1e-6)


def test_callers_from_many_threads_share_one_embedder() -> None:
    fresh = LocalEmbedder(Path(os.environ["BRAIN_MODEL_DIR"]))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(fresh.embed, [TEXTS] * 4))
    assert np.stack(answers) == pytest.approx(np.stack([embed_texts()] * 4), abs=1e-6)


def test_a_forked_process_embeds_although_its_parent_did() -> None:
    expected = embed_texts()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        answer = pool.apply_async(embed_texts).get(timeout=60)
    assert answer == pytest.approx(expected, abs=1e-6)


def test_a_question_is_closest_to_its_answer() -> None:
    scores = embedder().embed(TEXTS) @ embedder().embed_query("Where did the cat sit?")
    assert int(scores.argmax()) == 1


def test_no_texts_give_no_vectors() -> None:
    assert embedder().embed([]).shape == (0, 384)


def test_blank_texts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^text 1 to embed is blank$"):
        embedder().embed(["text", " \n"])
    with pytest.raises(ValueError, match=r"^text 0 to embed is blank$"):
        embedder().embed_query("")


def test_without_its_files_the_embedder_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable) as caught:
        LocalEmbedder(tmp_path).embed(["text"])
    path = tmp_path / "model_quantized.onnx"
    assert str(caught.value) == f"cannot read {path} (No such file or directory): run `make setup`"


@pytest.mark.parametrize("damaged", ["model_quantized.onnx", "tokenizer.json"])
def test_a_damaged_file_is_not_used(tmp_path: Path, damaged: str) -> None:
    for file in ("model_quantized.onnx", "tokenizer.json"):
        shutil.copy(Path(os.environ["BRAIN_MODEL_DIR"]) / file, tmp_path)
    with (tmp_path / damaged).open("r+b") as file_to_damage:
        file_to_damage.seek(100_000)
        file_to_damage.write(b"damage")
    with pytest.raises(EmbedderUnavailable) as caught:
        LocalEmbedder(tmp_path).embed(["text"])
    assert str(caught.value) == f"{tmp_path / damaged} is damaged or another version: run `make setup`"


def test_after_setup_the_same_embedder_works(tmp_path: Path) -> None:
    late = LocalEmbedder(tmp_path)
    with pytest.raises(EmbedderUnavailable):
        late.embed(["text"])
    for file in ("model_quantized.onnx", "tokenizer.json"):
        shutil.copy(Path(os.environ["BRAIN_MODEL_DIR"]) / file, tmp_path)
    assert late.embed(TEXTS) == pytest.approx(embed_texts(), abs=1e-6)


# -- what any provider answers


def test_answers_are_scaled_to_length_one() -> None:
    vectors = unit_vectors([[3.0, 4.0], [0.0, -1e300], [1e-300, 0.0]], count=3, dimensions=2)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0, -1], [1, 0]]), abs=1e-6)
    assert unit_vectors([], count=0, dimensions=2).shape == (0, 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1, 0]], "expected 2 vectors of 2 numbers, got an array of shape (1, 2)"),
        ([[1, 0, 0], [1, 0, 0]], "expected 2 vectors of 2 numbers, got an array of shape (2, 3)"),
        ([], "expected 2 vectors of 2 numbers, got an array of shape (0,)"),
        ([[1, 0], [float("nan"), 0]], "the embedder's answer holds numbers that are not finite"),
        ([[1, 0], [float("inf"), 0]], "the embedder's answer holds numbers that are not finite"),
        ([[1, 0], [0, 0]], "the embedder's answer holds a vector of zeros"),
        (
            [[1, 0], ["x", 0]],
            "the embedder's answer is no table of numbers: could not convert string to float: 'x'",
        ),
    ],
)
def test_an_answer_that_is_no_set_of_vectors_is_refused(answer: Any, message: str) -> None:
    with pytest.raises(InvalidVectors) as caught:
        unit_vectors(answer, count=2, dimensions=2)
    assert str(caught.value) == message
