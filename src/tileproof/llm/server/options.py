"""What a server allows and how it is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one client and all clients together may cost. Times are in seconds."""

    max_body: int = 16 << 20
    """Bytes of a request's body."""
    max_tokens: int | None = None
    """Tokens that one answer may have; None for as many as the context holds."""
    max_choices: int = 128
    """Sequences that one request may generate: its prompts times `n`."""
    max_requests: int = 1024
    """Requests that are answered at a time."""
    max_queue: int = 1024
    """Sequences that wait for the engine."""
    max_connections: int = 8192
    """Open connections; beyond them the one that has been idle longest is closed."""
    header_timeout: float = 15.0
    """From a connection's opening, or the first byte of its next request, to the end of the request's headers."""
    body_timeout: float = 60.0
    """For the whole body of a request."""
    idle_timeout: float = 75.0
    """Between two requests of a connection."""
    write_timeout: float = 60.0
    """For a client to take what was sent."""
    request_timeout: float | None = None
    """From the arrival of a request to its last token."""
    drain_timeout: float = 30.0
    """For running requests, once the server is told to end."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server presents its model, and to whom."""

    model: str
    """The name of the model in `/v1/models` and in answers."""
    aliases: tuple[str, ...] = ()
    """Other names that requests may use for it."""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Sampling parameters of the model, for requests that leave them out."""
    limits: Limits = field(default_factory=Limits)
    api_keys: tuple[str, ...] = ()
    """Keys of which each request must carry one; without any, everyone is answered."""
    allowed_hosts: tuple[str, ...] | None = None
    """Names that the Host header may have; None for any."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of web pages that may call the server (CORS)."""
    metrics_prefix: str = "vllm"
    shares_prefixes: bool = False
    """Whether clients with different keys share cached prompts."""
    logs_prompts: bool = False
    warms_up: bool = True
    """Whether steps are compiled at the start."""
