import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainsite.supervisor.postgres import EmbeddedPostgres
from brainsite.supervisor.valkey import EmbeddedValkey


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """A data folder for the tests of one file, with a space in its path. Not tmp_path: that one is closed to the
    database's own user."""
    folder = Path(tempfile.mkdtemp(prefix="brain data "))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def postgres(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    """Not started; `start` on one that runs starts it again."""
    server = EmbeddedPostgres(data_dir, password="pass/word@1")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def valkey(data_dir: Path) -> Iterator[EmbeddedValkey]:
    server = EmbeddedValkey(data_dir, password="pass_word-1")
    yield server
    server.stop()
