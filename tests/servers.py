"""A pytest plugin, loaded before Django: one real Postgres and Valkey for the whole run, in a folder of its own.

Processes of a parallel run share both servers (each has a database of its own) through the environment.
"""

import atexit
import os
import secrets
import shutil
import tempfile
from pathlib import Path

from accounts.roles import Passwords, prepare_cluster
from brainsite.environment import default_model_dir
from brainsite.supervisor.postgres import EmbeddedPostgres
from brainsite.supervisor.valkey import EmbeddedValkey

STARTED = "BRAIN_TEST_SERVERS"


def start_servers() -> None:
    for name in [name for name in os.environ if name.startswith("BRAIN_")]:
        del os.environ[name]  # the tests depend on nothing that a developer has set
    folder = Path(tempfile.mkdtemp(prefix="brain-tests-"))
    passwords = Passwords(*(secrets.token_hex(8) for _ in range(4)))
    postgres = EmbeddedPostgres(folder, password=secrets.token_hex(8), durable=False)
    valkey = EmbeddedValkey(folder, password=secrets.token_hex(8), durable=False)

    def stop() -> None:
        valkey.stop()
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)

    owner = os.getpid()
    atexit.register(lambda: stop() if os.getpid() == owner else None)  # a forked child of a test runs this too
    postgres.start()
    valkey.start()
    prepare_cluster(postgres.admin_url.removesuffix("/postgres") + "/brain", passwords, for_tests=True)
    os.environ |= {
        STARTED: str(os.getpid()),
        "DATABASE_URL": f"postgresql://127.0.0.1:{postgres.port}/brain",
        "REDIS_URL": valkey.url,
        "BRAIN_DATA_DIR": str(folder / "data"),
        "BRAIN_MODEL_DIR": str(default_model_dir()),
        "BRAIN_APP_PASSWORD": passwords.app,
        "BRAIN_AGENT_PASSWORD": passwords.agent,
        "BRAIN_MIGRATOR_PASSWORD": passwords.migrator,
        "BRAIN_SECRET_KEY": secrets.token_hex(32),
        "BRAIN_KEY_PEPPER": secrets.token_hex(16),
    }


if STARTED not in os.environ:
    start_servers()
