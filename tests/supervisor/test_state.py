import json
import stat
from dataclasses import asdict
from pathlib import Path

import pytest

from brainsite.supervisor.credentials import Secrets, load_or_make_secrets
from brainsite.supervisor.errors import AlreadyRunningError, StartError
from brainsite.supervisor.ports import listen
from brainsite.supervisor.state import check_version, only_one, product_version, record_version


def test_a_second_one_learns_where_the_first_one_runs(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("whatever a killed one left")
    with only_one(tmp_path):
        with pytest.raises(AlreadyRunningError, match="it is starting or stopping"), only_one(tmp_path):
            pass
        (tmp_path / "ready.json").write_text('{"url": "http://127.0.0.1:8123"}')
        with pytest.raises(AlreadyRunningError, match=r"already running at http://127\.0\.0\.1:8123 ") as second:
            only_one(tmp_path).__enter__()
    assert second.value.status == 1
    with only_one(tmp_path):
        pass


def test_data_of_a_newer_brain_is_refused(tmp_path: Path) -> None:
    check_version(tmp_path)
    record_version(tmp_path)
    check_version(tmp_path)
    (tmp_path / "version").write_text("999.0.1\n")
    with pytest.raises(StartError, match=rf"belongs to Brain 999.0.1; this is Brain {product_version()}"):
        check_version(tmp_path)


def test_secrets_are_made_once(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    made = load_or_make_secrets(path, cluster=tmp_path / "cluster")
    assert load_or_make_secrets(path, cluster=tmp_path / "cluster") == made
    assert len(set(asdict(made).values())) == len(asdict(made))
    keyed = made.with_person_key(path, "brain_key")
    assert load_or_make_secrets(path, cluster=tmp_path / "cluster") == keyed
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_secret_that_an_older_brain_did_not_know_is_added(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    old = {**asdict(Secrets()), "gone": "x"}
    del old["dump_password"]
    path.write_text(json.dumps(old))
    made = asdict(load_or_make_secrets(path, cluster=tmp_path / "cluster"))
    assert {name: made[name] for name in old if name in made} == {n: v for n, v in old.items() if n != "gone"}
    assert json.loads(path.read_text()) == made


def test_a_database_without_its_secrets_is_not_given_new_ones(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    with pytest.raises(StartError, match="is missing"):
        load_or_make_secrets(tmp_path / "secrets.json", cluster=tmp_path / "cluster")
    assert not (tmp_path / "secrets.json").exists()


def test_a_busy_port_gives_way_to_the_next_free_one() -> None:
    first = listen("127.0.0.1", range(23_000, 23_100))
    assert first
    with first:
        port = first.getsockname()[1]
        assert listen("127.0.0.1", [port]) is None
        second = listen("127.0.0.1", range(port, port + 50))
        assert second
        with second:
            assert second.getsockname()[1] > port
