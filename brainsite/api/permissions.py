"""Every route needs an Actor; some are for people alone. What an actor may do is decided by verbs and the database."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.actor import Actor, Door


class HasActor(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, Actor)


class MayRead(BasePermission):
    """After HasActor: keys that only write are refused with 403."""

    message = "This key may not read."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, Actor) and bool(request.auth.readable)


class IsPerson(BasePermission):
    """After HasActor: keys of programs are refused with 403."""

    message = "This is for people's keys."

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, Actor) and request.auth.door == Door.PERSON
