import os
import stat
import tempfile
from pathlib import Path

import pytest

from brainsite.supervisor.account import own_account, service_account
from brainsite.supervisor.errors import StartError
from brainsite.supervisor.folders import make_data_folder, write_private
from brainsite.supervisor.postgres import EmbeddedPostgres
from brainsite.supervisor.valkey import EmbeddedValkey


def test_nothing_in_the_data_folder_is_open_to_others(
    data_dir: Path, postgres: EmbeddedPostgres, valkey: EmbeddedValkey
) -> None:
    postgres.start()
    valkey.start()
    write_private(data_dir / "secrets.json", "{}")
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in data_dir.rglob("*") if not path.is_symlink()}
    assert [path for path, mode in modes.items() if mode & 0o077] == []
    may_pass_through = 0 if postgres.account.is_self else 0o010
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700 | may_pass_through


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    before = tmp_path.stat().st_mode
    with pytest.raises(StartError, match="holds other files"):
        make_data_folder(tmp_path, own_account())
    assert tmp_path.stat().st_mode == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match="cannot be used: Not a directory"):
        make_data_folder(tmp_path / "file" / "brain", own_account())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has the servers run as another user")
def test_root_is_told_which_folder_is_closed_and_it_stays_closed() -> None:
    with tempfile.TemporaryDirectory() as home:  # 0700
        with pytest.raises(StartError, match=f"may not enter {home}.\n") as refused:
            make_data_folder(Path(home) / "brain", service_account())
        assert "BRAIN_DATA_DIR" in str(refused.value)
        assert (stat.S_IMODE(Path(home).stat().st_mode), list(Path(home).iterdir())) == (0o700, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has the servers run as another user")
def test_root_makes_what_is_missing_so_that_the_servers_pass_through() -> None:
    with tempfile.TemporaryDirectory() as name:
        above, folder = Path(name) / "above", Path(name) / "above" / "brain"
        Path(name).chmod(0o711)
        make_data_folder(folder, service_account())
        make_data_folder(folder, service_account())
        assert [stat.S_IMODE(path.stat().st_mode) for path in (above, folder)] == [0o711, 0o710]


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, "one")
    write_private(path, "two")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode), list(tmp_path.iterdir())) == ("two", 0o600, [path])
