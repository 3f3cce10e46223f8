"""What the suite's torch contestants for decoding have in common: caches, token and position on the device, a graph.

A step reads the token and its position on the device, and writes the next ones there: steps follow one another without
the host, which is more than a server could do, and is nobody's disadvantage.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import torch

from tileproof.llm.models.config import ModelConfig
from tileproof.llm.models.rope import rope_angles

from .weights import Shared

PIECES: Final = (2, 4, 8, 16, 32, 64, 128)
"""Of how many pieces of a cache the fastest number is chosen for each context."""
_WARM: Final = 16
"""Steps of a new graph that do not count."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a contestant: so many tokens, and when they came."""

    tokens: int
    """After the first."""
    seconds: float
    steps: tuple[float, ...] = ()
    """Seconds of single steps."""
    first: float | None = None
    """Seconds to the first token, where a prompt was read."""


class State:
    """Caches, token and position: shared by contestants that take turns, and filled with random numbers."""

    def __init__(self, config: ModelConfig, capacity: int, device: str) -> None:
        self.config, self.device, self.capacity = config, device, capacity
        shape = config.num_key_value_heads, capacity, config.head_dim

        def cache() -> list[Any]:
            return [
                torch.empty(shape, dtype=torch.bfloat16, device=device).normal_()
                for _ in range(config.num_hidden_layers)
            ]

        self.keys, self.values = cache(), cache()
        cos, sin = rope_angles(config, capacity)
        self.cos, self.sin = (torch.from_numpy(each).to(device) for each in (cos, sin))
        self.token = torch.zeros(1, dtype=torch.int64, device=device)
        self.position = torch.zeros(1, dtype=torch.int64, device=device)
        self.used = torch.ones(1, dtype=torch.int32, device=device)

    def place(self, token: int, position: int) -> None:
        """The next step is of this token."""
        self.token.fill_(token)
        self.position.fill_(position)
        self.used.fill_(position + 1)

    def advance(self, logits: Any) -> None:
        """The likeliest token is the next."""
        tokens = self.config.tokens
        torch.argmax(logits[:, :tokens], dim=1, out=self.token)
        self.position += 1
        self.used += 1


class Decoding:
    """A contestant that decodes by one CUDA graph; `step` says what is in it."""

    name = ""

    def __init__(self, shared: Shared, state: State) -> None:
        self.shared, self.state, self.config = shared, state, shared.config
        self.pieces = PIECES[0]
        self.nodes: int | None = None
        self._graph: Any = None
        self._context = 0

    def step(self) -> Any:
        """All launches of a step, the choice of the next token included; gives the logits."""
        raise NotImplementedError

    def attend(self, query: Any, keys: Any, values: Any) -> Any:
        """Attention of one row to a cache, its own place included."""
        if query.device.type == "cpu":
            return attended(query, keys, values, self.state.position)
        from ..kernels.triton_kernels import decode_pieces

        array = torch.empty_like(query)
        decode_pieces(array, query, keys[None], values[None], self.state.used, self.pieces)
        return array

    def logits_of(self, tokens: Sequence[int], behind: int) -> Any:
        """The logits after each of the last tokens, step by step from an empty cache."""
        results = []
        for position, token in enumerate(tokens):
            self.state.place(token, position)
            logits = self.step()
            if position >= len(tokens) - behind:
                results.append(logits[0, : self.config.tokens].float().cpu())
        return torch.stack(results)

    def begin(self, context: int) -> None:
        """Chooses how attention is split at this context, and captures a step."""
        self._context = context
        self.state.place(1, context)
        self.pieces = self._fastest()
        self.step()
        torch.cuda.synchronize()
        self._graph = captured(self.step)
        self.nodes = node_count(self._graph)
        self.turn(_WARM)

    def turn(self, tokens: int) -> Turn:
        """So many steps after the context, by the clock; marks between them are for their spread."""
        self.state.place(1, self._context)
        self._graph.replay()
        torch.cuda.synchronize()
        self.state.place(1, self._context)
        began = time.perf_counter()
        steps = spread(self._graph.replay, tokens)
        self.state.token.tolist()
        return Turn(tokens, time.perf_counter() - began, steps)

    def end(self) -> None:
        """Lets the graph go."""
        self._graph = None

    def _fastest(self) -> int:
        state, config = self.state, self.config
        query = torch.randn(1, config.num_attention_heads, config.head_dim, dtype=torch.bfloat16, device=state.device)
        taken: dict[int, float] = {}
        for pieces in PIECES:
            self.pieces = pieces

            def all_layers() -> None:
                for keys, values in zip(state.keys, state.values, strict=True):
                    self.attend(query, keys, values)

            taken[pieces] = best_time(all_layers)
        return min(taken, key=lambda each: taken[each])


def attended(query: Any, keys: Any, values: Any, position: Any) -> Any:
    """The same as plain torch, (1, heads, depth)."""
    seen = torch.arange(keys.shape[1], device=keys.device) <= position
    result: Any = torch.nn.functional.scaled_dot_product_attention(
        query[:, :, None], keys[None], values[None], attn_mask=seen[None, None, None], enable_gqa=True
    )
    return result[:, :, 0]


def captured(work: Callable[[], Any]) -> Any:
    """A CUDA graph of some launches."""
    try:
        graph: Any = torch.cuda.CUDAGraph(keep_graph=True)
    except TypeError:
        graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="relaxed"):
        work()
    return graph


def node_count(graph: Any) -> int | None:
    """How many nodes a graph has; None where torch does not say."""
    try:
        count = ctypes.c_size_t()
        driver = ctypes.CDLL("libcuda.so.1")
        wrong = driver.cuGraphGetNodes(ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count))
    except (AttributeError, OSError, RuntimeError):
        return None
    return count.value if wrong == 0 else None


def spread(replay: Callable[[], Any], steps: int) -> tuple[float, ...]:
    """Seconds of single replays that follow one another."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    marks[0].record()
    for mark in marks[1:]:
        replay()
        mark.record()
    torch.cuda.synchronize()
    return tuple(a.elapsed_time(b) / 1e3 for a, b in pairwise(marks))


def best_time(work: Callable[[], Any], replays: int = 4) -> float:
    """Seconds of some launches in a graph."""
    work()
    torch.cuda.synchronize()
    graph = captured(work)
    graph.replay()
    return min(spread(graph.replay, replays))
