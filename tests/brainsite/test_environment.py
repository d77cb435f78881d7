import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from brainsite.environment import Environment, database_address, read_environment

CHECKOUT = Path(__file__).resolve().parents[2]


def test_every_setting_is_documented_and_no_other() -> None:
    page = (CHECKOUT / "docs" / "configuration.md").read_text()
    documented = re.findall(r"^\| `([A-Z_]+)` \|", page, flags=re.MULTILINE)
    assert sorted(documented) == sorted(name.upper() for name in Environment.model_fields)


def test_a_secret_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("from a file\n")
    monkeypatch.setenv("BRAIN_KEY_PEPPER_FILE", str(path))
    monkeypatch.delenv("BRAIN_KEY_PEPPER")
    assert read_environment().brain_key_pepper == "from a file"
    monkeypatch.setenv("BRAIN_KEY_PEPPER", "said directly")
    assert read_environment().brain_key_pepper == "said directly"


@pytest.mark.parametrize(("name", "value"), [("BRAIN_PORT", "abc"), ("BRAIN_PORT", "70000"), ("BRAIN_DB_POOL", "-1")])
def test_a_bad_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        read_environment()


@pytest.mark.parametrize("url", ["mysql://h/db", "postgresql://host", "nonsense"])
def test_a_database_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        database_address(url)


def test_a_database_address_leaves_the_administrators_login_out() -> None:
    assert database_address("postgresql://admin:pw@db.test:5433/brain?sslmode=require") == {
        "NAME": "brain",
        "HOST": "db.test",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"BRAIN_PUBLIC_URL": "http://brain.example.test"}, "BRAIN_PUBLIC_URL"),
        ({"BRAIN_ALLOWED_HOSTS": "*"}, "BRAIN_ALLOWED_HOSTS"),
        ({"BRAIN_PORT": "many"}, "BRAIN_PORT"),
        ({"BRAIN_EMBED_URL": "http://127.0.0.1:1/v1"}, "BRAIN_EMBED_MODEL: name the model"),
        ({"BRAIN_EMBED_URL": "127.0.0.1:1/v1", "BRAIN_EMBED_MODEL": "m"}, "BRAIN_EMBED_URL: expected the base URL"),
        ({"BRAIN_EMBED_URL": "http://h/v1", "BRAIN_EMBED_MODEL": "m", "BRAIN_EMBED_DIR": "/m"}, "BRAIN_EMBED_DIR and"),
        ({"BRAIN_EMBED_POOLING": "max"}, "The environment is not usable: BRAIN_EMBED_POOLING"),
    ],
)
def test_unsafe_settings_stop_every_command(changes: dict[str, str], cause: str) -> None:
    ran = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=CHECKOUT,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith(("The environment", cause))
    assert "Traceback" not in ran.stderr


def test_a_public_installation_passes_the_deployment_check() -> None:
    ran = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=CHECKOUT,
        env={**os.environ, "BRAIN_PUBLIC_URL": "https://brain.example.test"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "System check identified no issues (0 silenced).\n", "")
