"""A route as the server and its OpenAPI document know it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from .schemas.common import Body
from .service import Service


@dataclass(frozen=True, slots=True)
class Call:
    """A request on its way through the server: who sent it, and what it is called in logs and in the engine."""

    service: Service
    request: Request
    client: str
    """A name for the holder of its key."""

    def salt(self, own: str | None) -> str:
        """What must be equal for two requests to share cached prompts: else one could find out by the time it takes
        what others have asked."""
        client = "" if self.service.options.shares_prefixes else self.client
        return f"{client}:{own or ''}"

    def log(self, **values: object) -> None:
        """Adds to what the log says of the request."""
        self.request.state.log.update(values)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method of a path, and what answers it."""

    method: str
    path: str
    summary: str
    answer: Callable[[Call, Any], Coroutine[Any, Any, Response]]
    body: type[Body] | None = None
    media_type: str = "application/json"


def new_id(prefix: str) -> str:
    """A name that no other request has."""
    return f"{prefix}{secrets.token_hex(16)}"
