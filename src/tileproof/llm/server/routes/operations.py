"""For those who run the server: health, metrics and the version."""

from __future__ import annotations

from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from ..endpoint import Call, Endpoint
from ..errors import unavailable
from ..service import VERSION, Phase
from ..sse import json_response


async def health(call: Call, body: None) -> Response:
    """Whether requests can be taken."""
    if call.service.phase is not Phase.READY:
        raise unavailable(call.service.phase.value)
    return Response("", media_type="text/plain")


async def version(call: Call, body: None) -> Response:
    return json_response({"version": VERSION})


async def metrics(call: Call, body: None) -> Response:
    return Response(call.service.metrics.page(), media_type=CONTENT_TYPE_LATEST)


ENDPOINTS: Final = (
    Endpoint("GET", "/health", "200 when requests are taken, 503 before and after", health, media_type="text/plain"),
    Endpoint("GET", "/ping", "The same", health, media_type="text/plain"),
    Endpoint("GET", "/version", "The version of tileproof", version),
    Endpoint("GET", "/metrics", "Metrics for Prometheus", metrics, media_type="text/plain"),
)
