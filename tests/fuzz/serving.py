"""The server under a mixed load: nothing is lost, nothing hangs, memory is flat, answers are those of requests alone.

    python -m tests.fuzz.serving --seconds 600 [--clients 64] [--seed S]

Clients send requests of random lengths to a server with SmolLM2, greedy and sampled, with schemas, with several
choices; they leave in the middle, and send what no server takes. Afterwards greedy answers are compared with what the
engine generates for each prompt alone. Batches may round otherwise, so an answer may part from the other where two
tokens are about as likely: how far the logits of the two lie apart is reported, and has to be small.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from support.servers import Server, serving
from tileproof.llm import LLM, SamplingParams

WORDS: Final = (
    "river", "town", "meadow", "sheep", "summer", "stone", "child", "ninety", "winter", "bridge", "garden",
    "letter", "window", "orange", "paper", "the", "of", "and", "to", "in", "a", "is", "that", "it", "was",
    "for",
)  # fmt: skip
HUNG: Final = 120.0
"""Seconds after which a request is taken for one that hangs."""
NEAR: Final = 1.0
"""How far the logits of two tokens lie apart at most where a batch may choose the other one."""
COMPARED: Final = 150
SCHEMA: Final = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
BAD: Final[Sequence[dict[str, Any]]] = (
    {"prompt": 5}, {"prompt": "a", "max_tokens": -1}, {"prompt": "a", "temperature": "hot"}, {"model": "none"},
    {"prompt": "a", "logprobs": 10**6}, {"prompt": [1, -5]}, {"prompt": "a", "n": 0}, {"prompt": ["a"] * 1000},
    {"prompt": "word " * 9000}, {"prompt": "a", "structured_outputs": {"regex": "("}},
)  # fmt: skip


@dataclass(slots=True)
class Seen:
    """What came of all requests."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    greedy: list[tuple[str, int, str]] = field(default_factory=list)
    """Prompts, the most tokens, and answers."""
    first: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)


class Client:
    """Sends requests one after another until the time is over."""

    def __init__(self, server: Server, seen: Seen, seed: int, until: float) -> None:
        self.server, self.seen, self.draw, self.until = server, seen, random.Random(seed), until

    async def run(self) -> None:
        """All of them. One that fails is recorded, and the next one begins."""
        kinds = [self.plain, self.plain, self.plain, self.sampled, self.schema, self.leave, self.bad]
        while time.perf_counter() < self.until:
            send = self.draw.choice(kinds)
            try:
                self.seen.outcomes[await asyncio.wait_for(send(), HUNG)] += 1
            except TimeoutError:
                self.seen.wrong.append(f"{send.__name__}: hung for {HUNG:.0f} s")
            except Exception as error:
                self.seen.wrong.append(f"{send.__name__}: {error!r}")

    def prompt(self) -> str:
        """Words, of which requests often share the first ones."""
        head = "Once upon a time there was a town by the river. " * self.draw.choice([0, 0, 1, 2, 4, 8])
        return head + " ".join(self.draw.choices(WORDS, k=self.draw.randint(1, 150)))

    async def plain(self) -> str:
        """A greedy completion, streamed."""
        prompt, most = self.prompt(), self.draw.randint(1, 96)
        body = {"prompt": prompt, "max_tokens": most, "temperature": 0, "stream": True}
        text, finish = "", None
        began = last = time.perf_counter()
        async for event in self.events(body):
            now = time.perf_counter()
            (self.seen.gaps if text else self.seen.first).append(now - last)
            last = now
            text += event["choices"][0]["text"]
            finish = event["choices"][0]["finish_reason"] or finish
        if finish not in ("stop", "length"):
            raise ValueError(f"the stream ended after {last - began:.1f} s without a reason: {finish}")
        self.seen.greedy.append((prompt, most, text))
        return "greedy"

    async def sampled(self) -> str:
        """Several choices at once, not streamed."""
        n = self.draw.randint(1, 3)
        body = {"prompt": self.prompt(), "max_tokens": self.draw.randint(1, 40), "n": n, "top_p": 0.9}
        status, answer = await self.ask(body)
        if status != 200 or len(answer["choices"]) != n:
            raise ValueError(f"{status}: {answer}")
        return "sampled"

    async def schema(self) -> str:
        """JSON of a schema."""
        chat = {"messages": [{"role": "user", "content": self.prompt()}], "max_tokens": 60, "temperature": 0.5}
        form = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
        status, answer = await self.ask(chat | {"response_format": form}, "/v1/chat/completions")
        if status != 200:
            raise ValueError(f"{status}: {answer}")
        choice = answer["choices"][0]
        if choice["finish_reason"] == "stop" and "on" not in json.loads(choice["message"]["content"]):
            raise ValueError(f"no JSON of the schema: {choice}")
        return "schema"

    async def leave(self) -> str:
        """A stream that is left after some events."""
        left = self.draw.randint(0, 20)
        async for _ in self.events({"prompt": self.prompt(), "max_tokens": 500, "stream": True, "ignore_eos": True}):
            left -= 1
            if left < 0:
                break
        return "left"

    async def bad(self) -> str:
        """What no server takes."""
        status, answer = await self.ask(self.draw.choice(BAD))
        if not 400 <= status < 500 or "message" not in answer["error"]:
            raise ValueError(f"{status}: {answer}")
        return "rejected"

    async def connect(self, body: object, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
        """Sends a request; returns once the status is there."""
        reader, writer = await asyncio.open_connection(self.server.host, self.server.port, limit=1 << 22)
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.server.host}:{self.server.port}\r\nConnection: close\r\n"
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
        return reader, writer, int((await reader.readline()).split()[1])

    async def ask(self, body: object, path: str = "/v1/completions") -> tuple[int, Any]:
        """An answer that comes at once."""
        reader, writer, status = await self.connect(body, path)
        try:
            text = (await reader.read()).partition(b"\r\n\r\n")[2]
            return status, json.loads(text)
        finally:
            writer.close()

    async def events(self, body: object) -> Any:
        """The events of a stream, which is left where the caller stops."""
        reader, writer, status = await self.connect(body, "/v1/completions")
        try:
            if status != 200:
                raise ValueError(f"{status}: {(await reader.read())[-500:]!r}")
            async for line in reader:
                if line.startswith(b"data: {"):
                    yield json.loads(line[6:])
                elif line.startswith(b"data: [DONE]"):
                    return
            raise ValueError("the stream ended without [DONE]")
        finally:
            writer.close()


