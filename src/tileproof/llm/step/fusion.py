"""The table of fusions: which operations in a row become one, and when.

A fusion names the operations it replaces and builds the one that does the same. It applies where that one writes all
that later operations still read, and nothing that none does. Every entry has its unfused form as the reference, which
tests hold it to: without the table the same step computes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tileproof.kernels.parted_vectors import pieces_of
from tileproof.language.dtypes import F32

from ..models.weights import SPLIT_COLUMNS
from . import ir
from .ir import Buffer, Op, Step, StepClass


@dataclass(frozen=True, slots=True)
class Fusion:
    """Operations in a row that one does as well."""

    pattern: tuple[type[Op], ...]
    fuse: Callable[..., Op | None]
    """Builds that one of the class of the step and the operations; None: it is not faster, or they do not belong."""


def fused(step: Step, table: Sequence[Fusion]) -> Step:
    """The step with every match of the table replaced; of several that match, the first in the table."""
    left, done = list(step.ops), list[Op]()
    while left:
        for fusion in table:
            ops = left[: len(fusion.pattern)]
            if tuple(type(op) for op in ops) == fusion.pattern:
                op = fusion.fuse(step.kind, *ops)
                if op is not None and _writes_what_is_needed(op, ops, left[len(ops) :]):
                    done.append(op)
                    del left[: len(ops)]
                    break
        else:
            done.append(left.pop(0))
    return replace(step, ops=done)


def _writes_what_is_needed(op: Op, ops: Sequence[Op], later: Sequence[Op]) -> bool:
    """Whether it writes the results of the last operation, and of those before what is read later, no more and no less.

    What is written in vain costs time, so a sum that nobody reads again is no reason to write it.
    """
    last = set(ops[-1].writes)
    before = {buffer for each in ops for buffer in each.writes} - last
    read = {buffer for each in later for buffer in each.reads}
    return set(op.writes) == last | {buffer for buffer in before if buffer.is_output or buffer in read}


# One row.


def _norm_linear(kind: StepClass, norm: ir.Norm, linear: ir.Linear) -> Op | None:
    if not _has_one_row(linear.out):
        return None
    return ir.NormLinear(out=linear.out, x=norm.x, norm=norm.weight, eps=norm.eps, weight=linear.weight)


def _norm_linear_silu(kind: StepClass, norm: ir.Norm, linear: ir.Linear, silu: ir.SiluMul) -> Op | None:
    if not _has_one_row(silu.out):
        return None
    return ir.NormLinearSilu(out=silu.out, x=norm.x, norm=norm.weight, eps=norm.eps, weight=linear.weight)


def _norm_split_row(kind: StepClass, norm: ir.Norm, split: ir.SplitRow) -> Op:
    return ir.NormSplitRow(limbs=split.limbs, scales=split.scales, x=norm.x, norm=norm.weight, eps=norm.eps)


def _linear_add(kind: StepClass, linear: ir.Linear, add: ir.Add) -> Op | None:
    if not _has_one_row(add.out):
        return None
    return ir.LinearAdd(out=add.out, x=linear.x, residual=add.residual, weight=linear.weight)


def _split_linear_add(kind: StepClass, linear: ir.SplitLinear, add: ir.Add) -> Op:
    return ir.SplitLinearAdd(
        out=add.out, limbs=linear.limbs, scales=linear.scales, residual=add.residual, weight=linear.weight
    )


def _split_linear_silu(kind: StepClass, linear: ir.SplitLinear, silu: ir.SiluMul) -> Op:
    return ir.SplitLinearSilu(out=silu.out, limbs=linear.limbs, scales=linear.scales, weight=linear.weight)


def _split_linear_silu_split(
    kind: StepClass, linear: ir.SplitLinear, silu: ir.SiluMul, split: ir.SplitRow
) -> Op | None:
    if any(each.shape[1] % SPLIT_COLUMNS for each in (linear.out, silu.out)):
        return None
    return ir.SplitLinearSiluSplit(
        out_limbs=split.limbs, out_scales=split.scales, limbs=linear.limbs, scales=linear.scales, weight=linear.weight
    )


def _split_linear_add_norm_split(
    kind: StepClass, linear: ir.SplitLinear, add: ir.Add, norm: ir.Norm, split: ir.SplitRow
) -> Op | None:
    if linear.out.shape[1] % SPLIT_COLUMNS:
        return None
    return ir.SplitLinearAddNormSplit(
        out_limbs=split.limbs, out_scales=split.scales, total=add.out, limbs=linear.limbs, scales=linear.scales,
        residual=add.residual, weight=linear.weight, norm=norm.weight, eps=norm.eps, partials=(_partials(linear),),
    )  # fmt: skip


def _partials(linear: ir.SplitLinear) -> Buffer:
    """Partial sums of a GEMV with so few rows of weights that a GPU would be left half idle."""
    weight = linear.weight
    blocks = weight.columns // SPLIT_COLUMNS
    share = -(-blocks // pieces_of(weight.rows, blocks))
    return Buffer((-(-blocks // share), weight.rows), F32)


# Rows.


def _add_norm(kind: StepClass, add: ir.Add, norm: ir.Norm) -> Op | None:
    if _has_one_row(norm.out):
        return None
    return ir.AddNorm(
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


def _linear_silu(kind: StepClass, linear: ir.Linear, silu: ir.SiluMul) -> Op | None:
    rows, columns = linear.out.shape[0], linear.weight.columns
    is_faster = rows >= _MANY if columns <= _SHORT else rows >= _VERY_MANY or rows in _FEW
    if linear.weight.kind != "bf16" or not (rows == 1 or is_faster):
        return None
    return ir.LinearSilu(out=silu.out, x=linear.x, weight=linear.weight)


# Attention.


def _rotate_append(kind: StepClass, append: ir.AppendKV, rotate: ir.RotateQueries) -> Op:
    return ir.RotateAppend(
        out=rotate.out, qkv=append.qkv, cache=append.cache, rope=append.rope, slot_mapping=append.slot_mapping,
        norms=None,
    )  # fmt: skip


def _norm_rotate_append(kind: StepClass, norm: ir.NormHeads, append: ir.AppendKV, rotate: ir.RotateQueries) -> Op:
    return ir.RotateAppend(
        out=rotate.out, qkv=norm.qkv, cache=append.cache, rope=append.rope, slot_mapping=append.slot_mapping,
        norms=norm.norms,
    )  # fmt: skip


_FEW_SEQUENCES: Final = 8
"""Up to which attention that appends nothing was measured to be faster: for 1 and for 8."""


def _new_token_attention(
    kind: StepClass, append: ir.AppendKV, rotate: ir.RotateQueries, attention: ir.DecodeAttention
) -> Op | None:
    return _new_token(kind, append.qkv, None, append, attention)


def _norm_new_token_attention(
    kind: StepClass, norm: ir.NormHeads, append: ir.AppendKV, rotate: ir.RotateQueries, attention: ir.DecodeAttention
) -> Op | None:
    return _new_token(kind, norm.qkv, norm.norms, append, attention)


def _new_token(
    kind: StepClass, qkv: Buffer, norms: ir.HeadNorms | None, append: ir.AppendKV, attention: ir.DecodeAttention
) -> Op | None:
    if kind.rows > _FEW_SEQUENCES:
        return None
    return ir.NewTokenAttention(
        out=attention.out, qkv=qkv, cache=append.cache, rope=append.rope, slot_mapping=append.slot_mapping,
        block_table=attention.block_table, norms=norms,
    )  # fmt: skip


def _prompt_attention(kind: StepClass, attention: ir.PrefillAttention) -> Op | None:
    if kind.sequences > 1:
        return None
    return ir.PromptAttention(
        out=attention.out, q=attention.q, cache=attention.cache, block_table=attention.block_table,
        positions=attention.positions,
    )  # fmt: skip


def _has_one_row(buffer: Buffer) -> bool:
    return buffer.shape[0] == 1


NEW_TOKENS: Final = (
    Fusion((ir.NormHeads, ir.AppendKV, ir.RotateQueries, ir.DecodeAttention), _norm_new_token_attention),
    Fusion((ir.AppendKV, ir.RotateQueries, ir.DecodeAttention), _new_token_attention),
)
_EVERYWHERE: Final = (
    Fusion((ir.Linear, ir.Add), _linear_add),
    Fusion((ir.Add, ir.Norm), _add_norm),
    Fusion((ir.NormHeads, ir.AppendKV, ir.RotateQueries), _norm_rotate_append),
    Fusion((ir.AppendKV, ir.RotateQueries), _rotate_append),
)
ON_CPU: Final = (
    Fusion((ir.Norm, ir.Linear, ir.SiluMul), _norm_linear_silu),
    Fusion((ir.Norm, ir.Linear), _norm_linear),
    *_EVERYWHERE,
)
"""On a CPU, where the norm of one row costs each program next to nothing."""
ON_GPU: Final = (
    Fusion((ir.SplitLinear, ir.Add, ir.Norm, ir.SplitRow), _split_linear_add_norm_split),
    Fusion((ir.SplitLinear, ir.SiluMul, ir.SplitRow), _split_linear_silu_split),
    Fusion((ir.Norm, ir.SplitRow), _norm_split_row),
    Fusion((ir.SplitLinear, ir.SiluMul), _split_linear_silu),
    Fusion((ir.SplitLinear, ir.Add), _split_linear_add),
    Fusion((ir.Linear, ir.SiluMul), _linear_silu),
    Fusion((ir.PrefillAttention,), _prompt_attention),
    *NEW_TOKENS,
    *_EVERYWHERE,
)
"""On a GPU, whose programs take so few rows of weights that a norm in each costs more than one apart."""


def fusions_of(device: str) -> tuple[Fusion, ...]:
    """The table of a device. Whatever is not in a table is launched one by one."""
    return ON_CPU if device == "cpu" else ON_GPU
