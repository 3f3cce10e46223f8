"""Servers for tests: `tileproof serve` in a process of its own, on a port that is free."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.checkpoints import random_weights, tiny, write_folder

CONFIG = tiny("qwen3", max_position_embeddings=4096)
DEADLINE = 120.0
"""Seconds until a server that starts, or ends, is taken for one that hangs."""


def write_model(path: Path) -> Path:
    """Writes a tiny random model."""
    return write_folder(path, CONFIG, random_weights(CONFIG))


@dataclass
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The data of its server-sent events, without what ends the stream."""
        lines = self.body.decode().splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ") and line != "data: [DONE]"]


@dataclass
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    host: str
    port: int
    log: list[str] = field(default_factory=list)
    """The lines of its error stream so far."""

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{self.host}:{self.port}"

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, timeout: float = 60
    ) -> Answer:
        """Sends a request. A body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, path, data, {**kind, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, path: str, **fields: Any) -> Answer:
        """Sends a JSON object."""
        return self.ask("POST", path, fields)

    def metric(self, name: str) -> float:
        """The value of a metric, of all its labels together."""
        text = self.ask("GET", "/metrics").body.decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", text, re.MULTILINE))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it, and gives its exit code."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)

    def logged(self, pattern: str) -> re.Match[str]:
        """Waits for a line in its log."""
        until = time.monotonic() + DEADLINE
        while time.monotonic() < until:
            for line in list(self.log):
                if result := re.search(pattern, line):
                    return result
            assert self.process.poll() is None, self.log
            time.sleep(0.01)
        raise AssertionError(f"no line with {pattern!r} in {self.log}")

    def wait_until_ready(self) -> None:
        """Waits until the model is loaded."""
        until = time.monotonic() + DEADLINE
        while self.ask("GET", "/health").status != 200:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < until, self.log
            time.sleep(0.02)


@contextmanager
def serving(
    model: Path | str, *options: str, environment: Mapping[str, str] | None = None, wait: bool = True
) -> Iterator[Server]:
    """A server for a model, until the block ends."""
    with listening(["--model", str(model), *options], environment) as server:
        if wait:
            server.wait_until_ready()
        yield server


@contextmanager
def listening(options: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server as soon as it listens."""
    command = [sys.executable, "-m", "tileproof", "serve", "--port", "0", *options]
    clean = {name: value for name, value in os.environ.items() if name != "TILEPROOF_API_KEY"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**clean, **(environment or {})})
    server = Server(process, "127.0.0.1", 0)
    assert process.stderr is not None
    stream = process.stderr
    reader = threading.Thread(target=lambda: server.log.extend(iter(stream.readline, "")), daemon=True)
    reader.start()
    try:
        server.port = int(server.logged(r"listening on http://\S+:(\d+)")[1])
        yield server
    finally:
        process.kill()
        process.wait()
        reader.join()
        stream.close()
