"""Django's settings. Everything variable comes from environment.py; this module only shapes it."""

import sys
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from psycopg_pool.base import AttemptWithBackoff
from redis.backoff import NoBackoff
from redis.retry import Retry

from brainsite.environment import CHECKOUT, database_address, read_environment

ENV = read_environment()
BASE_DIR = CHECKOUT
DEBUG = ENV.brain_debug
PUBLIC_URL = ENV.public_url
DATA_DIR = ENV.brain_data_dir
MODEL_DIR = ENV.model_dir
SHADOW_SHARE = ENV.brain_shadow_share
EMBED_THREADS = ENV.brain_embed_threads
EMBED_DIR = ENV.brain_embed_dir
EMBED_URL = ENV.brain_embed_url
EMBED_KEY = ENV.brain_embed_key
EMBED_MODEL = ENV.brain_embed_model
EMBED_DIMENSIONS = ENV.brain_embed_dimensions
EMBED_POOLING = ENV.brain_embed_pooling
EMBED_QUERY_PREFIX = ENV.brain_embed_query_prefix
EMBED_PASSAGE_PREFIX = ENV.brain_embed_passage_prefix
if EMBED_DIR and EMBED_URL:
    raise ImproperlyConfigured("BRAIN_EMBED_DIR and BRAIN_EMBED_URL: set one of them")
if EMBED_URL and not (EMBED_URL.startswith(("http://", "https://")) and urlsplit(EMBED_URL).hostname):
    raise ImproperlyConfigured("BRAIN_EMBED_URL: expected the base URL of an endpoint, as in https://host/v1")
if EMBED_URL and not EMBED_MODEL:
    raise ImproperlyConfigured("BRAIN_EMBED_MODEL: name the model that the endpoint is to use")
CORPUS_CACHE_BYTES = ENV.brain_corpus_cache_mb * 2**20

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PUBLIC_HOST = urlsplit(PUBLIC_URL).hostname or "localhost"
HTTPS = PUBLIC_URL.startswith("https://")
if not HTTPS and not DEBUG and PUBLIC_HOST not in ("127.0.0.1", "localhost", "::1"):
    raise ImproperlyConfigured("BRAIN_PUBLIC_URL: anything but this machine itself needs https:// (put TLS in front)")

# `up` and `prepare` come before the secrets exist; with these placeholders nothing is served (see the system check).
SECRET_KEY = ENV.brain_secret_key or "unset-" + "0" * 44
KEY_PEPPER = ENV.brain_key_pepper or ""
ALLOWED_HOSTS = [*LOOPBACK, PUBLIC_HOST, *(h.strip() for h in ENV.brain_allowed_hosts.split(",") if h.strip())]
if "*" in ALLOWED_HOSTS and not DEBUG:
    raise ImproperlyConfigured("BRAIN_ALLOWED_HOSTS: name the hosts; * lets any site pose as this one")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    "accounts",
    "graph",
    "memory",
    "brainsite.apps.BrainsiteConfig",
    "brainsite.apps.BrainAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "drf_standardized_errors",
    "csp",
    "django_structlog",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "brainsite.middleware.RequestIdMiddleware",
    "brainsite.middleware.RequestLogMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "brainsite.urls"
ASGI_APPLICATION = "brainsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Three logins to one database: people, jobs and the admin; the agent doors; the owner, for migrations only.
ADDRESS = database_address(ENV.database_url)
STATEMENT_TIMEOUT = timedelta(seconds=30)


def login(user: str, password: str | None, *flags: str, test: dict[str, Any] | None = None) -> dict[str, Any]:
    options: dict[str, Any] = {
        **ADDRESS.get("OPTIONS", {}),
        "connect_timeout": 3,
        "application_name": f"brain:{user}",
        "options": " ".join(f"-c {flag}" for flag in flags),
    }
    if ENV.brain_db_pool and user != "brain_migrator":
        options["pool"] = {"min_size": 1, "max_size": ENV.brain_db_pool, "timeout": 5}
    return {
        **ADDRESS,
        "ENGINE": "django.db.backends.postgresql",
        "USER": user,
        "PASSWORD": password or "",
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,  # after a restart of the database the pool hands out no dead connection
        "OPTIONS": options,
        "TEST": test or {"MIRROR": "migrator"},
    }


