"""Every mistake of a client is answered by an error object of the API, with a status and the field to blame."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from support.servers import Server

CHAT, COMPLETIONS, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"
TURN = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("path", "fields", "param", "told"),
    [
        (COMPLETIONS, {}, "prompt", "required"),
        (COMPLETIONS, {"prompt": {}}, "prompt", "a string"),
        (COMPLETIONS, {"prompt": [[1, "x"]]}, "prompt[0][1]", "an integer"),
        (COMPLETIONS, {"prompt": [10**6]}, "prompt", "10"),
        (COMPLETIONS, {"prompt": []}, "prompt", "at least 1"),
        (COMPLETIONS, {"prompt": ""}, "prompt", "no tokens"),
        (COMPLETIONS, {"prompt": "x", "temperature": "hot"}, "temperature", "a number"),
        (COMPLETIONS, {"prompt": "x", "temperature": True}, "temperature", "a number"),
        (COMPLETIONS, {"prompt": "x", "temperature": -1}, "temperature", "greater"),
        (COMPLETIONS, {"prompt": "x", "temprature": 1}, "temprature", "did you mean temperature?"),
        (COMPLETIONS, {"prompt": "x", "max_tokens": 0}, "max_tokens", "at least 1"),
        (COMPLETIONS, {"prompt": "x", "best_of": 2}, "best_of", "use n"),
        (COMPLETIONS, {"prompt": "x", "suffix": "y"}, "suffix", "not supported"),
        (COMPLETIONS, {"prompt": "x", "n": 1000}, "n", "limit"),
        (COMPLETIONS, {"prompt": "x", "stop": ""}, "stop", "empty"),
        (COMPLETIONS, {"prompt": "x", "stop": ["a", 1]}, "stop[1]", "a string"),
        (COMPLETIONS, {"prompt": "x", "logit_bias": {"x": 1}}, "logit_bias", "whole numbers"),
        (COMPLETIONS, {"prompt": "x", "logit_bias": {"100000": 1}}, None, "100000"),
        (COMPLETIONS, {"prompt": "x", "stream_options": {}}, "stream_options", "stream is true"),
        (COMPLETIONS, {"prompt": "x " * 5000}, "prompt", "context"),
        (COMPLETIONS, {"prompt": "x" * 2 * 10**6}, "prompt", "context"),
        (CHAT, {"messages": []}, "messages", "at least 1"),
        (CHAT, {"messages": [{"role": "wizard", "content": "x"}]}, "messages[0].role", "'user'"),
        (CHAT, {"messages": [{"role": "user"}]}, "messages[0].content", "no content"),
        (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0].type",
         "reads text"),
        (CHAT, {"messages": [TURN], "top_logprobs": 2}, "top_logprobs", "logprobs is true"),
        (CHAT, {"messages": [TURN], "functions": [{}]}, "functions", "use tools"),
        (CHAT, {"messages": [TURN], "chat_template": "{{ 1 }}"}, "chat_template", "cannot send a program"),
        (CHAT, {"messages": [TURN], "tool_choice": "required"}, "tool_choice", "no tools"),
        (CHAT, {"messages": [TURN], "response_format": {"type": "xml"}}, "response_format.type", "'json_object'"),
        (CHAT, {"messages": [TURN], "continue_final_message": True}, "messages", "not the assistant's"),
        (RESPONSES, {"input": "x", "previous_response_id": "resp_1"}, "previous_response_id", "whole conversation"),
        (RESPONSES, {"input": "x", "background": True}, "background", "stream"),
        (RESPONSES, {"input": [{"type": "web_search_call"}]}, "input[0].type", "not supported"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_field_names_it(server: Server, path: str, fields: dict[str, Any], param: str | None,
                                       told: str) -> None:  # fmt: skip
    answer = server.post(path, **fields)
    error = answer.json["error"]
    assert answer.status == 400, error
    assert (error["type"], error["param"]) == ("invalid_request_error", param), error
    assert told in error["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "code"),
    [
        ("GET", "/v2", None, {}, 404, "not_found"),
        ("GET", "/v1/chat/completions/", None, {}, 404, "not_found"),
        ("GET", CHAT, None, {}, 405, "method_not_allowed"),
        ("POST", CHAT, b"{", {}, 400, "invalid_json"),
        ("POST", CHAT, b"\xff", {}, 400, "invalid_json"),
        ("POST", CHAT, b'{"messages": [{"role": "user", "content": "\\ud800"}]}', {}, 400, "invalid_json"),
        ("POST", CHAT, b"[" * 10**6, {}, 400, "invalid_json"),
        ("POST", CHAT, b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ("POST", CHAT, b"{}", {"Content-Length": "99999999999"}, 413, "request_too_large"),
        ("POST", COMPLETIONS, b'{"prompt": "x", "model": "gpt"}', {}, 404, "model_not_found"),
        ("GET", "/v1/models/gpt", None, {}, 404, "model_not_found"),
        ("GET", "/v1/models", None, {"Host": "evil.example"}, 403, "host_not_allowed"),
        ("GET", "/v1/models", None, {"Host": "192.0.2.1:80"}, 403, "host_not_allowed"),
    ],
)
def test_a_mistake_of_the_request_has_a_status_and_a_code(
    server: Server, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int, code: str
) -> None:
    answer = server.ask(method, path, body, headers)
    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/json"


def test_errors_of_messages_are_anthropics(server: Server) -> None:
    for path, fields, status, kind in (
        (MESSAGES, {"messages": [TURN]}, 400, "invalid_request_error"),
        (f"{MESSAGES}/count_tokens", {"messages": 1}, 400, "invalid_request_error"),
        (MESSAGES, {"messages": [TURN], "max_tokens": 1, "model": "claude"}, 404, "not_found_error"),
    ):
        answer = server.post(path, **fields)
        assert answer.status == status
        assert (answer.json["type"], answer.json["error"]["type"]) == ("error", kind)


def test_what_is_no_http_gets_an_error_object(server: Server) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as connection:
        connection.sendall(b"\x16\x03\x01 this is TLS\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"code":"invalid_http"' in answer
