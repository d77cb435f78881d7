"""The whole product as a person starts it."""

import signal
import stat
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from benchmarks.durability import Installation, Tally, trial
from brainsite.supervisor.child import is_running
from tests.supervisor.product import HEAL_SECONDS, PARTS, Product, started_product
from tests.supervisor.test_healing import wait_until


@pytest.fixture
def product() -> Iterator[Product]:
    with started_product() as product:
        yield product


def test_up_starts_heals_is_killed_starts_again_and_stops(product: Product) -> None:
    """One story, as each start takes seconds."""
    product.wait()
    ready = product.ready()
    assert sorted(ready) == ["login", "password", "person_key", "url"]
    assert all(ready.values())
    assert product.answers()
    assert product.up().wait(timeout=30) == 1
    assert f"\nBrain is already running at {ready['url']} " in product.said()

    private = [product.data_dir / name for name in ("ready.json", "runtime.json", "secrets.json")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in private] == [0o600] * 3
    files = [path for path in product.data_dir.rglob("*") if not path.is_symlink()]
    assert [path for path in files if path.lstat().st_mode & 0o077] == []

    healed = {part: product.seconds_to_heal(part) for part in PARTS}
    assert [part for part, seconds in healed.items() if seconds > HEAL_SECONDS] == [], healed
    assert product.answers()
    assert wait_until(lambda: not [process for process in product.processes() if not is_running(process)])  # no zombies

    everything = product.processes()
    product.end(signal.SIGKILL)
    assert wait_until(lambda: not any(is_running(process) for process in everything))
    (product.data_dir / "ready.json").unlink()
    product.process = product.up()
    product.wait()
    assert product.ready() == ready

    everything = product.processes()
    assert product.end(signal.SIGINT) == 0
    assert [process.pid for process in everything if is_running(process)] == []
    assert [path.name for path in private if path.exists()] == ["secrets.json"]
    taken, chosen = product.environment["BRAIN_PORT"], urlsplit(ready["url"]).port
    said = product.said()
    assert (
        f"Port {taken}, which BRAIN_PORT asks for, is in use by another program; Brain takes {chosen} instead." in said
    )
    assert (ready["password"] in said, ready["person_key"] in said) == (True, True)
    logs = "".join(path.read_text() for path in (product.data_dir / "logs").iterdir())
    assert [name for name in ("password", "person_key") if ready[name] in logs] == []


def test_a_killed_part_loses_and_doubles_nothing_that_was_acknowledged(product: Product) -> None:
    product.wait()
    installation = Installation(product.data_dir)
    tallies = {part: Tally(part) for part in PARTS}
    for part, tally in tallies.items():
        trial(installation, part, tally)
    assert [(tally.lost, tally.doubled, tally.acknowledged > 0) for tally in tallies.values()] == [(0, 0, True)] * 5