# A pool waits longer and longer between two attempts to connect, and everybody waits with it after the database is
# back (it was 10 s for one that took 1 s). Five attempts a second cost nothing on a server of one's own.
AttemptWithBackoff.INITIAL_DELAY, AttemptWithBackoff.DELAY_BACKOFF = 0.2, 1.0
STATEMENTS = f"statement_timeout={int(STATEMENT_TIMEOUT.total_seconds() * 1000)}"
DATABASES = {
    "default": login("brain_app", ENV.brain_app_password, STATEMENTS),
    "agent": login("brain_agent_app", ENV.brain_agent_password, STATEMENTS),
    "migrator": login(
        "brain_migrator",
        ENV.brain_migrator_password,
        "brain.migrating=on",
        "lock_timeout=5000",
        test={"TEMPLATE": "brain_template"},
    ),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = ENV.redis_url or "redis://127.0.0.1:1/0"
CACHES = {
    "default": {
        "BACKEND": "brainsite.cache.SharedRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "brain",
        # the client's own retries would keep a search waiting for seconds when the cache is gone
        "OPTIONS": {"socket_connect_timeout": 0.3, "socket_timeout": 0.5, "retry": Retry(NoBackoff(), 0)},
    }
}

# Celery is only the doorbell: the truth about work is the Job table.
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = ENV.brain_worker_concurrency
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_TIME_LIMIT = 900
CELERY_TASK_DEFAULT_QUEUE = "brain"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 1800,  # longer than the longest task
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 0.3,
    "socket_timeout": 5,
    "global_keyprefix": "brain:",
}
CELERY_TASK_PUBLISH_RETRY = False  # a lost ring is found by the sweeper
SWEEP_SECONDS = 10
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "brain.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}}
}

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "brainsite" / "static"]
MEDIA_ROOT = DATA_DIR / "files"
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = False

# Limits of every door, in one place.
CONTENT_CHARACTERS = 2_000_000
BODY_BYTES = 16 * 2**20
UPLOAD_BYTES = 2 * 2**30
BULK_ITEMS = 1_000
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = f"brain_session_{ENV.brain_port}"  # two installations on one machine share the host name
CSRF_COOKIE_NAME = f"brain_csrf_{ENV.brain_port}"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"  # with "no-referrer" browsers send `Origin: null`, and no form gets through
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "brainsite.api.authentication.BrainKeyAuthentication",
        "brainsite.api.authentication.WebSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["brainsite.api.permissions.HasActor"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["brainsite.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "brainsite.api.schema.BrainSchema",
    "EXCEPTION_HANDLER": "brainsite.api.errors.exception_handler",
    "DEFAULT_VERSIONING_CLASS": None,
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Brain",
    "VERSION": "1",
    "DESCRIPTION": "One memory for all of your AI assistants.",
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "POSTPROCESSING_HOOKS": [],  # the words of a choice stay where it is used
}

DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID = True  # RequestIdMiddleware has checked or made it

# One JSON line an event, with the request's id, never a memory's words.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "brainsite.logs.json_formatter"}},
    "filters": {"redact": {"()": "brainsite.logs.RedactKeys"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "stream": sys.stderr,
            "formatter": "json",
            "filters": ["redact"],
        }
    },
    # its warnings name the path of a refused request, and a path may hold a slug made of a memory's words
    # and what the client of an embedding endpoint says in detail are memories and addresses
    "loggers": {
        "django.request": {"level": "ERROR"},
        **{name: {"level": "WARNING"} for name in ("openai", "httpx", "httpx2", "httpcore", "httpcore2")},
    },
    "root": {"handlers": ["stderr"], "level": ENV.brain_log_level},
}
