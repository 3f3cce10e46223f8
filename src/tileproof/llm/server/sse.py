"""Server-sent events, and noticing that a client has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, Final, TypeVar

from pydantic_core import to_json
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")
DONE: Final = b"data: [DONE]\n\n"
"""What ends a stream of OpenAI's API."""


def dumped(value: object) -> bytes:
    """A value as JSON. Numbers that JSON does not have become null."""
    return to_json(value, inf_nan_mode="null")


def event(value: object, name: str | None = None) -> bytes:
    """A server-sent event with a value as JSON."""
    data = b"data: " + dumped(value) + b"\n\n"
    return data if name is None else b"event: " + name.encode() + b"\n" + data


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(dumped(value), status, headers, "application/json")


class EventStream(Response):
    """An answer that is sent piece by piece, until the client leaves."""

    media_type = "text/event-stream"

    def __init__(self, pieces: AsyncGenerator[bytes, None], close: Callable[[], None]) -> None:
        """`close` is called in the end, even if the client left before the first piece and no piece was made."""
        super().__init__(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._pieces, self._close = pieces, close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await until_gone(receive, self._send(send))
        except ClientGone:
            pass
        finally:
            self._close()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._pieces) as pieces:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


class ClientGone(Exception):
    """The client has closed its connection: nobody waits for the answer."""


async def until_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Does some work, and cancels it when the client leaves. The body must have been read."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.wait((working, watching))
        if not working.cancelled():
            working.exception()  # else asyncio complains that nobody has looked at it


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
