"""The suite's strongest peer: a compact torch model in the style of gpt-fast, compiled, in a CUDA graph of its own.

The halves of a layer before and after attention are compiled once and serve all layers: within each, torch.compile
fuses norms, rotation, the append, SiLU and residuals into products that its coordinate descent tunes. Attention is
the proxy's split kernel, which costs the same as is used of the cache.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.nn import functional

from .decoding import Decoding, State
from .weights import Shared

MODE: Final = "max-autotune-no-cudagraphs"
"""Coordinate descent is in it: a product of one row becomes a reduction, which takes in what stands around it."""


def rms_norm(x: Any, weight: Any, eps: float) -> Any:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype) * weight


def rotated(x: Any, cos: Any, sin: Any) -> Any:
    low, high = x.float().chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1).to(x.dtype)


def before(
    x: Any, norm: Any, qkv: Any, q_norm: Any, k_norm: Any, cos: Any, sin: Any, position: Any, keys: Any, values: Any,
    eps: float,
) -> Any:  # fmt: skip
    """Rotated queries; keys and values are in the caches."""
    groups, _, depth = keys.shape
    rows = functional.linear(rms_norm(x, norm, eps), qkv).view(-1, depth)
    heads = rows.shape[0] - 2 * groups
    c, s = cos[position], sin[position]
    q = rotated(rms_norm(rows[:heads], q_norm, eps), c, s)
    k = rotated(rms_norm(rows[heads : heads + groups], k_norm, eps), c, s)
    keys.index_copy_(1, position, k[:, None])
    values.index_copy_(1, position, rows[heads + groups :][:, None])
    return q[None]


def after_attention(x: Any, o: Any, output: Any, norm: Any, gate_up: Any, down: Any, eps: float) -> Any:
    """The residual stream after the rest of a layer."""
    x = x + functional.linear(o, output)
    gate, up = functional.linear(rms_norm(x, norm, eps), gate_up).chunk(2, dim=-1)
    return x + functional.linear(functional.silu(gate) * up, down)


def ending(x: Any, norm: Any, head: Any, eps: float) -> Any:
    """Logits."""
    return functional.linear(rms_norm(x, norm, eps), head)


class Compiled(Decoding):
    """torch.compile on a model written for it."""

    name = "compiled (gpt-fast style)"

    def __init__(self, shared: Shared, state: State, *, is_compiled: bool = True) -> None:
        super().__init__(shared, state)
        self._before, self._after_attention, self._ending = before, after_attention, ending
        if is_compiled:
            parts = before, after_attention, ending
            self._before, self._after_attention, self._ending = (
                torch.compile(part, mode=MODE, fullgraph=True, dynamic=False) for part in parts
            )

    @torch.no_grad()
    def step(self) -> Any:
        x = functional.embedding(self.state.token, self.shared.table)
        for number in range(len(self.shared.layers)):
            q = self.first_half(x, number)
            o = self.attend(q, self.state.keys[number], self.state.values[number]).reshape(1, -1)
            x = self.second_half(x, o, number)
        logits = self.logits(x)
        self.state.advance(logits)
        return logits

    @torch.no_grad()
    def first_half(self, x: Any, number: int) -> Any:
        """Queries of a layer."""
        layer, state = self.shared.layers[number], self.state
        return self._before(
            x, layer.attention_norm, layer.qkv, layer.q_norm, layer.k_norm, state.cos, state.sin, state.position,
            state.keys[number], state.values[number], self.config.rms_norm_eps,
        )  # fmt: skip

    @torch.no_grad()
    def second_half(self, x: Any, o: Any, number: int) -> Any:
        """What a layer makes of the residual stream and its attention."""
        layer = self.shared.layers[number]
        weights = layer.output, layer.feed_norm, layer.gate_up, layer.down
        return self._after_attention(x, o, *weights, self.config.rms_norm_eps)

    @torch.no_grad()
    def logits(self, x: Any) -> Any:
        """Logits of the last layer's rows."""
        return self._ending(x, self.shared.norm, self.shared.head, self.config.rms_norm_eps)
