"""Who is asking: a key in a header, else a person's web session. `request.auth` is the Actor, nothing else."""

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, ParseError
from rest_framework.request import Request

from accounts.actor import Actor
from accounts.errors import Forbidden
from accounts.keys import find_key
from accounts.models import User
from accounts.people import actor_for_key, first_organization_of, person_actor

CHALLENGE = 'Bearer realm="brain"'


class BrainKeyAuthentication(BaseAuthentication):
    """`x-brain-key: brk_…` or `Authorization: Bearer brk_…`. A request with a key is never helped by a cookie."""

    def authenticate(self, request: Request) -> tuple[User | AnonymousUser, Actor] | None:
        text = key_in(request)
        if text is None:
            return None
        key = find_key(text)
        if key is None:
            raise AuthenticationFailed
        try:
            actor = actor_for_key(key)
        except Forbidden as error:  # its holder has left or is switched off: the key is as good as unknown
            raise AuthenticationFailed from error
        return key.user or AnonymousUser(), actor

    def authenticate_header(self, request: Request) -> str:
        return CHALLENGE


class WebSessionAuthentication(SessionAuthentication):
    """A signed-in person, in the organization joined first. Unsafe methods need the CSRF token, JSON bodies too."""

    def authenticate(self, request: Request) -> tuple[User, Actor] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        user = found[0]
        return user, person_actor(user, first_organization_of(user), source="web")


def key_in(request: Request) -> str | None:
    """The key's text. Raises ParseError when two headers name different ones."""
    given = request.headers.get("x-brain-key")
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else None
    if given is not None and bearer is not None and given != bearer:
        raise ParseError("x-brain-key and Authorization name different keys.")
    return given if given is not None else bearer
