from pathlib import Path

import pytest

from brainsite.environment import read_environment
from brainsite.supervisor.run import Supervisor


def test_commands_get_to_know_a_key_that_a_file_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("sk-of-a-file\n")
    monkeypatch.setenv("BRAIN_EMBED_KEY_FILE", str(tmp_path / "key"))
    supervisor = Supervisor(tmp_path, read_environment())
    shared = supervisor.variables("postgresql://brain@localhost/brain", "redis://localhost")
    assert supervisor.runtime(shared)["BRAIN_EMBED_KEY"] == "sk-of-a-file"
