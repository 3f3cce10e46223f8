"""Errors as clients receive them: OpenAI's error object, or Anthropic's on its routes.

Every mistake of a client becomes an `ApiError`. Nothing else of the server reaches a client: neither the shape in which
a library reports what is wrong, nor a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError, to_json
from starlette.responses import Response

from tileproof.diagnostics.codes import Code

from ..errors import ModelError

_OPENAI_TYPES: Final = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error",
    500: "server_error", 503: "service_unavailable_error",
}  # fmt: skip
_ANTHROPIC_TYPES: Final = {
    401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
    429: "rate_limit_error", 500: "api_error", 503: "overloaded_error",
}  # fmt: skip
ANTHROPIC_PATH: Final = "/v1/messages"


class ApiError(Exception):
    """A request that is not answered: its status, and what the client is told."""

    def __init__(
        self, status: int, message: str, *, param: str | None = None, code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code
        self.headers = dict(headers or {})

    def as_openai(self) -> dict[str, Any]:
        """The error as OpenAI's API has it."""
        kind = _OPENAI_TYPES.get(self.status, "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def as_anthropic(self) -> dict[str, Any]:
        """The error as Anthropic's API has it."""
        kind = _ANTHROPIC_TYPES.get(self.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": self.message}}

    def response(self, path: str) -> Response:
        """The answer on a route."""
        is_anthropic = path == ANTHROPIC_PATH or path.startswith(f"{ANTHROPIC_PATH}/")
        body = self.as_anthropic() if is_anthropic else self.as_openai()
        return Response(to_json(body), self.status, self.headers, "application/json")


def bad_request(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A request that can never be answered as it is."""
    return ApiError(400, message, param=param, code=code)


def busy(message: str, seconds: int = 1) -> ApiError:
    """More requests than the server takes at a time: try again later."""
    return ApiError(429, message, code="rate_limit_exceeded", headers={"Retry-After": str(seconds)})


def unavailable(message: str, seconds: int = 5) -> ApiError:
    """No request can be answered now."""
    return ApiError(503, message, code="service_unavailable", headers={"Retry-After": str(seconds)})


def of_model(error: ModelError, prompt: str | None = None) -> ApiError:
    """What the engine rejects. `prompt` is the field with the prompt. A broken model is no fault of the client's."""
    (diagnostic,) = error.diagnostics
    if diagnostic.code in (Code.PROMPT, Code.SAMPLING, Code.CHAT_TEMPLATE, Code.GRAMMAR):
        return bad_request(error.line, None if diagnostic.code == Code.SAMPLING else prompt)
    return ApiError(500, error.line)


def wrong(field: str, message: str) -> PydanticCustomError:
    """What a check of several fields together raises, naming the one that is to blame."""
    return PydanticCustomError("field", "{message}", {"message": message, "field": field})


def of_validation(error: ValidationError, body: object) -> ApiError:
    """What is wrong with the fields of a body: one sentence on the first mistake, and where it is."""
    found = error.errors(include_url=False)
    places = [_place(each, body) for each in found]
    deepest = max(places, key=len)
    sentences = dict.fromkeys(_sentence(each) for each, place in zip(found, places, strict=True) if place == deepest)
    param = _path(deepest)
    told = "; or ".join(list(sentences)[:3])
    names_it = not param or (len(deepest) == 1 and told.startswith(param))
    return bad_request(told if names_it else f"{param}: {told}", param or None)


def _place(error: ErrorDetails, body: object) -> tuple[str | int, ...]:
    """Where in the body it is. Names of the alternatives of a union, which pydantic puts between, are no part of it."""
    place: list[str | int] = []
    at = body
    for part in error["loc"]:
        known: Any = at if isinstance(at, dict) else dict(enumerate(at)) if isinstance(at, list) else {}
        if part in known:
            at = known[part]
        elif error["type"] != "missing" or part != error["loc"][-1]:
            continue
        place.append(part)
    if error["type"] == "field":
        place.append(error["ctx"]["field"])
    return tuple(place)


def _sentence(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "this field is required"
        case "field":
            return error["msg"]
        case "value_error":
            return error["msg"].removeprefix("Value error, ")
        case "model_type" | "dict_type" | "model_attributes_type":
            return "expected an object"
        case _:
            message = error["msg"].replace("Input should be", "expected").replace("a valid i", "an i")
            message = message.replace("a valid ", "a ").replace(" after validation", "")
            return message[:1].lower() + message[1:]


def _path(place: Iterable[str | int]) -> str:
    """A place as clients write it: messages[0].content."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """The known name that an unknown one is probably meant to be."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.85)
    return close[0] if close else None
