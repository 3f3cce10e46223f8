"""`/v1/models`: the model there is."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.responses import Response

from ...errors import ModelError
from ...tokenizer.text import Text
from ..endpoint import Call, Endpoint
from ..sse import json_response


async def models(call: Call, body: None) -> Response:
    """All names of the model."""
    options = call.service.options
    entries = [await _entry(call, name) for name in (options.model, *options.aliases)]
    return json_response({"object": "list", "data": entries})


async def model(call: Call, body: None) -> Response:
    """The model by one of its names."""
    name: str = call.request.path_params["model"]
    call.service.check_model(name)
    return json_response(await _entry(call, name))


async def _entry(call: Call, name: str) -> dict[str, Any]:
    service = call.service
    llm = service.engine.llm
    return {
        "id": name, "object": "model", "created": service.created, "owned_by": "tileproof",
        "root": service.options.model, "parent": None, "max_model_len": llm.max_seq_len,
        "sampling": dict(service.options.sampling),
        "can_switch_thinking": await asyncio.to_thread(_can_switch_thinking, llm.text),
    }  # fmt: skip


def _can_switch_thinking(text: Text) -> bool:
    """Whether the chat template has a switch for thinking. The first call compiles the template."""
    try:
        return text.template.can_think
    except ModelError:
        return False  # the model has no chat template, or none that can be used: a chat reports it


ENDPOINTS: Final = (
    Endpoint("GET", "/v1/models", "The names of the model", models),
    Endpoint("GET", "/v1/models/{model:path}", "The model by its name", model),
)
