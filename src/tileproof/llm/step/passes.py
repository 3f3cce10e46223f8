"""The passes over the operations of a step, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tileproof as tp

from .buffers import KVCache
from .fusion import Fusion, fused
from .ir import Buffer, Op, Step
from .ops import AppendLayers, NewTokenAttention


def lowered(step: Step, table: Sequence[Fusion], cache: KVCache) -> Step:
    """The step that is launched."""
    step = fused(step, table)
    return append_at_end(step, cache)  # attention that appends nothing comes of fusions


def append_at_end(step: Step, cache: KVCache) -> Step:
    """One append for all layers, after the attention of the last, if that of no layer appends.

    Where attention takes the key and value of a new token from its `qkv` row, no operation needs them in their page
    before the next step. The rows of all layers are kept one after the other for it.
    """
    layers = [op for op in step.ops if isinstance(op, NewTokenAttention)]
    if not layers:
        return step
    row = layers[0].qkv
    rows = Buffer((len(layers), *row.shape), row.dtype)
    kept = {op.qkv: Buffer(row.shape, row.dtype, whole=rows, number=number) for number, op in enumerate(layers)}
    done: list[Op] = []
    for op in step.ops:
        done.append(op.with_buffers(kept))
        if op is layers[-1]:
            done.append(_append(layers, rows, cache))
    return replace(step, ops=done)


def _append(layers: Sequence[NewTokenAttention], rows: Buffer, cache: KVCache) -> AppendLayers:
    norms = [op.norms for op in layers if op.norms is not None]
    return AppendLayers(
        qkv=rows, cache=cache.all_layers, rope=layers[0].rope, slot_mapping=layers[0].slot_mapping,
        k_norms=_stacked([norm.k_norm for norm in norms]) if norms else None, eps=norms[0].eps if norms else 0.0,
    )  # fmt: skip


def _stacked(rows: Sequence[Any]) -> Any:
    """Weights of all layers, as rows of one tensor."""
    whole = tp.zeros((len(rows), *rows[0].shape), rows[0].dtype, rows[0].device)
    for number, row in enumerate(rows):
        whole[number].copy_from(row)
    return whole
