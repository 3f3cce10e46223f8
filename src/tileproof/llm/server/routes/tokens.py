"""`/tokenize` and `/detokenize`: text to tokens and back, as vLLM has them."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.responses import Response

from ...errors import ModelError
from ..conversation import chat_prompt, of_chat, text_tokens
from ..endpoint import Call, Endpoint
from ..errors import bad_request, of_model
from ..schemas.tokens import DetokenizeRequest, TokenizeRequest
from ..sse import json_response


async def tokenize(call: Call, body: TokenizeRequest) -> Response:
    """The tokens of a text or of a chat."""
    service = call.service
    service.check_model(body.model)
    llm = service.engine.llm
    if body.messages is not None:
        tokens = (await chat_prompt(service, of_chat(body))).tokens
    else:
        tokens = await text_tokens(service, body.prompt or "", start=body.add_special_tokens is not False)
    answer: dict[str, Any] = {"count": len(tokens), "max_model_len": llm.max_seq_len, "tokens": tokens}
    if body.return_token_strs:
        answer["token_strs"] = [llm.text.token(token) for token in tokens]
    return json_response(answer)


async def detokenize(call: Call, body: DetokenizeRequest) -> Response:
    """The text of tokens, special ones included."""
    service = call.service
    service.check_model(body.model)
    text = service.engine.llm.text
    wrong = next((token for token in body.tokens if token >= text.tokens), None)
    if wrong is not None:
        raise bad_request(f"there is no token {wrong}; tokens are 0 to {text.tokens - 1}", "tokens")
    try:
        prompt = await asyncio.to_thread(text.decode, body.tokens, special=True)
    except ModelError as error:
        raise of_model(error, "tokens") from None
    return json_response({"prompt": prompt})


ENDPOINTS: Final = (
    Endpoint("POST", "/tokenize", "The tokens of a text or a chat", tokenize, TokenizeRequest),
    Endpoint("POST", "/detokenize", "The text of tokens", detokenize, DetokenizeRequest),
)
