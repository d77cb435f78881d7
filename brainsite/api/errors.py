"""One shape for every refusal: {type, errors: [{code, detail, attr}], request_id}, whatever raised it.

A thing that is not there and a thing that this actor may not see give the same bytes but for the request's id.
"""

import errno
from dataclasses import asdict
from typing import Any, cast

import structlog
from django.core import exceptions as django_errors
from django.core.signals import got_request_exception
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, UnreadablePostError
from drf_standardized_errors.formatter import flatten_errors
from drf_standardized_errors.handler import ExceptionHandler
from drf_standardized_errors.types import Error, ErrorResponse, ErrorType, ExceptionHandlerContext
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts import errors
from brainsite.api.refusal import Refusal

RETRY_AFTER_SECONDS = 5
WHOLE = api_settings.NON_FIELD_ERRORS_KEY
ATTR_CHARACTERS, DETAIL_CHARACTERS = 300, 1_000
PRIVILEGE, DISK_FULL = "42501", "53100"  # SQLSTATE
STATUSES = {
    errors.Invalid: 400,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Stale: 412,
    errors.TooLarge: 413,
    errors.Unavailable: 503,
}
NO_KEY = "A valid key is needed, in the header x-brain-key or as Authorization: Bearer."
NOT_ALLOWED = "This key may not do that."

log = structlog.get_logger(__name__)


def refusal_for(error: errors.BrainError) -> Refusal:
    """What a verb's refusal looks like here. A thing that is named in a body or a query and is not there is a 400."""
    status = STATUSES[type(error)]
    if status == 404 and error.field is not None:
        status = 400
    wait = RETRY_AFTER_SECONDS if status == 503 else None
    return Refusal(status, error.code, error.message, attr=error.field, wait=wait)


class Handler(ExceptionHandler):
    def convert_known_exceptions(self, exc: Exception) -> Exception:
        converted = known(exc)
        if isinstance(exc, DatabaseError | InterfaceError | OSError):
            log.warning("request refused", error=type(exc).__name__, sqlstate=sqlstate(exc))
        if isinstance(converted, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
            refusal = Refusal(401, "not_authenticated", NO_KEY)
            refusal.auth_header = getattr(exc, "auth_header", None)  # type: ignore[attr-defined]
            return refusal
        return converted

    def format_exception(self, exc: exceptions.APIException) -> dict[str, Any]:
        request_id = getattr(self.context["request"], "request_id", None)
        return {**asdict(ErrorResponse(type_of(exc), errors_in(exc))), "request_id": request_id}

    def report_exception(self, exc: exceptions.APIException, response: Response) -> None:
        """A crash is reported with its traceback; a server that says 503 or 507 has not crashed."""
        request = self.context["request"]
        if exc.status_code >= 500 and not isinstance(exc, Refusal) and request is not None:
            got_request_exception.send(sender=None, request=request._request)


def exception_handler(exc: Exception, context: ExceptionHandlerContext) -> Response | None:
    response: Response | None = Handler(exc, context).run()
    return response


def known(exc: Exception) -> Exception:
    """The answer to an exception that is nobody's crash; any other one as it is."""
    match exc:
        case errors.BrainError():
            return refusal_for(exc)
        case Http404():
            return exceptions.NotFound()
        case django_errors.PermissionDenied():
            return exceptions.PermissionDenied()
        case django_errors.RequestDataTooBig():
            return Refusal(413, "too_large", "This request is too large.")
        case django_errors.SuspiciousOperation() | django_errors.BadRequest() | UnreadablePostError():
            return exceptions.ParseError("This request cannot be read.")
        case OSError() if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            return Refusal(507, "disk_full", "The server's disk is full.", wait=RETRY_AFTER_SECONDS)
        case OperationalError() if sqlstate(exc) == DISK_FULL:
            return Refusal(507, "disk_full", "The server's disk is full.", wait=RETRY_AFTER_SECONDS)
        case OperationalError() | InterfaceError():
            message = "The database does not answer; the same request may succeed later."
            return Refusal(503, "unavailable", message, wait=RETRY_AFTER_SECONDS)
        case DatabaseError() if sqlstate(exc) == PRIVILEGE:  # the second wall: a role's missing right
            return Refusal(403, "permission_denied", NOT_ALLOWED)
        case DataError():  # a value that passed every check and that Postgres cannot keep
            return Refusal(400, "invalid", "A value cannot be stored.")
        case IntegrityError():  # two requests at once: the constraint decided
            return Refusal(409, "conflict", "Another request was first.")
    return exc


def errors_in(exc: Exception) -> list[Error]:
    """Code, detail and field of everything that a refusal names."""
    if isinstance(exc, errors.BrainError):
        exc = refusal_for(exc)
    if isinstance(exc, Refusal):
        found = [Error(exc.code, str(exc.detail), exc.attr)]
    else:
        found = flatten_errors(cast(exceptions.APIException, exc).detail)
    return [
        Error(
            code=each.code,
            detail=storable(each.detail, DETAIL_CHARACTERS),
            attr=attr_of(each.attr),
        )
        for each in found
    ]


def attr_of(attr: str | None) -> str | None:
    """The field alone: the framework also has a name for a list or an object as a whole."""
    named = (attr or "").removesuffix(WHOLE).removesuffix(".")
    return storable(named, ATTR_CHARACTERS) if named else None


def sqlstate(exc: Exception) -> str | None:
    return getattr(exc.__cause__, "sqlstate", None)


def type_of(exc: exceptions.APIException) -> ErrorType:
    if exc.status_code >= 500:
        return "server_error"
    named = isinstance(exc, Refusal) and exc.status_code == 400 and exc.attr is not None
    return "validation_error" if named or isinstance(exc, exceptions.ValidationError) else "client_error"


def storable(text: str, most: int) -> str:
    """Names that a caller made up come back in messages: never longer than this, and always valid UTF-8."""
    cut = text if len(text) <= most else text[:most] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8")
