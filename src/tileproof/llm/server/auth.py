"""Who may call the server: API keys, and the names under which browsers may reach it."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from typing import Final

from starlette.requests import HTTPConnection

from .errors import ApiError
from .page.files import PAGE_PATHS

OPEN_PATHS: Final = frozenset({"/health", "/ping", "/favicon.ico", *PAGE_PATHS})
"""What is answered without a key: it says nothing about requests, and balancers of load have no keys."""


class Keys:
    """The keys of a server. Only their digests are kept and compared, all of them each time: neither the time of a
    comparison nor a picture of memory gives one away."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._digests = [_digest(key.encode()) for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def client_of(self, connection: HTTPConnection) -> str:
        """A name for whoever holds the key of a request; empty on a server without keys."""
        if not self._digests:
            return ""
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        sent = token.strip() if scheme.lower() == "bearer" else connection.headers.get("x-api-key", "")
        digest = _digest(sent.encode("latin-1", "replace"))
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        if not any(matches):
            cure = "send one as Authorization: Bearer KEY or x-api-key: KEY"
            message = f"the API key is wrong; {cure}" if sent else f"this server wants an API key; {cure}"
            headers = {"WWW-Authenticate": "Bearer"}
            raise ApiError(401, message, code="invalid_api_key", headers=headers)
        return digest.hex()[:16]


def check_host(connection: HTTPConnection, allowed: Sequence[str] | None) -> None:
    """Rejects names that the server does not have: a page whose name a stranger lets point here is of its origin."""
    if allowed is None:
        return
    host = connection.headers.get("host", "")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if not (is_loopback(name) or name.lower() in allowed):
        message = f"this server is not called {name[:100]!r}; start it with --allow-host NAME, or with API keys"
        raise ApiError(403, message, code="host_not_allowed")


def is_loopback(name: str) -> bool:
    """Whether a host is this machine and no other can reach it."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