def memory_of(process: int) -> int:
    """Bytes that a process has in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096


def parted(llm: LLM, prompt: str, most: int, answer: str) -> float | None:
    """Where an answer differs from what the engine generates alone: how far the logits of both tokens lie apart."""
    alone = llm.generate(prompt, SamplingParams(max_new_tokens=most))
    if alone.text == answer:
        return None
    tokens, text = llm.text.encode(prompt), llm.text
    same = next(
        (n for n in range(len(alone.tokens)) if not answer.startswith(text.decode(list(alone.tokens[: n + 1])))),
        len(alone.tokens) - 1,
    )
    before = list(alone.tokens[:same])
    logits = llm.logits([*tokens, *before])[-1].astype(np.float64)
    for token in map(int, np.argsort(-logits)):
        head = text.decode([*before, token])
        if token != alone.tokens[same] and (answer.startswith(head) or (token in text.eos and head == answer)):
            return float(logits[alone.tokens[same]] - logits[token])
    return float("inf")


def main(words: Sequence[str]) -> int:
    """Runs the command; 1 if anything is wrong."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.serving", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    seen, seeds = Seen(), itertools.count(options.seed * 100_000)
    with serving("smollm2", "--max-num-seqs", "64", "--max-seq-len", "2048") as server:
        memory = [memory_of(server.process.pid)]

        async def load(seconds: float) -> None:
            until = time.perf_counter() + seconds
            clients = [Client(server, seen, next(seeds), until) for _ in range(options.clients)]
            await asyncio.gather(*(client.run() for client in clients))

        for _ in range(4):
            asyncio.run(load(options.seconds / 4))
            memory.append(memory_of(server.process.pid))
        status = server.ask("GET", "/health").status
        stats = [line for line in server.ask("GET", "/metrics").body.decode().splitlines() if "num_requests" in line]
    print(f"{sum(seen.outcomes.values())} requests: {dict(seen.outcomes)}; health {status} at the end")
    print("memory, MB, after each quarter:", ", ".join(f"{each / 1e6:.0f}" for each in memory))
    for name, times in (("TTFT", seen.first), ("ITL", seen.gaps)):
        p50, p99 = np.percentile(times, [50, 99])
        print(f"{name} p50 {1e3 * p50:.0f} ms, p99 {1e3 * p99:.0f} ms")
    print(*[line for line in stats if not line.startswith("#")], sep="\n")
    llm = LLM("smollm2", max_seq_len=2048, max_batch=1)
    chosen = random.Random(options.seed).sample(seen.greedy, min(COMPARED, len(seen.greedy)))
    gaps = [gap for prompt, most, answer in chosen if (gap := parted(llm, prompt, most, answer)) is not None]
    print(f"{len(gaps)} of {len(chosen)} greedy answers differ from those alone; logits apart: "
          f"{', '.join(f'{gap:.3f}' for gap in sorted(gaps)) or '-'}")  # fmt: skip
    for each in seen.wrong[:20]:
        print(f"wrong: {each}")
    return int(bool(seen.wrong) or status != 200 or any(gap > NEAR for gap in gaps))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
