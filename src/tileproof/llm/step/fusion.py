"""The table of fusions: which operations in a row become one, and when.

A fusion names the operations it replaces and builds the one that does the same. It applies where that one writes all
that later operations still read, and nothing that none does. Every entry has its unfused form as the reference, which
tests hold it to: without the table the same step computes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tileproof.kernels.int8_gemv import split_count
from tileproof.language.dtypes import F32

from ..models.weights import SPLIT_COLUMNS
from . import ops
from .ir import Buffer, Op, Step, StepClass


@dataclass(frozen=True, slots=True)
class Fusion:
    """Operations in a row that one does as well."""

    pattern: tuple[type[Op], ...]
    fuse: Callable[..., Op | None]
    """Builds that one of the class of the step and the operations; None: it is not faster, or they do not belong."""


def fused(step: Step, table: Sequence[Fusion]) -> Step:
    """The step with every match of the table replaced; of several that match, the first in the table."""
    last_read = {buffer: place for place, op in enumerate(step.ops) for buffer in op.reads}
    done: list[Op] = []
    place = 0
    while place < len(step.ops):
        for fusion in table:
            row = step.ops[place : place + len(fusion.pattern)]
            if tuple(type(op) for op in row) == fusion.pattern:
                op = fusion.fuse(step.kind, *row)
                if op is not None and set(op.writes) == _needed(row, place + len(row), last_read):
                    break
        else:
            row, op = step.ops[place : place + 1], step.ops[place]
        done.append(op)
        place += len(row)
    return replace(step, ops=done)


def _needed(row: Sequence[Op], end: int, last_read: Mapping[Buffer, int]) -> set[Buffer]:
    """The results of the last operation, and of those before what operations from `end` on read.

    What is written in vain costs time, so a sum that none reads again is no reason to write it.
    """
    before = (buffer for op in row[:-1] for buffer in op.writes)
    return {*row[-1].writes, *(each for each in before if each.is_output or last_read.get(each, 0) >= end)}


# One row.


def _norm_linear(kind: StepClass, norm: ops.Norm, linear: ops.Linear) -> Op | None:
    if not _has_one_row(linear.out):
        return None
    return ops.NormLinear(out=linear.out, x=norm.x, norm=norm.weight, eps=norm.eps, weight=linear.weight)


def _norm_linear_silu(kind: StepClass, norm: ops.Norm, linear: ops.Linear, silu: ops.SiluMul) -> Op | None:
    if not _has_one_row(silu.out):
        return None
    return ops.NormLinearSilu(out=silu.out, x=norm.x, norm=norm.weight, eps=norm.eps, weight=linear.weight)


def _norm_split_row(kind: StepClass, norm: ops.Norm, split: ops.SplitRow) -> Op:
    return ops.NormSplitRow(limbs=split.limbs, scales=split.scales, x=norm.x, norm=norm.weight, eps=norm.eps)


def _linear_add(kind: StepClass, linear: ops.Linear, add: ops.Add) -> Op | None:
    if not _has_one_row(add.out):
        return None
    return ops.LinearAdd(out=add.out, x=linear.x, residual=add.residual, weight=linear.weight)


def _split_linear_add(kind: StepClass, linear: ops.SplitLinear, add: ops.Add) -> Op:
    return ops.SplitLinearAdd(
        out=add.out, limbs=linear.limbs, scales=linear.scales, residual=add.residual, weight=linear.weight
    )


def _split_linear_silu(kind: StepClass, linear: ops.SplitLinear, silu: ops.SiluMul) -> Op:
    return ops.SplitLinearSilu(out=silu.out, limbs=linear.limbs, scales=linear.scales, weight=linear.weight)


def _split_linear_silu_split(
    kind: StepClass, linear: ops.SplitLinear, silu: ops.SiluMul, split: ops.SplitRow
) -> Op | None:
    if any(buffer.shape[1] % SPLIT_COLUMNS for buffer in (linear.out, silu.out)):
        return None
    return ops.SplitLinearSiluSplit(
        out_limbs=split.limbs, out_scales=split.scales, limbs=linear.limbs, scales=linear.scales, weight=linear.weight
    )


def _split_linear_add_norm_split(
    kind: StepClass, linear: ops.SplitLinear, add: ops.Add, norm: ops.Norm, split: ops.SplitRow
) -> Op | None:
    if linear.out.shape[1] % SPLIT_COLUMNS:
        return None
    return ops.SplitLinearAddNormSplit(
        out_limbs=split.limbs, out_scales=split.scales, total=add.out, limbs=linear.limbs, scales=linear.scales,
        residual=add.residual, weight=linear.weight, norm=norm.weight, eps=norm.eps, partials=(_partials(linear),),
    )  # fmt: skip


def _partials(linear: ops.SplitLinear) -> Buffer:
    """Partial sums of a GEMV with so few rows of weights that a GPU would be left half idle."""
    weight = linear.weight
    blocks = weight.columns // SPLIT_COLUMNS
    share = -(-blocks // split_count(weight.rows, blocks))
    return Buffer((-(-blocks // share), weight.rows), F32)


# Rows.


def _add_norm(kind: StepClass, add: ops.Add, norm: ops.Norm) -> Op | None:
    if _has_one_row(norm.out):
        return None
    return ops.AddNorm(
        out=norm.out, total=add.out, residual=add.residual, x=add.x, norm=norm.weight, eps=norm.eps
    )


_MANY: Final = 128
"""Rows from which on gate and up are better multiplied together with what follows."""
_SHORT: Final = 4096
"""Inputs up to which they are: the longer a sum, the less it matters to store its result once more."""
_VERY_MANY: Final = 2048
"""Rows from which on they are with any inputs: then the results that need not be stored are hundreds of megabytes."""
_FEW: Final = range(129, 257)
"""Rows with which they are too: two tiles of them, with any inputs."""


def _linear_silu(kind: StepClass, linear: ops.Linear, silu: ops.SiluMul) -> Op | None:
    rows, columns = linear.out.shape[0], linear.weight.columns
    is_faster = rows >= _MANY if columns <= _SHORT else rows >= _VERY_MANY or rows in _FEW
    if linear.weight.kind != "bf16" or not (rows == 1 or is_faster):
        return None
    return ops.LinearSilu(out=silu.out, x=linear.x, weight=linear.weight)


# Attention.


def _rotate_append(kind: StepClass, append: ops.AppendKV, rotate: ops.RotateQueries) -> Op:
    return ops.RotateAppend(
        out=rotate.out, qkv=append.qkv, cache=append.cache, rope=append.rope, slot_mapping=append.slot_mapping,
        norms=None,
    )  # fmt: skip


def _norm_rotate_append(kind: StepClass, norm: ops.NormHeads, append: ops.AppendKV, rotate: ops.RotateQueries) -> Op:
    return ops.RotateAppend(
        out=rotate.out, qkv=norm.qkv, cache=append.cache, rope=append.rope, slot_mapping=append.slot_mapping,
        norms=norm.norms,
    )  # fmt: skip


_FEW_SEQUENCES: Final = 8
"""Up to which attention that appends nothing was measured to be faster: for 1 and for 8."""


def _new_token_attention(
    kind: StepClass, append: ops.AppendKV, rotate: ops.RotateQueries, attention: ops.DecodeAttention
) -> Op | None:
    return _new_token(kind, append.qkv, None, append, attention)


def _norm_new_token_attention(
    kind: StepClass, norm: ops.NormHeads, append: ops.AppendKV, rotate: ops.RotateQueries,
    attention: ops.DecodeAttention,
) -> Op | None:  # fmt: skip
    return _new_token(kind, norm.qkv, norm.norms, append, attention)


def _new_token(
    kind: StepClass, qkv: Buffer, norms: ops.HeadNorms | None, append: ops.AppendKV, attention: ops.DecodeAttention
) -> Op | None:
    if kind.rows > _FEW_SEQUENCES:
        return None
    return ops.NewTokenAttention(
        out=attention.out, qkv=qkv, cache=append.cache, rope=append.rope, slot_mapping=append.slot_mapping,
        block_table=attention.block_table, norms=norms,
    )  # fmt: skip


def _prompt_attention(kind: StepClass, attention: ops.PrefillAttention) -> Op | None:
    if kind.sequences > 1:
        return None
    return ops.PromptAttention(
        out=attention.out, q=attention.q, cache=attention.cache, block_table=attention.block_table,
        positions=attention.positions,
    )  # fmt: skip


def _has_one_row(buffer: Buffer) -> bool:
    return buffer.shape[0] == 1


NEW_TOKENS: Final = (
    Fusion((ops.NormHeads, ops.AppendKV, ops.RotateQueries, ops.DecodeAttention), _norm_new_token_attention),
    Fusion((ops.AppendKV, ops.RotateQueries, ops.DecodeAttention), _new_token_attention),
)
_EVERYWHERE: Final = (
    Fusion((ops.Linear, ops.Add), _linear_add),
    Fusion((ops.Add, ops.Norm), _add_norm),
    Fusion((ops.NormHeads, ops.AppendKV, ops.RotateQueries), _norm_rotate_append),
    Fusion((ops.AppendKV, ops.RotateQueries), _rotate_append),
)
ON_CPU: Final = (
    Fusion((ops.Norm, ops.Linear, ops.SiluMul), _norm_linear_silu),
    Fusion((ops.Norm, ops.Linear), _norm_linear),
    *_EVERYWHERE,
)
"""On a CPU, where the norm of one row costs each program next to nothing."""
ON_GPU: Final = (
    Fusion((ops.SplitLinear, ops.Add, ops.Norm, ops.SplitRow), _split_linear_add_norm_split),
    Fusion((ops.SplitLinear, ops.SiluMul, ops.SplitRow), _split_linear_silu_split),
    Fusion((ops.Norm, ops.SplitRow), _norm_split_row),
    Fusion((ops.SplitLinear, ops.SiluMul), _split_linear_silu),
    Fusion((ops.SplitLinear, ops.Add), _split_linear_add),
    Fusion((ops.Linear, ops.SiluMul), _linear_silu),
    Fusion((ops.PrefillAttention,), _prompt_attention),
    *NEW_TOKENS,
    *_EVERYWHERE,
)
"""On a GPU, whose programs take so few rows of weights that a norm in each costs more than one apart."""


def fusions_of(device: str) -> tuple[Fusion, ...]:
    """The table of a device. Whatever is not in a table is launched one by one."""
    return ON_CPU if device == "cpu" else ON_GPU
