"""The supervisor: start in order, say when all parts answer, keep them alive, stop in order."""

import json
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from django.core.exceptions import ImproperlyConfigured

from brainsite.environment import CHECKOUT, RUNTIME_FILE, Environment, data_dir_from, default_data_dir, read_environment
from brainsite.supervisor.account import own_account, service_account
from brainsite.supervisor.child import Child, ChildError, adopt_orphans, reap_adopted, rotate
from brainsite.supervisor.credentials import load_or_make_secrets
from brainsite.supervisor.errors import CONFIG, StartError
from brainsite.supervisor.folders import make_data_folder, write_private
from brainsite.supervisor.healing import Watched
from brainsite.supervisor.ports import listen
from brainsite.supervisor.postgres import EmbeddedPostgres
from brainsite.supervisor.programs import Beat, Prepare, Program, Web, Worker
from brainsite.supervisor.state import READY_FILE, SECRETS_FILE, check_version, only_one, record_version
from brainsite.supervisor.valkey import EmbeddedValkey, answers_ping

STDOUT = 1
TEND_SECONDS = 0.05
ROTATE_SECONDS = 60.0
REMIND_SECONDS = 30.0
FURTHER_PORTS = 20
START_ATTEMPTS = 3  # a part that ends so often before it answered once will not come up
LOGINS = ("DATABASE_URL", "REDIS_URL", "BRAIN_APP_PASSWORD", "BRAIN_AGENT_PASSWORD", "BRAIN_MIGRATOR_PASSWORD")
WITHHELD = {*LOGINS, "BRAIN_DUMP_PASSWORD", "BRAIN_OWNER_PASSWORD", "BRAIN_PERSON_KEY"}


class StopAskedError(Exception):
    """A person pressed Ctrl-C, or the system asked us to end, before everything was up."""


def main() -> int:
    os.umask(0o077)
    try:
        data_dir = data_dir_from(os.environ)
        embedded = not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"))
        make_data_folder(data_dir, service_account() if embedded else own_account())
        with only_one(data_dir):
            for name in (RUNTIME_FILE, READY_FILE):  # of a supervisor that was killed
                (data_dir / name).unlink(missing_ok=True)
            check_version(data_dir)
            return Supervisor(data_dir, read_environment()).run()
    except (StartError, ImproperlyConfigured) as error:
        sys.stderr.write(f"{error}\n")
        return error.status if isinstance(error, StartError) else CONFIG


