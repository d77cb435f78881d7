"""What the environment may say. The one place that reads it; every field here is documented in docs/configuration.md.

Order of precedence: a variable NAME, a file named by NAME_FILE, then `runtime.json` in the data folder, which
`manage.py up` writes for the commands that a person starts beside it.
"""

import json
import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

CHECKOUT = Path(__file__).resolve().parent.parent
RUNTIME_FILE = "runtime.json"


def default_data_dir() -> Path:
    """A folder of the user's own outside the checkout; for root one that the database's own user can reach."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/brain")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "brain"


def default_model_dir() -> Path:
    """Where the set-up puts the embedding model."""
    return CHECKOUT / ".venv" / "models" / "bge-small-en-v1.5-int8"


def data_dir_from(environ: dict[str, str] | os._Environ[str]) -> Path:
    return Path(environ.get("BRAIN_DATA_DIR") or default_data_dir()).expanduser().absolute()


class FileSource(PydanticBaseSettingsSource):
    """NAME_FILE: a secret read from a file, for container secrets."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        path = os.environ.get(f"{field_name.upper()}_FILE")
        return (Path(path).read_text().strip() if path else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        found = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: value for name, value in found.items() if value is not None}


class RuntimeSource(PydanticBaseSettingsSource):
    """What `manage.py up` chose (ports) and made (secrets); absent when other servers are named by DATABASE_URL."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        path = data_dir_from(os.environ) / RUNTIME_FILE
        try:
            stored: dict[str, str] = json.loads(path.read_text())
        except (FileNotFoundError, PermissionError, NotADirectoryError):
            return {}
        return {name.lower(): value for name, value in stored.items() if name.lower() in self.settings_cls.model_fields}


class Environment(BaseSettings):
    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    # where things are
    brain_data_dir: Path = Field(default_factory=lambda: data_dir_from(os.environ))
    brain_model_dir: Path | None = None
    brain_host: str = "127.0.0.1"
    brain_port: int = Field(default=8000, ge=1, le=65535)
    brain_public_url: str | None = None
    brain_allowed_hosts: str = ""
    database_url: str | None = None
    redis_url: str | None = None

    # another embedding model: a folder with an ONNX model, or an OpenAI-compatible endpoint
    brain_embed_dir: Path | None = None
    brain_embed_url: str | None = None
    brain_embed_key: str | None = None
    brain_embed_model: str | None = None
    brain_embed_dimensions: int | None = Field(default=None, ge=1, le=16_000)  # what a half-precision column holds
    brain_embed_pooling: Literal["mean", "cls"] = "mean"
    brain_embed_query_prefix: str = ""
    brain_embed_passage_prefix: str = ""

    # secrets
    brain_secret_key: str | None = None
    brain_key_pepper: str | None = None
    brain_app_password: str | None = None
    brain_agent_password: str | None = None
    brain_migrator_password: str | None = None
    brain_dump_password: str | None = None

    # sizes
    brain_db_pool: int = Field(default=0, ge=0, le=200)  # connections kept by a process; 0: none (commands, workers)
    brain_worker_concurrency: int = Field(default=2, ge=1, le=64)  # one long job never keeps a capture waiting
    brain_shadow_share: float = Field(default=0.01, ge=0, le=1)
    brain_embed_threads: int = Field(default=1, ge=1, le=64)
    brain_corpus_cache_mb: int = Field(default=256, ge=16)

    brain_debug: bool = False
    brain_log_level: str = "INFO"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        sources: tuple[PydanticBaseSettingsSource, ...] = (init_settings, env_settings, FileSource(settings_cls))
        return sources if os.environ.get("DATABASE_URL") else (*sources, RuntimeSource(settings_cls))

    @property
    def model_dir(self) -> Path:
        return self.brain_model_dir or default_model_dir()

    @property
    def public_url(self) -> str:
        return (self.brain_public_url or f"http://{self.brain_host}:{self.brain_port}").rstrip("/")


def read_environment() -> Environment:
    """Raises ImproperlyConfigured that names each variable and what is wrong with it."""
    try:
        return Environment()
    except ValidationError as error:
        causes = "; ".join(f"{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
        raise ImproperlyConfigured(f"The environment is not usable: {causes}") from None


def database_address(url: str | None) -> dict[str, Any]:
    """Host, port, name and options of DATABASE_URL; its own login is left out (only `manage.py prepare` uses it)."""
    if not url:
        return {"NAME": "brain", "HOST": "127.0.0.1", "PORT": "1"}  # nothing answers there: commands say what to start
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql") or not parts.path.strip("/"):
        raise ImproperlyConfigured("DATABASE_URL: expected postgresql://login:password@host:port/name")
    options = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    return {
        "NAME": unquote(parts.path.strip("/")),
        "HOST": parts.hostname or "127.0.0.1",
        "PORT": str(parts.port or 5432),
        "OPTIONS": options,
    }
