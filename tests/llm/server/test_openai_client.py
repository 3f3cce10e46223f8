"""The `openai` package against a server, as its documentation uses it: on a tiny random model, and on SmolLM2."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from support.servers import Server, serving
from tileproof.llm import ModelError
from tileproof.llm.loader.find import resolve

QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module", params=["tiny", pytest.param("SmolLM2", marks=pytest.mark.slow)])
def running(request: pytest.FixtureRequest, server: Server) -> Iterator[Server]:
    """A server with each of the models."""
    if request.param == "tiny":
        yield server
        return
    try:
        path = resolve("smollm2-135m-instruct")
    except ModelError as error:
        pytest.skip(f"SmolLM2 is not here: {error.line}")
    with serving(Path(path), "--max-seq-len", "512") as started:
        yield started


@pytest.fixture
def client(running: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def name(client: OpenAI) -> str:
    """The name of the model that is served."""
    (only,) = client.models.list().data
    assert client.models.retrieve(only.id) == only
    return only.id


@pytest.fixture
def knows_france(name: str) -> bool:
    """Whether the model is trained, and its answers are worth a look."""
    return "SmolLM2" in name


def test_chat(client: OpenAI, name: str, knows_france: bool) -> None:
    answer = client.chat.completions.create(
        model=name, messages=[{"role": "developer", "content": "Be brief."}, {"role": "user", "content": QUESTION}],
        max_completion_tokens=24, temperature=0, n=2, logprobs=True, top_logprobs=2,
    )  # fmt: skip
    assert len(answer.choices) == 2
    for choice in answer.choices:
        assert choice.message.content is not None
        assert choice.logprobs is not None
        assert choice.logprobs.content is not None
        assert len(choice.logprobs.content[0].top_logprobs) == 2
        assert "Paris" in choice.message.content or not knows_france
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_chat_in_a_stream(client: OpenAI, name: str) -> None:
    fields = {"model": name, "messages": [{"role": "user", "content": QUESTION}], "max_tokens": 12, "temperature": 0}
    whole = client.chat.completions.create(**fields).choices[0].message.content
    *pieces, last = client.chat.completions.create(**fields, stream=True, stream_options={"include_usage": True})
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == whole
    assert pieces[-1].choices[0].finish_reason is not None
    assert last.usage is not None
    assert last.usage.completion_tokens > 0


def test_completions(client: OpenAI, name: str) -> None:
    fields = {"model": name, "prompt": "The capital of France is", "max_tokens": 3, "temperature": 0}
    whole = client.completions.create(**fields, logprobs=1, echo=True).choices[0]
    pieces = [each.choices[0].text for each in client.completions.create(**fields, stream=True)]
    assert whole.text == "The capital of France is" + "".join(pieces)
    assert whole.logprobs is not None
    assert whole.logprobs.tokens is not None
    assert "".join(whole.logprobs.tokens) == whole.text


def test_responses(client: OpenAI, name: str, knows_france: bool) -> None:
    fields = {"model": name, "instructions": "Be brief.", "input": QUESTION, "max_output_tokens": 24, "temperature": 0}
    whole = client.responses.create(**fields)
    first, *events, last = client.responses.create(**fields, stream=True)
    assert first.type == "response.created"
    assert last.type in ("response.completed", "response.incomplete")
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text
    assert last.response.output_text == whole.output_text
    assert "Paris" in whole.output_text or not knows_france


class Place(BaseModel):
    """A place, as a model is to describe it."""

    name: Literal["Paris", "Rome"]
    is_capital: bool


WEATHER = {
    "name": "get_weather", "description": "The weather of a city",
    "parameters": {
        "type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"],
        "additionalProperties": False,
    },
}  # fmt: skip


def test_json_of_a_schema(client: OpenAI, name: str) -> None:
    asked = [{"role": "user", "content": QUESTION}]
    chat = client.chat.completions.parse(
        model=name, messages=asked, response_format=Place, max_tokens=500, reasoning_effort="none"
    )
    assert isinstance(chat.choices[0].message.parsed, Place)
    response = client.responses.parse(
        model=name, input=QUESTION, text_format=Place, max_output_tokens=500, reasoning={"effort": "none"}
    )
    assert isinstance(response.output_parsed, Place)
    either = client.completions.create(
        model=name, prompt=QUESTION, extra_body={"structured_outputs": {"choice": ["yes", "no"]}}
    )
    assert either.choices[0].text in ("yes", "no")


def test_tools(client: OpenAI, name: str) -> None:
    messages = [{"role": "user", "content": "What is the weather in Paris?"}]
    fields = {"model": name, "max_tokens": 500, "tools": [{"type": "function", "function": WEATHER}],
              "reasoning_effort": "none"}  # fmt: skip
    choice = client.chat.completions.create(
        messages=messages, tool_choice="required", parallel_tool_calls=False, **fields
    ).choices[0]
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments)["city"] in ("Paris", "Rome")
    result = {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}
    after = client.chat.completions.create(messages=[*messages, choice.message, result], tool_choice="none", **fields)
    assert after.choices[0].message.tool_calls is None


def test_tools_in_a_stream(client: OpenAI, name: str) -> None:
    pieces = client.chat.completions.create(
        model=name, messages=[{"role": "user", "content": "What is the weather in Paris?"}], max_tokens=500,
        stream=True, tools=[{"type": "function", "function": WEATHER}],
        tool_choice={"type": "function", "function": {"name": "get_weather"}}, reasoning_effort="none",
    )  # fmt: skip
    choices = [piece.choices[0] for piece in pieces]
    calls = [call for choice in choices for call in choice.delta.tool_calls or []]
    assert [call.function.name for call in calls if call.function.name] == ["get_weather"]
    assert json.loads("".join(call.function.arguments for call in calls))["city"] in ("Paris", "Rome")
    assert choices[-1].finish_reason == "tool_calls"


def test_tools_of_responses(client: OpenAI, name: str) -> None:
    fields = {"model": name, "max_output_tokens": 500, "tools": [{"type": "function", **WEATHER}],
              "reasoning": {"effort": "none"}}  # fmt: skip
    asked = [{"role": "user", "content": "What is the weather in Paris?"}]
    response = client.responses.create(input=asked, tool_choice="required", parallel_tool_calls=False, **fields)
    (call,) = response.output
    assert (call.type, call.name) == ("function_call", "get_weather")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "18 degrees"}
    after = client.responses.create(input=[*asked, call, result], tool_choice="none", **fields)
    assert [item.type for item in after.output] == ["message"]


def test_many_requests_at_a_time(running: Server, name: str) -> None:
    async def ask_all() -> list[str]:
        async with AsyncOpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
            asked = [client.completions.create(model=name, prompt=f"{n} and", max_tokens=4, temperature=0)
                     for n in range(24)]  # fmt: skip
            return [answer.choices[0].text for answer in await asyncio.gather(*asked)]

    assert len(asyncio.run(ask_all())) == 24


def test_mistakes_raise_the_exceptions_of_the_client(client: OpenAI, name: str) -> None:
    with pytest.raises(openai.BadRequestError) as bad:
        client.chat.completions.create(model=name, messages=[], max_tokens=1)
    assert bad.value.param == "messages"
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}])
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model=name, input="x")
