"""The server beside llama.cpp's, under load: the same requests by the same client, one server after the other.

    python -m benchmarks serving --llama-server PATH            1, 4, 16 and 64 clients, bf16 and int8
    python -m benchmarks serving --clients 16 --kinds int8      without a peer
    python -m benchmarks serving --prefix                       a shared prefix, without its cache and with it
    python -m benchmarks serving --streams                      32 streams at once; a long prompt beside 7 streams

Each client sends its requests one after another: greedy, prompts of 16 to 256 tokens, answers of 64. Both servers read
the same GGUF file and use the same number of threads. llama-server is compiled on this machine by whoever passes it.
TTFT is the time to the first token, ITL the time between two of one answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..harness.device import cpu_machine
from . import gguf_models

KINDS: Final[dict[str, gguf_models.Kind]] = {"bf16": "BF16", "int8": "Q8_0"}
ANSWER: Final = 64
REQUESTS: Final = 96
"""Of all clients together, and at least two of each."""
MOST_CLIENTS: Final = 64
CONTEXT: Final = 1024
"""Of each client."""
WORDS: Final = (
    "river", "town", "meadow", "sheep", "summer", "stone", "child", "ninety", "winter", "bridge", "garden", "letter",
    "window", "orange", "paper",
)  # fmt: skip
TURNS: Final = 3
"""Of the load with a shared prefix, with and without its cache."""
PATIENCE: Final = 180.0
"""Seconds until a server must answer."""


@dataclass(slots=True)
class Load:
    """What clients saw."""

    seconds: float = 0.0
    tokens: int = 0
    first: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    @property
    def tokens_seen(self) -> int:
        """Chunks that have come so far, of one token each but for some."""
        return len(self.first) + len(self.gaps)

    @property
    def rate(self) -> float:
        """Tokens generated in a second, prompts not counted."""
        return self.tokens / self.seconds

    def row(self) -> str:
        """As cells of a table."""
        cells = (share_of(times, share) for times in (self.first, self.gaps) for share in (0.5, 0.99))
        return " | ".join(f"{1e3 * cell:.0f}" for cell in cells)


def share_of(times: Sequence[float], share: float) -> float:
    """The time that so many did not exceed."""
    ordered = sorted(times)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


# Servers.


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str | Path], port: int, environment: dict[str, str]) -> Iterator[int]:
    """A server until the end of the block; gives the port once it is ready."""
    with Path("build", f"serving-{port}.log").open("wb") as log:
        server = subprocess.Popen([*map(str, command)], env=os.environ | environment, stdout=log, stderr=log)
        try:
            until = time.monotonic() + PATIENCE
            while not is_ready(port):
                if server.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"the server did not start; see {log.name}")
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()
            server.wait(30)


def is_ready(port: int) -> bool:
    """Whether a server says that it is."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def ours(file: Path, threads: int, context: int = CONTEXT) -> tuple[list[str | Path], int, dict[str, str]]:
    """Our server for a file."""
    port = free_port()
    is_int8 = "Q8_0" in file.name
    command: list[str | Path] = [
        sys.executable, "-m", "tileproof", "serve", "--model", file, "--port", str(port), "--max-num-seqs",
        str(MOST_CLIENTS), "--max-seq-len", str(context), "--log-level", "error",
        *(["--quantize", "int8"] if is_int8 else []),
    ]  # fmt: skip
    return command, port, {"TILEPROOF_THREADS": str(threads)}


def theirs(binary: Path, file: Path, threads: int, clients: int) -> tuple[list[str | Path], int, dict[str, str]]:
    """llama.cpp's, with a slot for each client."""
    port = free_port()
    command: list[str | Path] = [
        binary, "-m", file, "--port", str(port), "-t", str(threads), "-tb", str(threads), "-np", str(clients),
        "-c", str(clients * CONTEXT), "--no-webui",
    ]  # fmt: skip
    return command, port, {}


# Clients.


async def ask(port: int, prompt: str, load: Load, more: dict[str, Any]) -> None:
    """One request; adds what came of it."""
    body = {"prompt": prompt, "max_tokens": ANSWER, "temperature": 0, "stream": True,
            "ignore_eos": True} | more  # fmt: skip
    text = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    began = last = time.perf_counter()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(text)}\r\nConnection: close\r\n\r\n".encode() + text)
    events = 0
    async for line in reader:
        if line.startswith(b"HTTP/1.1 ") and b" 200 " not in line:
            raise SystemExit(f"the server answers {line.decode().strip()}: {(await reader.read())[:500]!r}")
        if not line.startswith(b"data: {") or not json.loads(line[6:]).get("choices"):
            continue
        now = time.perf_counter()
        (load.gaps if events else load.first).append(now - last)
        last, events = now, events + 1
    load.tokens += ANSWER
    load.seconds = max(load.seconds, last)
    writer.close()
    if not events:
        raise SystemExit(f"no token came in {last - began:.1f} s")


async def measured(port: int, clients: int, prompts: Sequence[str], more: Sequence[dict[str, Any]]) -> Load:
    """The load of so many clients, who share the prompts."""
    load, left = Load(), iter(zip(prompts, more, strict=True))

    async def client() -> None:
        for prompt, options in left:
            await ask(port, prompt, load, options)

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    load.seconds -= began
    return load


