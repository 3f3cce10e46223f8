"""`/v1/models`: the model there is."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from ..endpoint import Call, Endpoint
from ..sse import json_response


async def models(call: Call, body: None) -> Response:
    """All names of the model."""
    options = call.service.options
    entries = [_entry(call, name) for name in (options.model, *options.aliases)]
    return json_response({"object": "list", "data": entries})


async def model(call: Call, body: None) -> Response:
    """The model by one of its names."""
    name: str = call.request.path_params["model"]
    call.service.check_model(name)
    return json_response(_entry(call, name))


def _entry(call: Call, name: str) -> dict[str, Any]:
    service = call.service
    return {
        "id": name, "object": "model", "created": service.created, "owned_by": "tileproof",
        "root": service.options.model, "parent": None, "max_model_len": service.engine.llm.max_seq_len,
    }  # fmt: skip


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/models", "The names of the model", models),
    Endpoint("GET", "/v1/models/{model:path}", "The model by its name", model),
)
