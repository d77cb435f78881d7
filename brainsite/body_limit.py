"""A request's body is measured while it arrives: Django would spool all of it to disk before a view could say no."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

UPLOAD_PATH = "/api/v1/imports/"


class BodyLimit:
    """413 as soon as a body is known to be larger than its route takes: by its own word, or by its bytes."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = settings.UPLOAD_BYTES if scope["path"] == UPLOAD_PATH else settings.BODY_BYTES
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced.isdigit() and int(announced) > most:
            await refuse(send, most)
            return
        size = 0

        async def receive_counted() -> MutableMapping[str, Any]:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:  # it came in chunks, so nobody knew before
                await refuse(send, most)
                return {"type": "http.disconnect"}
            return message

        await self.app(scope, receive_counted, send)


async def refuse(send: Send, most: int) -> None:
    error = {"code": "too_large", "detail": f"At most {most:,} bytes.", "attr": None}
    body = json.dumps({"type": "client_error", "errors": [error], "request_id": None}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
