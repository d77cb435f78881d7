"""Whether this process lives, and whether it can serve. No detail for strangers: causes are in the logs."""

import structlog
from django.core.cache import cache
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


@never_cache
def livez(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers; `degraded` when only the cache does not, for captures and searches still work."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        log.warning("database unavailable", error=type(error).__name__)
        return JsonResponse({"status": "unavailable"}, status=503)
    try:
        cache.get("readyz")
    except RedisError as error:
        log.warning("cache unavailable", error=type(error).__name__)
        return JsonResponse({"status": "degraded"})
    return JsonResponse({"status": "ok"})
