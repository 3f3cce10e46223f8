"""The OpenAPI document: what each route takes, and which errors it may answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from .endpoint import Endpoint
from .service import VERSION

_ERRORS: Final = {
    400: "The request is wrong", 401: "The API key is missing or wrong", 403: "The Host header is not allowed",
    404: "There is no such model or path", 408: "The request took too long", 413: "The body is too large",
    415: "The body is not JSON", 429: "Too many requests: try again after the time in Retry-After",
    503: "The model is being loaded, or the server is shutting down",
}  # fmt: skip
_REFERENCE: Final = "#/components/schemas/{model}"


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The document for some routes."""
    bodies = list(dict.fromkeys(endpoint.body for endpoint in endpoints if endpoint.body is not None))
    _, schemas = models_json_schema([(body, "validation") for body in bodies], ref_template=_REFERENCE)
    text = {"type": "string"}
    nullable = {"type": ["string", "null"]}
    error = {"message": text, "type": text, "param": nullable, "code": nullable}
    definitions = schemas.get("$defs", {}) | {
        "Error": {
            "type": "object", "required": ["error"],
            "properties": {"error": {"type": "object", "required": ["message", "type"], "properties": error}},
        },
    }  # fmt: skip
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, path)
    return {
        "openapi": "3.1.0",
        "info": {"title": "tileproof", "version": VERSION, "description": "A model by OpenAI's and Anthropic's APIs."},
        "paths": paths,
        "components": {
            "schemas": definitions, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }  # fmt: skip


def _operation(endpoint: Endpoint, path: str) -> dict[str, Any]:
    failed = {"application/json": {"schema": {"$ref": _REFERENCE.format(model="Error")}}}
    done: dict[str, Any] = {endpoint.media_type: {}}
    if endpoint.body is not None and "stream" in endpoint.body.model_fields:
        done["text/event-stream"] = {}
    responses: dict[str, Any] = {"200": {"description": "The answer", "content": done}}
    responses |= {str(status): {"description": text, "content": failed} for status, text in _ERRORS.items()}
    operation: dict[str, Any] = {"summary": endpoint.summary, "responses": responses}
    if endpoint.body is not None:
        schema = {"$ref": _REFERENCE.format(model=endpoint.body.__name__)}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    names = re.findall(r"\{(\w+)\}", path)
    if names:
        operation["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    return operation
