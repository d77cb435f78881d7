import os
import signal

import pytest
from redis import AuthenticationError, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from brainsite.supervisor.valkey import EmbeddedValkey, answers_ping


def test_killed_it_comes_back_with_the_data(valkey: EmbeddedValkey) -> None:
    valkey.start()
    url = valkey.url
    with Redis.from_url(url) as client:
        client.set("kept", "yes")
    assert valkey.process
    os.kill(valkey.process.pid, signal.SIGKILL)
    valkey.process.wait()
    assert not answers_ping(url)
    valkey.start()
    with Redis.from_url(url) as client:
        assert client.get("kept") == b"yes"


def test_it_asks_for_the_password_which_no_command_line_shows(valkey: EmbeddedValkey) -> None:
    valkey.start()
    with Redis(port=valkey.port, retry=Retry(NoBackoff(), 0)) as client, pytest.raises(AuthenticationError):
        client.ping()
    assert valkey.password not in " ".join(valkey.command())
