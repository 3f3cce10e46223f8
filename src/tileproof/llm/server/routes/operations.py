"""For those who run the server: health, metrics, the version, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import FileResponse, Response

from ..endpoint import Call, Endpoint
from ..errors import unavailable
from ..service import VERSION, Phase
from ..sse import json_response

_PAGE: Final = Path(__file__).parents[1] / "page.html"


async def health(call: Call, body: None) -> Response:
    """Whether requests can be taken."""
    if call.service.phase is not Phase.READY:
        raise unavailable(call.service.phase.value)
    return Response("", media_type="text/plain")


async def version(call: Call, body: None) -> Response:
    return json_response({"version": VERSION})


async def metrics(call: Call, body: None) -> Response:
    return Response(call.service.metrics.page(), media_type=CONTENT_TYPE_LATEST)


async def page(call: Call, body: None) -> Response:
    return FileResponse(_PAGE, media_type="text/html", headers={
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    })  # fmt: skip


ENDPOINTS: Final = (
    Endpoint("GET", "/health", "200 when requests are taken, 503 before and after", health, media_type="text/plain"),
    Endpoint("GET", "/ping", "The same", health, media_type="text/plain"),
    Endpoint("GET", "/version", "The version of tileproof", version),
    Endpoint("GET", "/metrics", "Metrics for Prometheus", metrics, media_type="text/plain"),
    Endpoint("GET", "/", "The page", page, media_type="text/html"),
)
