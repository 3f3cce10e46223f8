"""The body of a request: read within limits, and brought into the form of its route."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from .errors import ApiError, bad_request, of_validation
from .options import Limits

Body = TypeVar("Body", bound=BaseModel)


async def read_body(request: Request, limits: Limits) -> bytes:
    """The bytes of a body. A larger one is not read to its end, and a slow one not waited for."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limits.max_body:
        raise _too_large(limits)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a web page of another origin can send any other kind without being asked
        told = "send JSON with the header Content-Type: application/json"
        raise ApiError(415, f"{told}, not {kind}" if kind else told, code="unsupported_media_type")
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_timeout):
            async for part in request.stream():
                size += len(part)
                if size > limits.max_body:
                    raise _too_large(limits)
                parts.append(part)
    except TimeoutError:
        close = {"Connection": "close"}
        message = f"the body did not arrive within {limits.body_timeout:g} s"
        raise ApiError(408, message, code="request_timeout", headers=close) from None
    return b"".join(parts)


def in_form(body: bytes, form: type[Body]) -> Body:
    """A body in some form."""
    try:
        fields: Any = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise bad_request(f"the body is not valid JSON: {error}", code="invalid_json") from None
    try:
        return form.model_validate(fields)
    except ValidationError as error:
        raise of_validation(error, fields) from None


def _too_large(limits: Limits) -> ApiError:
    message = f"the body is larger than {limits.max_body} bytes, the limit of this server"
    return ApiError(413, message, code="request_too_large")

