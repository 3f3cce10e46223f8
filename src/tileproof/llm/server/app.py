"""The ASGI application: routes, and what every request goes through."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .auth import OPEN_PATHS, check_host
from .bodies import in_form, read_body
from .endpoint import Call, Endpoint
from .errors import ApiError, busy
from .openapi import document
from .routes import chat, completions, messages, models, operations, page, responses, tokens
from .service import Service
from .sse import ClientGone, json_response, until_gone

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *models.ENDPOINTS, *completions.ENDPOINTS, *chat.ENDPOINTS, *responses.ENDPOINTS, *messages.ENDPOINTS,
    *tokens.ENDPOINTS, *operations.ENDPOINTS,
)  # fmt: skip
LOG: Final = logging.getLogger("tileproof.server")


def application(service: Service) -> ASGIApp:
    """The application that serves a model."""
    described = document(ENDPOINTS)

    async def openapi(call: Call, body: None) -> Response:
        return json_response(described)

    endpoints = (*ENDPOINTS, *page.ENDPOINTS, Endpoint("GET", "/openapi.json", "This document", openapi))
    routes: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        routes.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    origins = service.options.allowed_origins
    cors = [Middleware(CORSMiddleware, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"])]
    app = Starlette(
        routes=[Route(path, _route(service, methods), methods=list(methods)) for path, methods in routes.items()],
        middleware=cors if origins else [],
        exception_handlers={HTTPException: _of_routing, ApiError: _of_api, Exception: _of_nothing_foreseen},
    )
    app.router.redirect_slashes = False
    return _Guard(app, service)


def _route(service: Service, methods: dict[str, Endpoint]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        call = Call(service, request, _client(service, request))
        if endpoint.body is None:
            return await endpoint.answer(call, None)
        service.engine  # noqa: B018 - a body that cannot be answered is not read
        body = await read_body(request, service.limits)
        if service.options.logs_prompts:
            LOG.info("%s %s %s", request.method, request.url.path, body.decode("utf-8", "replace"))
        try:
            return await until_gone(request.receive, endpoint.answer(call, in_form(body, endpoint.body)))
        except ClientGone:
            return Response(status_code=499)  # which nobody receives

    return answer


def _client(service: Service, request: Request) -> str:
    check_host(request, service.options.allowed_hosts)
    return "" if request.url.path in OPEN_PATHS else service.keys.client_of(request)


async def _of_routing(request: Request, error: Exception) -> Response:
    """Paths that there are not, and methods that they have not."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 405:
        message, code = f"{request.method} is not allowed for {path}", "method_not_allowed"
    else:
        message, code = f"there is nothing at {path[:200]}; /openapi.json lists what there is", "not_found"
    return ApiError(error.status_code, message, code=code, headers=dict(error.headers or {})).response(path)


async def _of_api(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error.response(request.url.path)


async def _of_nothing_foreseen(request: Request, error: Exception) -> Response:
    """Says no more than that; the error is raised further, to be logged."""
    return ApiError(500, "the server failed; its log says why").response(request.url.path)


class _Guard:
    """What is outermost: counts requests, logs each in a line, and hides what nobody foresaw."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began, log = time.perf_counter(), dict[str, Any]()
        scope.setdefault("state", {})["log"] = log
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        path: str = scope["path"]
        self._running += 1
        try:
            if self._running > self._service.limits.max_requests and path not in OPEN_PATHS:
                raise busy(f"{self._service.limits.max_requests} requests are being answered; try again")
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            status = 499
        except ApiError as error:
            await error.response(path)(scope, receive, watched)
        except Exception:
            LOG.exception("%s %s failed", scope["method"], path)
        finally:
            self._running -= 1
            known = path if status not in (404, 405) else "other"
            self._service.metrics.answered(scope["method"], known, status)
            if path not in OPEN_PATHS and path != "/metrics":
                values = "".join(f" {name}={value}" for name, value in log.items())
                spent = 1e3 * (time.perf_counter() - began)
                LOG.info("%s %s %d %.0f ms%s", scope["method"], json.dumps(path)[1:-1], status, spent, values)
