"""Clients that only `make test-all` installs, and a fuzzer of the OpenAPI document."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.servers import Server, serving
from tileproof.llm import ModelError
from tileproof.llm.loader.find import resolve

pytestmark = pytest.mark.slow
QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module")
def smollm2() -> Iterator[Server]:
    """A server with a model that is trained."""
    try:
        path = resolve("smollm2-135m-instruct")
    except ModelError as error:
        pytest.skip(f"SmolLM2 is not here: {error.line}")
    with serving(path, "--max-seq-len", "1024", "--served-model-name", "smollm2") as running:
        yield running


def test_the_anthropic_package_talks_to_messages(smollm2: Server) -> None:
    import anthropic

    client = anthropic.Anthropic(base_url=smollm2.url, api_key="none", max_retries=0)
    fields = {"model": "smollm2", "max_tokens": 24, "messages": [{"role": "user", "content": QUESTION}],
              "extra_body": {"temperature": 0}}  # fmt: skip
    whole = client.messages.create(**fields)
    assert "Paris" in whole.content[0].text
    assert whole.stop_reason == "end_turn"
    assert whole.usage.output_tokens > 3
    with client.messages.stream(**fields) as stream:
        assert "".join(stream.text_stream) == whole.content[0].text
        again = stream.get_final_message().usage
        assert again.output_tokens == whole.usage.output_tokens
        # Of the same prompt more is in the prefix cache the second time.
        assert again.input_tokens + (again.cache_read_input_tokens or 0) == (
            whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0)
        )
    counted = client.messages.count_tokens(model="smollm2", messages=fields["messages"])
    assert counted.input_tokens == whole.usage.input_tokens
    with pytest.raises(anthropic.BadRequestError, match="at least 1"):
        client.messages.create(model="smollm2", max_tokens=1, messages=[])
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(**{**fields, "model": "claude"})


def test_langchain_talks_to_chats(smollm2: Server) -> None:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(model="smollm2", base_url=f"{smollm2.url}/v1", api_key="none", temperature=0, max_tokens=24)
    assert "Paris" in chat.invoke(QUESTION).text
    assert "Paris" in "".join(piece.text for piece in chat.stream(QUESTION))
    assert len(chat.batch([QUESTION] * 4)) == 4


def test_no_request_that_the_openapi_document_allows_or_forbids_is_a_server_error(
    server: Server, tmp_path: Path, model: Path
) -> None:
    with serving(model, "--no-warm-up", "--max-tokens", "4", "--served-model-name", "m") as running:
        command = [
            sys.executable, "-m", "schemathesis.cli", "run", f"{running.url}/openapi.json", "--max-examples", "40",
            "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
            "response_schema_conformance",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        assert running.ask("GET", "/health").status == 200
