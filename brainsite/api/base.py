"""What all routes share: strict query strings, the actor, pages, ETags and Idempotency-Keys; no answer is cached."""

import json
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, ClassVar, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.actor import Actor
from accounts.errors import Invalid, Stale
from brainsite.api.cursors import read_cursor, write_cursor
from brainsite.api.fields import QueryInteger, StrictSerializer, Text
from memory.memories import PAGE_MOST, Cursor
from memory.types import Idempotency

Row = TypeVar("Row")
ETAG = re.compile(r'"([^"]*)"')


class AlwaysJSON(BaseContentNegotiation):
    """Whatever is accepted, JSON is what there is."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        kind = request.content_type.partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class NoParameters(StrictSerializer):
    pass


class PageParameters(StrictSerializer):
    limit = QueryInteger(min_value=1, max_value=PAGE_MOST, default=20)
    cursor = Text(required=False, help_text="next_cursor of the page before.")


class BrainView(APIView):
    """`parameters` names what a method takes in its query string; anything else there is refused."""

    content_negotiation_class = AlwaysJSON
    http_method_names = ["get", "post", "patch", "delete", "head"]
    parameters: ClassVar[dict[str, type[StrictSerializer]]] = {}
    query: dict[str, Any]

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            request.META.setdefault("CONTENT_LENGTH", str(settings.BODY_BYTES))  # else it counts as no body at all
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else request.method or ""
        self.query = query_of(request, self.parameters.get(method, NoParameters))

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        final["Cache-Control"] = "no-store"
        # one log line a request, by its route; Django's own would name the path, which may hold a slug
        final._has_been_logged = True  # type: ignore[attr-defined]
        return final

    @property
    def actor(self) -> Actor:
        return cast(Actor, self.request.auth)  # HasActor let nothing else through

    def body(self, serializer: type[StrictSerializer]) -> dict[str, Any]:
        """The body, checked. Raises ValidationError, ParseError, and a 413."""
        checked = serializer(data=self.request.data)
        checked.is_valid(raise_exception=True)
        values: dict[str, Any] = checked.validated_data
        return values

    def idempotency(self) -> Idempotency | None:
        """The Idempotency-Key with a hash of what was asked: the route and the body, whatever its spacing and order."""
        key = self.request.headers.get("Idempotency-Key")
        if key is None:
            return None
        body = json.dumps(self.request.data, sort_keys=True, separators=(",", ":"))
        return Idempotency(key, self.hash_of(body.encode()))

    def hash_of(self, body: bytes) -> bytes:
        return sha256(self.request.path.encode() + b"\n" + body).digest()

    def expected_revision(self) -> int | None:
        """The revision in If-Match; None without it and for `*`. Raises Invalid, and Stale for a foreign tag."""
        given = self.request.headers.get("If-Match")
        if given is None or given.strip() == "*":
            return None
        tag = ETAG.fullmatch(given.strip())
        if tag is None:
            raise Invalid('Expected the ETag of an answer, such as "3".', field="If-Match")
        if not re.fullmatch(r"[0-9]{1,9}", tag[1]):
            raise Stale("This is no revision of it.", field="If-Match")
        return int(tag[1])

    def cursor(self) -> Cursor | None:
        text = self.query.get("cursor")
        return None if text is None else read_cursor(self.actor, self.request.path, text)

    def whole(self, serializer: type[serializers.Serializer[Any]], rows: Sequence[Any]) -> Response:
        """A list that is short by nature, in the shape of a page."""
        return Response({"results": serializer(rows, many=True).data, "next_cursor": None})

    def page(
        self,
        serializer: type[serializers.Serializer[Any]],
        rows: Sequence[Row],
        place: Callable[[Row], Cursor],
    ) -> Response:
        """One page of `rows`, of which there is one more than the limit when another page follows."""
        limit: int = self.query["limit"]
        shown = rows[:limit]
        last = place(shown[-1]) if len(rows) > limit else None
        following = last and write_cursor(self.actor, self.request.path, last.created_at, last.id)
        return Response({"results": serializer(shown, many=True).data, "next_cursor": following})


class UnknownRouteView(BrainView):
    """What is no route of this API, in its one shape of errors."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound(None if request.path.endswith("/") else "Not found: every route ends with a slash.")


def query_of(request: Request, serializer: type[StrictSerializer]) -> dict[str, Any]:
    """The query string, checked. Only lists may be given more than once."""
    fields = serializer().fields
    values: dict[str, Any] = {}
    twice: dict[str, Any] = {}
    for name, given in request.query_params.lists():
        if isinstance(fields.get(name), serializers.ListField):
            values[name] = given
        elif len(given) == 1:
            values[name] = given[0]
        else:
            twice[name] = [serializers.ErrorDetail("Given more than once.", "repeated")]
    if twice:
        raise serializers.ValidationError(twice)
    checked = serializer(data=values)
    checked.is_valid(raise_exception=True)
    found: dict[str, Any] = checked.validated_data
    return found


def page_of(name: str, row: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """The shape of a page, for the schema."""
    return inline_serializer(
        name,
        {
            "results": row(many=True),
            "next_cursor": serializers.CharField(allow_null=True, help_text="null on the last page."),
        },
    )


def etag(response: Response, revision: int) -> Response:
    response["ETag"] = f'"{revision}"'
    return response