class Supervisor:
    def __init__(self, data_dir: Path, environment: Environment) -> None:
        self.data_dir = data_dir
        self.environment = environment
        self.secrets = load_or_make_secrets(data_dir / SECRETS_FILE, cluster=data_dir / "postgres" / "cluster")
        self.watched: list[Watched] = []
        self.listener: socket.socket | None = None
        self.preparing: Prepare | None = None
        self.stop_requests = 0
        self.began_at = time.monotonic()

    def run(self) -> int:
        signals = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
            signals.append(signal.SIGHUP)
        for number in signals:
            signal.signal(number, self.on_signal)
        adopt_orphans()
        try:
            self.start()
            self.keep_alive()
        except StopAskedError:
            pass
        finally:
            self.stop()
        return 0

    def on_signal(self, number: int, frame: object) -> None:
        self.stop_requests += 1

    # start

    def start(self) -> None:
        database_url = self.start_database()
        redis_url = self.start_valkey()
        if self.watched:
            self.wait_for("database and queue")
        self.listener = self.take_port()
        shared = self.variables(database_url, redis_url)
        answer = self.prepare(shared, database_url)
        record_version(self.data_dir)
        write_private(self.data_dir / RUNTIME_FILE, json.dumps(self.runtime(shared), indent=1) + "\n")
        self.watch(Web(self.data_dir, shared, self.listener))
        self.watch(Worker(self.data_dir, shared, self.environment.brain_worker_concurrency))
        self.watch(Beat(self.data_dir, shared))
        self.wait_for("web, worker and beat")
        ready = {"url": self.url(), **answer}
        write_private(self.data_dir / READY_FILE, json.dumps(ready, indent=1) + "\n")
        self.announce(ready)

    def start_database(self) -> str:
        """The admin's address: of the embedded Postgres, or of the one that DATABASE_URL names."""
        if self.environment.database_url:
            self.step("database: the one that DATABASE_URL names")
            return self.environment.database_url
        postgres = EmbeddedPostgres(self.data_dir, password=self.secrets.postgres_password)
        self.watch(postgres)
        return postgres.admin_url.removesuffix("/postgres") + "/brain"

    def start_valkey(self) -> str:
        if self.environment.redis_url:
            if not answers_ping(self.environment.redis_url):
                raise StartError("The server that REDIS_URL names does not answer.")
            self.step("queue: the one that REDIS_URL names")
            return self.environment.redis_url
        valkey = EmbeddedValkey(self.data_dir, password=self.secrets.valkey_password)
        self.watch(valkey)
        return valkey.url

    def take_port(self) -> socket.socket:
        wanted = self.environment.brain_port
        ports = range(wanted, min(wanted + FURTHER_PORTS, 65_535) + 1)
        listener = listen(self.environment.brain_host, ports)
        if listener is None:
            raise StartError(f"The ports {ports[0]} to {ports[-1]} are all in use. Set BRAIN_PORT to a free one.")
        # inherited by every connection; uvicorn and asyncio set it only on a socket that they opened themselves
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        taken = listener.getsockname()[1]
        if taken != wanted:
            asked = ", which BRAIN_PORT asks for," if "BRAIN_PORT" in os.environ else ""
            self.say(f"Port {wanted}{asked} is in use by another program; Brain takes {taken} instead.")
        return listener

    def prepare(self, shared: Mapping[str, str], database_url: str) -> dict[str, str | None]:
        prepare = self.preparing = Prepare(
            self.data_dir,
            {
                **shared,
                "DATABASE_URL": database_url,
                **self.strong_logins(),
                "BRAIN_OWNER_PASSWORD": os.environ.get("BRAIN_OWNER_PASSWORD") or self.secrets.owner_password,
                "BRAIN_PERSON_KEY": self.secrets.person_key,
            },
        )
        prepare.launch()
        try:
            while prepare.is_alive():  # not watched: it ends by itself
                self.pause()
            answer = prepare.take_answer()
        except ChildError as error:
            if prepare.process and prepare.process.returncode == CONFIG:
                raise StartError(prepare.last_words()) from None
            raise error
        finally:
            prepare.stop()
        self.secrets = self.secrets.with_person_key(self.data_dir / SECRETS_FILE, answer["person_key"] or "")
        self.step("tables and owner")
        return answer

    def children(self) -> list[Child]:
        return [watched.child for watched in self.watched] + ([self.preparing] if self.preparing else [])

    def watch(self, child: Child) -> None:
        watched = Watched(child, self.say)
        self.watched.append(watched)
        watched.launch()

    def wait_for(self, what: str) -> None:
        remind_at = time.monotonic() + REMIND_SECONDS
        while missing := [watched.child for watched in self.watched if not watched.is_ready]:
            if time.monotonic() >= remind_at:
                remind_at += REMIND_SECONDS
                self.say(f"Still waiting for {missing[0].name}; see {missing[0].log_file}")
            self.pause()
            for watched in self.watched:
                if watched.failures >= START_ATTEMPTS or watched.last_status == CONFIG:
                    self.give_up(watched)
        self.step(what)

    def give_up(self, watched: Watched) -> None:
        if watched.last_status == CONFIG:
            raise StartError(watched.child.last_words())
        raise ChildError(watched.child, "does not come up")

    # what the processes and commands get to know

    def variables(self, database_url: str, redis_url: str) -> dict[str, str]:
        """For web, worker and beat: no login that could change or bypass the walls."""
        withheld = WITHHELD | {f"{name}_FILE" for name in WITHHELD}
        return {
            **{name: value for name, value in os.environ.items() if name not in withheld},
            "DATABASE_URL": without_login(database_url),
            "REDIS_URL": redis_url,
            "BRAIN_DATA_DIR": str(self.data_dir),
            "BRAIN_PORT": str(self.port()),
            "BRAIN_SECRET_KEY": self.environment.brain_secret_key or self.secrets.secret_key,
            "BRAIN_KEY_PEPPER": self.environment.brain_key_pepper or self.secrets.key_pepper,
            "BRAIN_APP_PASSWORD": self.environment.brain_app_password or self.secrets.app_password,
            "BRAIN_AGENT_PASSWORD": self.environment.brain_agent_password or self.secrets.agent_password,
            "BRAIN_EMBED_KEY": self.environment.brain_embed_key or "",  # a file may be named to us alone
        }

    def strong_logins(self) -> dict[str, str]:
        return {
            "BRAIN_MIGRATOR_PASSWORD": self.environment.brain_migrator_password or self.secrets.migrator_password,
            "BRAIN_DUMP_PASSWORD": self.environment.brain_dump_password or self.secrets.dump_password,
        }

    def runtime(self, shared: Mapping[str, str]) -> dict[str, str]:
        """For the commands that the same person starts beside us; backup and migrate need the strong logins."""
        names = {name.upper() for name in Environment.model_fields}
        return {name: value for name, value in {**shared, **self.strong_logins()}.items() if name in names}

    def port(self) -> int:
        return int(self.listener.getsockname()[1]) if self.listener else self.environment.brain_port

    def url(self) -> str:
        return self.environment.model_copy(update={"brain_port": self.port()}).public_url

    # run

    def keep_alive(self) -> None:
        rotate_at = time.monotonic() + ROTATE_SECONDS
        while True:
            self.pause()
            if time.monotonic() >= rotate_at:
                rotate_at += ROTATE_SECONDS
                for watched in self.watched:
                    with suppress(OSError):  # a full disk is no reason to stop
                        rotate(watched.child.log_file)

    def pause(self) -> None:
        """One turn of every loop: look after what runs. Raises StopAskedError."""
        if self.stop_requests:
            raise StopAskedError
        for watched in self.watched:
            watched.tend()
        reap_adopted(self.children())
        time.sleep(TEND_SECONDS)

    # stop

    def stop(self) -> None:
        """What answers people first, what holds the data last. A second Ctrl-C spares the programs' farewell, never
        the servers'."""
        (self.data_dir / READY_FILE).unlink(missing_ok=True)
        if self.watched:
            self.say("Stopping …")
        children = {watched.child.name: watched.child for watched in self.watched}
        if self.listener:
            self.listener.close()
        for names in (["web"], ["worker", "beat"], ["valkey"], ["postgres"]):
            group = [children[name] for name in names if name in children]
            for child in group:
                child.ask_to_stop()
            for child in group:
                child.stop(in_a_hurry=self.is_in_a_hurry if isinstance(child, Program) else lambda: False)
        (self.data_dir / RUNTIME_FILE).unlink(missing_ok=True)
        if self.watched:
            self.say("Stopped.")

    def is_in_a_hurry(self) -> bool:
        return self.stop_requests > 1

    # the terminal

    def say(self, text: str) -> None:
        with suppress(OSError):  # the terminal may be gone; unbuffered, so that nothing is left to fail at the exit
            os.write(STDOUT, f"{text}\n".encode())

    def step(self, what: str) -> None:
        self.say(f"  {time.monotonic() - self.began_at:5.1f} s  {what}")

    def announce(self, ready: Mapping[str, str | None]) -> None:
        here = "" if self.data_dir == default_data_dir() else f"BRAIN_DATA_DIR={shlex.quote(str(self.data_dir))} "
        python = Path(sys.executable)
        if python.is_relative_to(CHECKOUT) and Path.cwd() == CHECKOUT:
            python = python.relative_to(CHECKOUT)
        manage = f"{here}{shlex.quote(str(python))} manage.py"
        self.say(f"""
Brain is running at {ready["url"]}

  login       {ready["login"]}
  password    {ready["password"] or "(the one you chose)"}
  person key  {ready["person_key"]}

From another terminal, in this folder:
  {manage} capture "Invoices go out on Fridays."
  {manage} recall "When do invoices go out?"

Data and logs are in {self.data_dir} (logs/). Ctrl-C stops Brain.
""")


def without_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
