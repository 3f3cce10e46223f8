"""What cuBLAS and cuDNN alone take for the same shapes: the products of a decode step, and those of a prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from .decoding import captured, node_count
from .proxy import Product
from .weights import Shared


def gemvs_of_a_step(shared: Shared, products: dict[tuple[int, int], Product]) -> tuple[Any, int | None]:
    """A graph of only the matrix products of one token, each as cuBLAS does it fastest."""
    matrices = [matrix for layer in shared.layers for matrix in layer.matrices] + [shared.head]

    def row(size: int) -> Any:
        return torch.randn(1, size, dtype=torch.bfloat16, device=shared.device)

    outs = {size: row(size) for size in {matrix.shape[0] for matrix in matrices}}
    ins = {size: row(size) for size in {matrix.shape[1] for matrix in matrices}}

    def work() -> None:
        for matrix in matrices:
            products[tuple(matrix.shape)](outs[matrix.shape[0]], matrix, ins[matrix.shape[1]])

    work()
    torch.cuda.synchronize()
    graph = captured(work)
    return graph, node_count(graph)


def products_of_a_prompt(shared: Shared, length: int) -> Callable[[], Any]:
    """Merged products by cuBLAS and attention by cuDNN of all layers: no norms, no SiLU.

    The shapes are those that the engine has: behind the last attention there is the last row alone.
    Every product takes random rows of its own. Fed by each other, without norms and residuals, all rows become alike
    within some layers: attention averages them. Numbers that repeat cost less power, and it is power that bounds this.
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel

    config = shared.config
    widths = config.hidden_size, config.num_attention_heads * config.head_dim, config.intermediate_size
    x, heads, inner = (torch.randn(length, n, dtype=torch.bfloat16, device=shared.device) for n in widths)

    def work() -> Any:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            for number, layer in enumerate(shared.layers):
                rows = slice(-1 if number == len(shared.layers) - 1 else 0, None)
                qkv = functional.linear(x, layer.qkv).view(1, length, -1, config.head_dim).transpose(1, 2)
                q, k, v = qkv.split(
                    (config.num_attention_heads, config.num_key_value_heads, config.num_key_value_heads), dim=1
                )
                functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
                functional.linear(heads[rows], layer.output)
                functional.linear(x[rows], layer.gate_up)
                functional.linear(inner[rows], layer.down)
        return functional.linear(x[-1:], shared.head)

    with torch.no_grad():
        work()
        torch.cuda.synchronize()
        graph = captured(work)
    return lambda: graph.replay()


def read_rate(size: int = 4 << 30, tries: int = 8) -> float:
    """Bytes that torch's sum reads in a second: the best of some tries."""
    x = torch.ones(size // 4, device="cuda")
    x.sum()
    best = float("inf")
    for _ in range(tries):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        x.sum()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) / 1e3)
    return size / best
