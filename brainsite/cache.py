"""Django's cache on Valkey or Redis, with one client and its pool of connections for the whole process.

Django makes a client for every call, which takes longer than the call itself; and under ASGI a cache for every request,
which connects anew each time.
"""

from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.utils.functional import cached_property

_shared: dict[tuple[str, ...], "_Client"] = {}  # by servers; clients are safe to use from several threads


class _Client(RedisCacheClient):
    def __init__(self, servers: Any, **options: Any) -> None:
        super().__init__(servers, **options)
        self._clients: dict[int, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        index = self._get_connection_pool_index(write)  # type: ignore[attr-defined]
        if index not in self._clients:
            self._clients[index] = super().get_client(key, write=write)
        return self._clients[index]


class SharedRedisCache(RedisCache):
    @cached_property
    def _cache(self) -> _Client:
        servers: list[str] = self._servers  # type: ignore[attr-defined]
        return _shared.setdefault(tuple(servers), _Client(servers, **self._options))  # type: ignore[attr-defined]
