"""Keys, limits, and what a server does before its model is loaded, after SIGTERM, and when clients misbehave."""

from __future__ import annotations

import http.client
import json
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.servers import DEADLINE, Server, listening, serving, write_model

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
LONG: dict[str, Any] = {"prompt": "the quick brown fox", "max_tokens": 2000, "ignore_eos": True}
"""A request that takes some seconds."""


@pytest.fixture(scope="module")
def small(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with keys and small limits."""
    keys = tmp_path_factory.mktemp("keys") / "keys.txt"
    keys.write_text("# of the team\nsecret-1\n\nsecret-2\n")
    options = ["--max-num-seqs", "1", "--max-queue", "1", "--max-requests", "3", "--max-body", "100KB",
               "--max-connections", "20", "--api-key-file", str(keys), "--no-warm-up"]  # fmt: skip
    with serving(model, *options, environment={"TILEPROOF_API_KEY": "secret-3"}) as running:
        yield running


def key(name: str = "secret-1") -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


def until(condition: Callable[[], bool]) -> None:
    """Waits for something."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def begin(server: Server, **fields: Any) -> http.client.HTTPConnection:
    """Sends a request, and does not wait for the answer."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
    headers = {"Content-Type": "application/json", **key()}
    connection.request("POST", COMPLETIONS, json.dumps({**LONG, **fields}), headers)
    return connection


def metric(server: Server, name: str, label: str = "") -> float:
    lines = server.ask("GET", "/metrics", headers=key()).body.decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name) and label in line)


def running(server: Server) -> float:
    return metric(server, "vllm:num_requests_running") + metric(server, "vllm:num_requests_waiting")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic secret-1"}, 401),
        ({"Authorization": "Bearer s\u00e9cret"}, 401),
        ({"Authorization": "Bearer secret-1"}, 200),
        ({"Authorization": "bearer secret-2"}, 200),
        ({"x-api-key": "secret-3"}, 200),
    ],
)
def test_a_request_needs_one_of_the_keys(small: Server, headers: dict[str, str], status: int) -> None:
    answer = small.ask("GET", "/v1/models", headers=headers)
    assert answer.status == status
    if status == 401:
        assert answer.json["error"]["code"] == "invalid_api_key"
        assert answer.headers["www-authenticate"] == "Bearer"
        assert small.ask("GET", "/health", headers=headers).status == 200


def test_a_body_over_the_limit_is_rejected_and_not_read(small: Server) -> None:
    answer = small.ask("POST", COMPLETIONS, {"prompt": "x" * 200_000}, key())
    assert (answer.status, answer.json["error"]["code"]) == (413, "request_too_large")
    with socket.create_connection((small.host, small.port), timeout=30) as connection:  # chunked: no length is known
        head = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret-1\r\n"
        head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode() + b"20000\r\n" + b"x" * 0x20000 + b"\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 413")


def test_a_full_queue_is_429_with_the_time_to_wait(small: Server) -> None:
    connections = [begin(small, stream=True) for _ in range(2)]
    until(lambda: running(small) == 2)
    answer = small.ask("POST", COMPLETIONS, LONG, key())
    assert (answer.status, answer.json["error"]["code"]) == (429, "rate_limit_exceeded")
    assert int(answer.headers["retry-after"]) >= 1
    many = small.ask("POST", COMPLETIONS, {**LONG, "n": 3}, key())
    assert many.status == 429
    for connection in connections:
        connection.close()
    until(lambda: running(small) == 0)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_ends_its_request(small: Server, stream: bool) -> None:
    aborted = metric(small, "vllm:request_success_total", 'finished_reason="abort"')
    generated = metric(small, "vllm:generation_tokens_total")
    connection = begin(small, stream=stream)
    until(lambda: running(small) == 1)
    connection.close()
    until(lambda: running(small) == 0)
    assert metric(small, "vllm:request_success_total", 'finished_reason="abort"') == aborted + 1
    assert metric(small, "vllm:generation_tokens_total") < generated + LONG["max_tokens"]


def test_too_many_requests_at_a_time_are_429_and_health_is_answered(small: Server) -> None:
    head = f"POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret-1\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    waiting = [socket.create_connection((small.host, small.port)) for _ in range(3)]
    try:
        for connection in waiting:
            connection.sendall(head.encode())
        until(lambda: small.ask("GET", "/v1/models", headers=key()).status == 429)
        answer = small.ask("GET", "/v1/models", headers=key())
        assert (answer.status, answer.json["error"]["code"]) == (429, "rate_limit_exceeded")
        assert small.ask("GET", "/health").status == 200
    finally:
        for connection in waiting:
            connection.close()
    until(lambda: small.ask("GET", "/v1/models", headers=key()).status == 200)


def test_connections_that_send_nothing_leave_room_for_those_that_do(small: Server) -> None:
    silent = [socket.create_connection((small.host, small.port)) for _ in range(60)]
    try:
        assert small.ask("GET", "/v1/models", headers=key()).status == 200
        closed, _, _ = select.select(silent, [], [], 0)
        assert len(closed) >= 40
    finally:
        for connection in silent:
            connection.close()


def test_a_client_that_takes_nothing_does_not_stop_others(small: Server) -> None:
    connection = begin(small, stream=True)
    until(lambda: running(small) == 1)
    assert small.ask("POST", COMPLETIONS, {**LONG, "max_tokens": 2}, key(), timeout=DEADLINE).status == 200
    connection.close()


def test_the_log_has_neither_prompts_nor_keys(small: Server) -> None:
    small.ask("POST", COMPLETIONS, {"prompt": "my-private-words", "max_tokens": 1}, key())
    small.logged(r"POST /v1/completions 200 .*prompt_tokens=")
    log = "".join(small.log)
    assert "my-private-words" not in log
    assert "secret-" not in log


def test_before_the_model_is_loaded_all_is_503(model: Path) -> None:
    with listening(["--model", str(model), "--no-warm-up"]) as server:
        health = server.ask("GET", "/health")
        chat = server.post(CHAT, messages=[])
        assert (health.status, chat.status) == (503, 503)
        assert "loaded" in chat.json["error"]["message"]
        assert int(chat.headers["retry-after"]) >= 1
        server.wait_until_ready()


def test_sigterm_lets_answers_finish_and_takes_no_more(model: Path) -> None:
    with serving(model, "--no-warm-up") as server:
        connection = begin(server)
        until(lambda: running(server) == 1)
        server.process.send_signal(signal.SIGTERM)
        server.logged("shutting down")
        refused = server.post(COMPLETIONS, prompt="x")
        assert refused.status == 503
        assert server.ask("GET", "/health").status == 503
        answer = connection.getresponse()
        assert answer.status == 200
        assert json.loads(answer.read())["usage"]["completion_tokens"] == 2000
        assert server.process.wait(DEADLINE) == 0


def test_answers_that_take_longer_than_the_drain_end_with_an_error(model: Path) -> None:
    with serving(model, "--no-warm-up", "--drain-timeout", "0.2") as server:
        connection = begin(server, n=8, stream=True)
        until(lambda: running(server) == 8)
        server.process.send_signal(signal.SIGTERM)
        body = connection.getresponse().read()
        assert b"shutting down" in body.splitlines()[-4]
        assert body.endswith(b"data: [DONE]\n\n")
        assert server.process.wait(DEADLINE) == 0


def test_a_second_signal_ends_the_process_at_once(model: Path) -> None:
    with serving(model, "--no-warm-up") as server:
        connection = begin(server, n=8)
        until(lambda: running(server) == 8)
        server.process.send_signal(signal.SIGINT)
        server.logged("shutting down")
        assert server.stop(signal.SIGINT) == -signal.SIGINT
        connection.close()


@pytest.mark.slow
def test_a_chat_template_that_loops_ends_its_request_and_no_other(model: Path, tmp_path: Path) -> None:
    looping = write_model(tmp_path / "looping")
    (looping / "chat_template.jinja").write_text("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
                                                 "{% endfor %}")  # fmt: skip
    with serving(looping, "--no-warm-up") as server:
        chat = http.client.HTTPConnection(server.host, server.port, timeout=DEADLINE)
        body = json.dumps({"messages": [{"role": "user", "content": "hi"}]})
        chat.request("POST", CHAT, body, {"Content-Type": "application/json"})
        assert server.post(COMPLETIONS, prompt="the", max_tokens=1).status == 200
        answer = chat.getresponse()
        assert answer.status == 400
        assert b"the chat template takes more than" in answer.read()


def test_cached_prompts_are_shared_between_requests_of_one_key_and_salt_alone(small: Server) -> None:
    prompt = list(range(20, 220))

    def cached(name: str, **fields: Any) -> int:
        answer = small.ask("POST", COMPLETIONS, {"prompt": prompt, "max_tokens": 1, **fields}, key(name)).json
        count: int = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
        return count

    assert cached("secret-1") == 0
    assert cached("secret-1") == 192  # full pages
    assert cached("secret-2") == 0
    assert cached("secret-1", cache_salt="mine") == 0
    assert cached("secret-1", cache_salt="mine") == 192
