"""Connections with deadlines: one that sends nothing, or takes nothing, is closed.

uvicorn waits as long as it takes for the headers of a request and for a client to take its answer. Ten thousand
connections that do nothing would then leave no file descriptor for clients that do something.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from pydantic_core import to_json
from uvicorn.protocols.http.h11_impl import H11Protocol

from .errors import bad_request
from .options import Limits


class Connections:
    """The connections of a server that have no request in progress, those that have waited longest first."""

    def __init__(self, limits: Limits, most: int) -> None:
        """At most so many are open: the system may have fewer file descriptors than the limits allow."""
        self.limits, self._most = limits, most
        self.count = 0
        self._idle: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        """Counts a connection. One too many costs the longest idle one its place."""
        self.count += 1
        self._idle[connection] = None
        if self.count > self._most:
            longest = next(iter(self._idle))
            del self._idle[longest]
            longest.transport.abort()

    def closed(self, connection: Connection) -> None:
        self.count -= 1
        self._idle.pop(connection, None)

    def is_idle(self, connection: Connection) -> bool:
        return connection in self._idle

    def began(self, connection: Connection) -> None:
        """A connection has a request in progress."""
        self._idle.pop(connection, None)

    def ended(self, connection: Connection) -> None:
        """A connection has none any more."""
        self._idle[connection] = None


class Connection(H11Protocol):
    """A connection of uvicorn's, with deadlines for what the client sends and takes."""

    _all: Connections

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._header_deadline: asyncio.TimerHandle | None = None
        self._write_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._all.opened(self)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.closed(self)
        self._stop_header_deadline()
        self._stop_write_deadline()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before and not self.cycle.response_complete:
            self._stop_header_deadline()
            self._all.began(self)
        elif self._all.is_idle(self):
            self._await_headers()

    def on_response_complete(self) -> None:
        if not self.transport.is_closing():
            self._all.ended(self)
        before = self.cycle
        super().on_response_complete()
        if self.cycle is not before:  # the next request was there already
            self._all.began(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_deadline = self.loop.call_later(self._all.limits.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_write_deadline()

    def send_400_response(self, msg: str) -> None:
        """Rejects what is no HTTP."""
        body = to_json(bad_request("this is not a valid HTTP request", code="invalid_http").as_openai())
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for part in (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def _await_headers(self) -> None:
        if self._header_deadline is None:
            self._header_deadline = self.loop.call_later(self._all.limits.header_timeout, self.transport.close)

    def _stop_header_deadline(self) -> None:
        if self._header_deadline is not None:
            self._header_deadline.cancel()
            self._header_deadline = None

    def _stop_write_deadline(self) -> None:
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None


def connection_type(connections: Connections) -> type[Connection]:
    """The class of the connections of a server: uvicorn makes them itself, and knows nothing to pass them."""
    return type("Connection", (Connection,), {"_all": connections})
