"""brains/, me/, stats/."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actor import Actor
from accounts.people import who_is
from brainsite.api.base import BrainView, page_of
from brainsite.api.permissions import HasActor, IsPerson
from brainsite.api.serializers.places import BrainOutput, MeOutput, StatsOutput
from memory.stats import thought_stats


def brains_of(actor: Actor) -> list[dict[str, Any]]:
    """Readable ones first, each once."""
    return [
        {"id": b.id, "scope": b.scope.value, "may_read": b in actor.readable, "may_write": b in actor.writable}
        for b in dict.fromkeys(actor.readable + actor.writable)
    ]


class BrainsView(BrainView):
    @extend_schema(
        operation_id="list_brains",
        summary="The brains that the caller's key opens",
        responses=page_of("BrainList", BrainOutput),
    )
    def get(self, request: Request) -> Response:
        return self.whole(BrainOutput, brains_of(self.actor))


class MeView(BrainView):
    @extend_schema(operation_id="get_me", summary="Who asks, through which door", responses=MeOutput)
    def get(self, request: Request) -> Response:
        identity = who_is(self.actor)
        me = {
            "who": identity,
            "organization": identity,
            "door": self.actor.door.value,
            "brains": brains_of(self.actor),
            "key": identity if identity.key_id else None,
        }
        return Response(MeOutput(me).data)


class StatsView(BrainView):
    permission_classes = (HasActor, IsPerson)

    @extend_schema(operation_id="get_stats", summary="Numbers about what the caller can read", responses=StatsOutput)
    def get(self, request: Request) -> Response:
        return Response(StatsOutput(thought_stats(self.actor)).data)
