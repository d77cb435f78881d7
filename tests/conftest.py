"""Fixtures for all tests: three logins to a database of this run's own, and a small cast of people."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import override_settings, setup_databases, teardown_databases

from memory import corpus, embedding
from tests.cast import Cast, make_cast

ALIASES = ["default", "agent", "migrator"]


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: Any, django_db_modify_db_settings: None
) -> Iterator[None]:
    """All three aliases always: with one alone the mirror would not be set and tests ran on the real database."""
    with django_db_blocker.unblock():
        old = setup_databases(verbosity=0, interactive=False, aliases=dict.fromkeys(ALIASES), serialized_aliases=[])
        assert connection.settings_dict["NAME"].startswith("test_")
    yield
    with django_db_blocker.unblock():
        connections.close_all()  # else DROP DATABASE finds it being accessed
        teardown_databases(old, verbosity=0)


@pytest.fixture
def cast(request: pytest.FixtureRequest) -> Cast:
    """Committed rows, as every request and job sees them from its own connection; all aliases are flushed after."""
    request.node.add_marker(pytest.mark.django_db(transaction=True, databases=ALIASES))
    request.getfixturevalue("transactional_db")
    return make_cast()


@pytest.fixture(autouse=True, scope="session")
def _quick_passwords() -> Iterator[None]:
    """The real hash is slow on purpose."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def _fresh_caches() -> None:
    """Caches of this process outlive the rows of a test."""
    corpus.forget_all()
    embedding.forget_model()
