"""Browsers of the cast, signed in, and how they send the composer."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.cast import Cast, Person
from tests.web.pages import page

Browser = Callable[[Person], Client]


@pytest.fixture
def browser() -> Browser:
    def signed_in(person: Person) -> Client:
        client = Client()
        client.force_login(person.user)
        return client

    return signed_in


@pytest.fixture
def ann(cast: Cast, browser: Browser) -> Client:
    return browser(cast.ann)


def keep(client: Client, content: str, **more: Any) -> Any:
    """Fill in the composer of a fresh home page and send it."""
    form_id = page(client.get("/")).value("form_id")
    sent = {"form_id": form_id, "content": content, "scope": "personal", "tags": "", "node": "", **more}
    return client.post("/", sent)
