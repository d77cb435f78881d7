"""Two who look into the administration, and rows to look at: shared ones, and personal ones that nobody may see."""

from dataclasses import dataclass

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import Membership, User
from accounts.people import ensure_person
from memory.capture import capture
from memory.erase import trash
from memory.types import Memory
from tests.cast import PASSWORD, Cast

CANARY = "zanzibar"  # in the words, the slug, the tags and the node of every personal memory
SHARED = "kilimanjaro"  # the same in the shared ones of Acme
STRANGE = "popocatepetl"  # and in those of Globex


@dataclass(frozen=True, slots=True)
class Rows:
    personal: Memory
    shared: Memory
    strange: Memory


@pytest.fixture
def rows(cast: Cast) -> Rows:
    def memory(person: str, scope: str, word: str) -> Memory:
        actor = getattr(cast, person).actor
        gone = capture(actor, content=f"{word} gone", scope=scope, tags=[word], node=f"{word}/gone").memory
        trash(actor, str(gone.id))
        return capture(actor, content=f"{word} kept", scope=scope, tags=[word], node=f"{word}/{word}").memory

    return Rows(
        personal=memory("ann", "personal", CANARY),
        shared=memory("ann", "corporate", SHARED),
        strange=memory("eve", "corporate", STRANGE),
    )


@pytest.fixture
def root(cast: Cast) -> Client:
    """A superuser, who owns the personal canary's organization as well."""
    User.objects.filter(id=cast.ann.user.id).update(is_staff=True, is_superuser=True)
    return signed_in(User.objects.get(id=cast.ann.user.id))


@pytest.fixture
def curator(cast: Cast) -> Client:
    """Staff of Acme with every permission that Django knows, but no superuser."""
    user = ensure_person(cast.acme, "curator@acme.test", role=Membership.Role.CURATOR, password=PASSWORD)
    return signed_in(make_staff(user))


@pytest.fixture
def member(cast: Cast) -> Client:
    """Staff with every permission, who curates no organization."""
    return signed_in(make_staff(cast.bob.user))


def make_staff(user: User) -> User:
    User.objects.filter(id=user.id).update(is_staff=True)
    user.user_permissions.set(Permission.objects.all())
    return User.objects.get(id=user.id)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture(params=["root", "curator"])
def staff(request: pytest.FixtureRequest) -> Client:
    client: Client = request.getfixturevalue(request.param)
    return client
