"""The proxy: GEMVs by cuBLAS, small kernels in Triton between them, one CUDA graph.

It launches what serving engines launch at batch 1. It is none of them, and is never called by their names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

from .decoding import Decoding, State, best_time
from .weights import Shared

Product = Callable[[Any, Any, Any], Any]
"""Writes the product of a matrix and a row into a row."""


def by_matvec(out: Any, matrix: Any, row: Any) -> Any:
    """As the product of a matrix and a vector."""
    return torch.mv(matrix, row[0], out=out[0])


def by_matmul(out: Any, matrix: Any, row: Any) -> Any:
    """As the product of a matrix of one row and another."""
    return torch.mm(row, matrix.t(), out=out)


WAYS: Final[dict[str, Product]] = {"gemv": by_matvec, "gemm": by_matmul}


def fastest_gemvs(shared: Shared) -> dict[tuple[int, int], Product]:
    """For each shape of the model the way that cuBLAS is asked which is faster, over the matrices of some layers."""
    chosen: dict[tuple[int, int], Product] = {}
    groups = [*zip(*(layer.matrices for layer in shared.layers[:8]), strict=True), (shared.head,)]
    for group in groups:
        rows, columns = group[0].shape
        row = torch.randn(1, columns, dtype=torch.bfloat16, device=shared.device)
        out = torch.empty(1, rows, dtype=torch.bfloat16, device=shared.device)
        taken = {}
        for name, way in WAYS.items():

            def work(way: Product = way, group: Any = group, row: Any = row, out: Any = out) -> None:
                for matrix in group:
                    way(out, matrix, row)

            taken[name] = best_time(work)
        chosen[rows, columns] = WAYS[min(taken, key=lambda each: taken[each])]
    return chosen


class Proxy(Decoding):
    """cuBLAS and Triton."""

    name = "proxy (cuBLAS + Triton graph)"

    def __init__(self, shared: Shared, state: State) -> None:
        super().__init__(shared, state)
        config = self.config

        def row(size: int) -> Any:
            return torch.empty(1, size, dtype=torch.bfloat16, device=state.device)

        self._x, self._y, self._normed, self._added = (row(config.hidden_size) for _ in range(4))
        self._qkv = row((config.num_attention_heads + 2 * config.num_key_value_heads) * config.head_dim)
        self._q = torch.empty(1, config.num_attention_heads, config.head_dim, dtype=torch.bfloat16, device=state.device)
        self._both, self._inner = row(2 * config.intermediate_size), row(config.intermediate_size)
        self._logits = row(config.vocab_size)
        self._gemvs = fastest_gemvs(shared)

    def _product(self, out: Any, matrix: Any, row: Any) -> None:
        self._gemvs[tuple(matrix.shape)](out, matrix, row)

    def step(self) -> Any:
        from ..kernels import triton_kernels as norms
        from . import triton_kernels

        state, eps = self.state, self.config.rms_norm_eps
        torch.index_select(self.shared.table, 0, state.token, out=self._x)
        x, other, normed = self._x, self._y, self._normed
        pending: Any = None
        for number, layer in enumerate(self.shared.layers):
            if pending is None:
                norms.rms_norm(normed, x, layer.attention_norm, eps)
            else:
                norms.add_rms_norm(normed, other, pending, x, layer.attention_norm, eps)
                x, other = other, x
            self._product(self._qkv, layer.qkv, normed)
            keys, values = state.keys[number], state.values[number]
            triton_kernels.heads(
                self._q, keys, values, self._qkv, layer.q_norm, layer.k_norm, state.cos, state.sin, state.position, eps
            )
            o = self.attend(self._q, keys, values)
            self._product(self._added, layer.output, o.view(1, -1))
            norms.add_rms_norm(normed, other, self._added, x, layer.feed_norm, eps)
            x, other = other, x
            self._product(self._both, layer.gate_up, normed)
            triton_kernels.silu_mul(self._inner, self._both)
            self._product(self._added, layer.down, self._inner)
            pending = self._added
        norms.add_rms_norm(normed, other, pending, x, self.shared.norm, eps)
        self._product(self._logits, self.shared.head, normed)
        state.advance(self._logits)
        return self._logits
