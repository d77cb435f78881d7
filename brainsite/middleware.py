"""Every request has an id: taken from the caller when it is one, else made; in the answer and in every log line.

And what a log line says of a request: never its words.
"""

import re
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django_structlog.middlewares import RequestMiddleware

from accounts.ids import uuid7

USABLE = re.compile(r"[A-Za-z0-9_.-]{8,64}")


class RequestIdMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_X_REQUEST_ID", "")  # not .headers: that one is remembered
        request_id = given if USABLE.fullmatch(given) else str(uuid7())
        request.META["HTTP_X_REQUEST_ID"] = request_id  # django-structlog binds this one
        request.request_id = request_id  # type: ignore[attr-defined]
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response


class RequestLogMiddleware(RequestMiddleware):
    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Method and route: the path may name a memory by its slug, and behind the ? stands what somebody asks for."""
        try:
            return f"{request.method} /{resolve(request.path_info).route}"
        except Resolver404:
            return f"{request.method} (no route)"
