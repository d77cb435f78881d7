"""An embedder from a folder: `model.onnx` or `model_quantized.onnx` with its `tokenizer.json`. No network, no key.

Any encoder whose output is one vector per token or one per text will do: BERT, XLM-RoBERTa (multilingual-e5, bge-m3) …
"""

import hashlib
import os
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memory.providers import EmbedderUnavailable, Vectors, require_text, unit_vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL_FILES = ("model_quantized.onnx", "model.onnx")
TOKENIZER_FILE = "tokenizer.json"
MOST_TOKENS = 512
# 512 tokens are some 2,300 characters of prose; splitting the rest of a book into tokens would be for nothing.
MOST_CHARS = 10_000
TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings", "hidden_states")
NUMBER_TYPES: dict[str, type[np.signedinteger[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclass(frozen=True, slots=True)
class _Model:
    session: Any
    run_options: Any
    tokenizer: "Tokenizer"
    output: str
    input_types: dict[str, type[np.signedinteger[Any]]]


class OnnxEmbedder:
    """The model in `folder`, loaded on first use.

    threads: how many texts are embedded at a time. Each text is one run on one thread: the 8-bit vectors of a batch
    depend on its other texts, and two runs side by side are faster than one run on two threads (270 against 210 texts
    per second). pooling: cls or mean, of a model that answers with a vector for each token. The prefixes stand before
    every question and every text to be found, as the model was trained.
    """

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = 1,
        pooling: str = "mean",
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self._folder = folder
        self._threads = threads
        self._pooling = pooling
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._lock = threading.Lock()
        self._model: _Model | None = None
        self._name = ""
        self._dimensions = 0
        _embedders.add(self)

    @property
    def name(self) -> str:
        """Of the folder, the files' contents, and what else the vectors depend on. EmbedderUnavailable: no files."""
        if not self._name:
            digest = hashlib.sha256(self._passage_prefix.encode())
            for path in (self._model_file(), self._folder / TOKENIZER_FILE):
                digest.update(sha256_of(path).encode())
            self._name = f"{self._folder.name[:100]}-{self._pooling}-{digest.hexdigest()[:12]}"
        return self._name

    @property
    def dimensions(self) -> int:
        """As the model answers. EmbedderUnavailable: no files, or no such model."""
        if not self._dimensions:
            self._dimensions = self._run(self._loaded(), "dimensions").shape[0]
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (number of texts, dimensions).

        ValueError: a blank text; EmbedderUnavailable: no model files, or none that works.
        """
        return self._embed(texts, self._passage_prefix)

    def embed_query(self, text: str) -> Vectors:
        """Unit vector of a question, shape (dimensions,); errors as in `embed`."""
        vector: Vectors = self._embed([text], self._query_prefix)[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        require_text(texts)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        model = self._loaded()
        if self._threads == 1 or len(texts) == 1:
            answers = [self._run(model, prefix + text) for text in texts]
        else:
            with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
                answers = list(pool.map(lambda text: self._run(model, prefix + text), texts))
        return unit_vectors(np.stack(answers), count=len(texts), dimensions=self.dimensions)

    def _run(self, model: _Model, text: str) -> Vectors:
        ids = model.tokenizer.encode(text[:MOST_CHARS]).ids
        values = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": [0] * len(ids)}
        inputs = {name: np.array([values[name]], dtype) for name, dtype in model.input_types.items()}
        try:
            (answer,) = model.session.run([model.output], inputs, model.run_options)
        except Exception as error:  # the library's errors have no common class; their messages may hold values
            raise EmbedderUnavailable(f"the model in {self._folder} fails: {type(error).__name__}") from error
        # One vector for each token, shape (1, tokens, dimensions), or one for the text, (1, dimensions).
        states: Vectors = answer[0]
        if states.ndim == 1:
            return states
        pooled: Vectors = states[0] if self._pooling == "cls" else states.mean(axis=0)
        return pooled

    def _loaded(self) -> _Model:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> _Model:
        self._verify()
        # Imported here: the libraries take 30 MB, and most processes (commands, the scheduler) never embed.
        onnxruntime: Any = import_module("onnxruntime")
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        # The calling thread does the work: no threads of the library's own that a fork would lose or that spin while
        # idle.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        run_options = onnxruntime.RunOptions()
        # Gives the memory of a long text back after the run: 50 MB less for good, at no loss of speed.
        run_options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        try:
            session = onnxruntime.InferenceSession(self._model_file(), options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER_FILE))
        except EmbedderUnavailable:
            raise
        except Exception as error:  # neither library has a class for "no such file of mine"
            raise EmbedderUnavailable(f"cannot load the model in {self._folder}: {type(error).__name__}") from error
        limit = tokenizer.truncation["max_length"] if tokenizer.truncation else MOST_TOKENS
        tokenizer.enable_truncation(min(limit, MOST_TOKENS))
        tokenizer.no_padding()
        input_types = {one.name: NUMBER_TYPES.get(one.type) for one in session.get_inputs()}
        if not input_types.keys() <= {"input_ids", "attention_mask", "token_type_ids"} or None in input_types.values():
            raise EmbedderUnavailable(f"the model in {self._folder} wants other inputs than an encoder of text")
        outputs = [one.name for one in session.get_outputs()]
        output = next((name for name in TOKEN_OUTPUTS if name in outputs), outputs[0])
        known = {name: dtype for name, dtype in input_types.items() if dtype is not None}
        return _Model(session, run_options, tokenizer, output, known)

    def _model_file(self) -> Path:
        for file in MODEL_FILES:
            if (self._folder / file).exists():
                return self._folder / file
        raise EmbedderUnavailable(f"{self._folder} holds neither {MODEL_FILES[0]} nor {MODEL_FILES[1]}")

    def _verify(self) -> None:
        """Before loading. EmbedderUnavailable when the files are not what they should be."""

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._model = None


# A child process must not wait for a lock that a thread of its parent held, nor run a model whose state was copied
# halfway: it loads its own.
_embedders: "weakref.WeakSet[OnnxEmbedder]" = weakref.WeakSet()


def _forget_after_fork() -> None:
    for embedder in _embedders:
        embedder._forget()


os.register_at_fork(after_in_child=_forget_after_fork)


def sha256_of(path: Path) -> str:
    """EmbedderUnavailable when the file cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"cannot read {path} ({error.strerror})") from error