def prompts_of(count: int, seed: int) -> list[str]:
    """Prompts that have nothing in common, of about 16 to 256 tokens."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(16, 256))) for _ in range(count)]


def run(port: int, clients: int, seed: int) -> Load:
    """Warms a server, and measures it."""
    asyncio.run(measured(port, clients, prompts_of(clients, seed + 1), [{}] * clients))
    count = max(REQUESTS, 2 * clients) if clients > 1 else REQUESTS // 6
    return asyncio.run(measured(port, clients, prompts_of(count, seed), [{}] * count))


def prefixes(port: int) -> None:
    """Requests with a shared beginning, which may share the cache, and which may not, in turns."""
    head, tails = " ".join(prompts_of(4, 7)), prompts_of(48, 8)
    prompts = [f"{head} {tail[:80]}" for tail in tails]
    loads: dict[str, list[Load]] = {"without the cache": [], "with it": []}
    for turn in range(TURNS + 1):
        for name, turns in loads.items():
            salts = [{"cache_salt": f"{turn} {number}"} for number in range(48)] if name != "with it" else [{}] * 48
            turns.append(asyncio.run(measured(port, 8, prompts, salts)))
    print("| 8 clients, shared prefix | tok/s | TTFT p50 | p99 | ITL p50 | p99 (ms) |\n|---|---:|---:|---:|---:|---:|")
    for name, turns in loads.items():
        for load in turns[1:]:  # steps are compiled in the first turn
            print(f"| {name} | {load.rate:.0f} | {load.row()} |")
    without, shared = ([share_of(load.first, 0.5) for load in turns[1:]] for turns in loads.values())
    ratios = [slow / fast for slow, fast in zip(without, shared, strict=True)]
    print(f"TTFT p50: {', '.join(f'{ratio:.2f}x' for ratio in ratios)}")


def streams(port: int) -> None:
    """Many streams that begin at once, and a long prompt that comes while others decode: first tokens and gaps."""
    print("| | TTFT p50 | p99 | ITL p50 | p99 | longest (ms) |\n|---|---:|---:|---:|---:|---:|")

    def row(name: str, load: Load) -> None:
        print(f"| {name} | {load.row()} | {1e3 * max(load.gaps):.0f} |", flush=True)

    async def beside(prompt: str, others: Sequence[str]) -> tuple[Load, Load]:
        few, long = Load(), Load()
        tasks = [asyncio.create_task(ask(port, other, few, {"max_tokens": 4 * ANSWER})) for other in others]
        while few.tokens_seen < len(others) * ANSWER:
            await asyncio.sleep(0.01)
        few.gaps.clear()
        await ask(port, prompt, long, {"max_tokens": 2})
        gaps = list(few.gaps)
        await asyncio.gather(*tasks)
        few.gaps = gaps
        return few, long

    for seed in (1, 2):  # the first time steps are compiled
        load = asyncio.run(measured(port, 32, prompts_of(32, seed), [{}] * 32))
    row("32 streams at once", load)
    for seed in (3, 4):
        prompt = " ".join(random.Random(seed).choices(WORDS, k=1500))
        few, long = asyncio.run(beside(prompt, prompts_of(7, seed)))
    row("7 streams, while a prompt of 1,500 tokens is computed", few)
    print(f"the first token of that prompt: {1e3 * long.first[0]:.0f} ms")


def main(words: Sequence[str]) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser("python -m benchmarks serving", description=__doc__.partition("\n")[0])
    parser.add_argument("--llama-server", type=Path, metavar="PATH", help="llama-server, compiled for this machine")
    parser.add_argument("--clients", default="1,4,16,64", help="how many at a time (default: %(default)s)")
    parser.add_argument("--kinds", default="bf16,int8", help="of weights (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--prefix", action="store_true", help="measure the prefix cache alone")
    parser.add_argument("--streams", action="store_true", help="measure how evenly tokens come")
    options = parser.parse_args(words)
    Path("build").mkdir(exist_ok=True)
    print(f"{cpu_machine()}\n")
    if options.prefix:
        with running(*ours(gguf_models.smollm2("BF16"), options.threads)) as port:
            prefixes(port)
        return 0
    if options.streams:
        with running(*ours(gguf_models.smollm2("BF16"), options.threads, 2 * CONTEXT)) as port:
            streams(port)
        return 0
    print("| SmolLM2-135M | server | tok/s | TTFT p50 | p99 | ITL p50 | p99 (ms) |\n|---|---|---:|---:|---:|---:|---:|")
    for kind in options.kinds.split(","):
        file = gguf_models.smollm2(KINDS[kind])
        for clients in map(int, options.clients.split(",")):
            loads = {}
            with running(*ours(file, options.threads)) as port:
                loads["tileproof"] = run(port, clients, clients)
            if options.llama_server is not None:
                with running(*theirs(options.llama_server, file, options.threads, clients)) as port:
                    loads["llama-server"] = run(port, clients, clients)
            for name, load in loads.items():
                print(f"| {kind}, {clients} clients | {name} | {load.rate:.0f} | {load.row()} |")
            if len(loads) > 1:
                ratio = loads["tileproof"].rate / loads["llama-server"].rate
                print(f"| | ratio | {ratio:.2f}x | | | | |", flush=True)
    return 0
