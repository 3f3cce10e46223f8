"""The operations of a step as calls of the kernel library, and the table of those that are fused.

Each takes first what it writes, then scratch, then what it reads, then what it is given: see `step.Op`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tileproof.kernels as tk
from tileproof.kernels.parted_vectors import pieces_of
from tileproof.language.dtypes import F32

from ..models.weights import PARTED, Weight
from .fusion import Fusion
from .ir import Buffer, Op, StepClass


def _by_heads(x: Any, depth: int) -> Any:
    """Rows of heads next to each other, with an axis of heads."""
    return x.reshape(x.shape[0], x.shape[1] // depth, depth)


# One by one.


def embed(x: Any, tokens: Any, table: Any) -> None:
    """Rows of the table of embeddings."""
    tk.embedding(tokens, table, out=x)


def norm(y: Any, x: Any, weight: Any, eps: float) -> None:
    """Rows divided by their root mean square."""
    tk.rms_norm(x, weight, eps, out=y)


def linear(y: Any, *rest: Any) -> None:
    """A product with weights of either kind. Scratch is for activations of 8 bits, which a CPU multiplies fastest."""
    *scratch, x, weight = rest
    if weight.kind == "int8":
        activations: Any = {"activations": "int8", "workspace": tuple(scratch)} if scratch else {}
        tk.int8_linear(x, weight.values, weight.scale, out=y, **activations)
    elif x.shape[0] == 1:
        tk.matvec(weight.values, x[0], out=y[0])
    else:
        tk.linear(x, weight.values, out=y)


def parts(q: Any, grain: Any, x: Any) -> None:
    """One row, taken apart into what tensor cores multiply with 8-bit weights."""
    tk.int8_parts(x[0], out=(q, grain))


def linear_of_parts(y: Any, q: Any, grain: Any, weight: Weight) -> None:
    """A product with 8-bit weights of such a row."""
    tk.parts_matvec(weight.values, weight.scale, (q, grain), out=y[0])


def head_norms(y: Any, x: Any, q_norm: Any, k_norm: Any, eps: float, heads: int, groups: int) -> None:
    """Each head of queries and keys divided by its root mean square; values as they are."""
    x, y = _by_heads(x, q_norm.shape[0]), _by_heads(y, q_norm.shape[0])
    for head in range(heads + 2 * groups):
        if head < heads + groups:
            tk.rms_norm(x[:, head], q_norm if head < heads else k_norm, eps, out=y[:, head])
        else:
            tk.copy(x[:, head], out=y[:, head])


def append(
    turned: Any, x: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, heads: int,
    groups: int,
) -> None:  # fmt: skip
    """Keys turned by their positions, and put into their pages with the values."""
    x, turned = _by_heads(x, keys.shape[3]), _by_heads(turned, keys.shape[3])
    tk.rope(x[:, heads : heads + groups], cos, sin, positions, out=turned)
    tk.paged_append(keys, values, turned, x[:, heads + groups :], slots)


def turn(q: Any, x: Any, cos: Any, sin: Any, positions: Any, heads: int) -> None:
    """Queries turned by their positions."""
    depth = 2 * cos.shape[1]
    tk.rope(_by_heads(x, depth)[:, :heads], cos, sin, positions, out=_by_heads(q, depth))


def attend(o: Any, q: Any, keys: Any, values: Any, table: Any, used: Any) -> None:
    """Attention of one row of each sequence to its pages."""
    depth = keys.shape[3]
    tk.paged_attention(_by_heads(q, depth), keys, values, table, used, out=_by_heads(o, depth))


def attend_rows(o: Any, q: Any, keys: Any, values: Any, table: Any, blocks: Any, owners: Any, positions: Any) -> None:
    """Attention of any rows, in blocks of one sequence each."""
    depth = keys.shape[3]
    queries, out = _by_heads(q, depth), _by_heads(o, depth)
    tk.attend_rows(queries, keys, values, table, blocks, owners, positions, out=out)


def add(z: Any, x: Any, y: Any) -> None:
    """The residual stream and what a layer adds to it."""
    tk.add(x, y, out=z)


def silu_mul(y: Any, x: Any) -> None:
    """The gate, through silu, times the other half."""
    tk.silu_mul(x, out=y)


def last(y: Any, x: Any, rows: Any) -> None:
    """The rows that logits are made of."""
    tk.gather_rows(x, rows, out=y)


def penalise(
    y: Any, logits: Any, prompt: Any, counts: Any, bias: Any, repetition: Any, presence: Any, frequency: Any,
    places: Any,
) -> None:  # fmt: skip
    """Logits changed by what each text has said."""
    tk.penalised(logits, prompt, counts, bias, repetition, presence, frequency, slots=places, out=y)


def count(tokens: Any, counts: Any, places: Any) -> None:
    """Notes what each text says now."""
    tk.count_tokens(counts, tokens, slots=places)


def greedy(token: Any, logits: Any, tokens: int) -> None:
    """The likeliest token of each row."""
    tk.greedy(logits, vocabulary=tokens, out=token)


def chance(
    token: Any, logits: Any, seed: Any, draw: Any, temperature: Any, top_k: Any, top_p: Any, min_p: Any, tokens: int
) -> None:
    """A token of each row by chance."""
    tk.sample(logits, seed, draw, temperature, top_k, top_p, min_p, vocabulary=tokens, out=token)


def advance(
    chosen: Any, tokens: Any, positions: Any, used: Any, slots: Any, draws: Any, table: Any, said: Any, page: int
) -> None:
    """Moves each text on by its token, for the next turn, and notes it for the host."""
    tk.advance(tokens, positions, used, slots, draws, chosen, table, page=page, out=said)


# Fused.


def norm_linear(y: Any, x: Any, norm: Any, eps: float, weight: Weight) -> None:
    """A norm and a product, of one row."""
    if weight.kind == "bf16":
        tk.norm_matvec(weight.values, x[0], norm, eps, out=y[0])
    else:
        tk.norm_int8_matvec(weight.values, weight.scale, x[0], norm, eps, out=y[0])


def norm_linear_silu(y: Any, x: Any, norm: Any, eps: float, weight: Weight) -> None:
    """A norm, the product with gate and up, and what follows, of one row."""
    if weight.kind == "bf16":
        tk.norm_matvec_silu(weight.values, x[0], norm, eps, out=y[0])
    else:
        tk.norm_int8_matvec_silu(weight.values, weight.scale, x[0], norm, eps, out=y[0])


def norm_parts(q: Any, grain: Any, x: Any, norm: Any, eps: float) -> None:
    """A norm, taken apart, of one row."""
    tk.norm_int8_parts(x[0], norm, eps, out=(q, grain))


def linear_add(y: Any, *rest: Any) -> None:
    """A product, added to the residual stream, of one row, which may be taken apart."""
    *x, residual, weight = rest
    if weight.kind == "bf16":
        tk.matvec_add(weight.values, x[0][0], residual[0], out=y[0])
    elif len(x) == 2:
        tk.parts_matvec_add(weight.values, weight.scale, tuple(x), residual[0], out=y[0])
    else:
        tk.int8_matvec_add(weight.values, weight.scale, x[0][0], residual[0], out=y[0])


def linear_silu(y: Any, *rest: Any) -> None:
    """The product with gate and up, and what follows, of one row, which may be taken apart."""
    *x, weight = rest
    if len(x) == 2:
        tk.parts_matvec_silu(weight.values, weight.scale, tuple(x), out=y[0])
    else:
        tk.matvec_silu(weight.values, x[0][0], out=y[0])


def linear_silu_parts(q: Any, grain: Any, *rest: Any) -> None:
    """The same, taken apart again."""
    *x, weight = rest
    tk.parts_silu_parts(weight.values, weight.scale, tuple(x), out=(q, grain))


def linear_add_norm_parts(
    q: Any, grain: Any, total: Any, pieces: Any, *rest: Any
) -> None:
    """A product of a row taken apart, in pieces, the residual stream with all of them, and its norm, taken apart."""
    *x, residual, weight, norm, eps = rest
    tk.parts_matvec_pieces(weight.values, weight.scale, tuple(x), pieces.shape[0], out=pieces)
    tk.add_norm_int8_parts(residual[0], pieces, norm, eps, out=(q, grain, total[0]))


def add_norm(y: Any, total: Any, x: Any, other: Any, norm: Any, eps: float) -> None:
    """The residual stream with what a layer adds, and its norm."""
    tk.add_rms_norm(x, other, norm, eps, out=(y, total))


def heads_of(
    q: Any, x: Any, q_norm: Any, k_norm: Any, eps: float, heads: int, groups: int, keys: Any, values: Any, cos: Any,
    sin: Any, positions: Any, slots: Any, *again: Any,
) -> None:  # fmt: skip
    """Queries and keys normalised and turned, keys and values put into their pages."""
    out = _by_heads(q, keys.shape[3])
    tk.norm_rope_append(x, keys, values, cos, sin, positions, slots, q_norm, k_norm, eps, out=out)


def plain_heads_of(
    q: Any, x: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, *again: Any
) -> None:
    """The same without norms."""
    tk.norm_rope_append(x, keys, values, cos, sin, positions, slots, out=_by_heads(q, keys.shape[3]))


def attend_new(
    o: Any, x: Any, q_norm: Any, k_norm: Any, eps: float, heads: int, groups: int, keys: Any, values: Any, cos: Any,
    sin: Any, positions: Any, *again: Any,
) -> None:  # fmt: skip
    """Attention of one row of each sequence, from its product; its key and value are appended later: see `late`."""
    *_, table, _ = again
    tk.attend_new(x, keys, values, table, cos, sin, positions, q_norm, k_norm, eps, out=_by_heads(o, keys.shape[3]))


def attend_new_plain(
    o: Any, x: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, *again: Any
) -> None:
    """The same without norms."""
    *_, table, _ = again
    tk.attend_new(x, keys, values, table, cos, sin, positions, out=_by_heads(o, keys.shape[3]))


def append_layers(
    x: Any, keys: Any, values: Any, cos: Any, sin: Any, positions: Any, slots: Any, k_norm: Any, eps: float
) -> None:
    """Keys and values of one row of each sequence put into the pages of all layers."""
    tk.append_layers(x, keys, values, cos, sin, positions, slots, k_norm, eps)


def rows_linear_silu(y: Any, x: Any, weight: Weight) -> None:
    """The product with gate and up, and what follows, of many rows."""
    tk.silu_linear(x, weight.values, out=y)


def attend_prompt(o: Any, q: Any, keys: Any, values: Any, table: Any, blocks: Any, owners: Any, positions: Any) -> None:
    """Attention of rows that are all of one sequence."""
    depth = keys.shape[3]
    tk.attend_prompt(_by_heads(q, depth), keys, values, table[0], positions, out=_by_heads(o, depth))


def _is_one_row(kind: StepClass, ops: Sequence[Op]) -> bool:
    return all(buffer.shape[0] == 1 for op in ops for buffer in op.writes)


def _is_one_row_of_bf16(kind: StepClass, ops: Sequence[Op]) -> bool:
    weights = [each for op in ops for each in op.given if isinstance(each, Weight)]
    return _is_one_row(kind, ops) and all(weight.kind == "bf16" for weight in weights)


def _is_gated_row(kind: StepClass, ops: Sequence[Op]) -> bool:
    return _is_one_row_of_bf16(kind, ops) or (_is_one_row(kind, ops) and len(ops[0].reads) == 2)


def _is_parted(kind: StepClass, ops: Sequence[Op]) -> bool:
    return len(ops[0].reads) == 2 and all(op.writes[0].shape[1] % PARTED == 0 for op in ops)


def _pieces(ops: Sequence[Op]) -> tuple[Buffer, ...]:
    """Of a product with so few rows of weights that a GPU would be left half idle."""
    weight = next(each for each in ops[0].given if isinstance(each, Weight))
    blocks = weight.columns // PARTED
    share = -(-blocks // pieces_of(weight.rows, blocks))
    return (Buffer((-(-blocks // share), weight.rows), F32),)


def _has_rows(kind: StepClass, ops: Sequence[Op]) -> bool:
    return not _is_one_row(kind, ops)


_MANY: Final = 128
"""Rows from which on gate and up are better multiplied together with what follows."""
_SHORT: Final = 4096
"""Inputs up to which they are: the longer a sum, the less it matters to store its result once more."""
_VERY_MANY: Final = 2048
"""Rows from which on they are with any inputs: then the results that need not be stored are hundreds of megabytes."""
_FEW: Final = range(129, 257)
"""Rows with which they are too: two tiles of them, with any inputs."""


def _is_gated_product_of_rows(kind: StepClass, ops: Sequence[Op]) -> bool:
    weight: Weight = ops[0].given[0]
    rows = ops[0].writes[0].shape[0]
    is_faster = rows >= _MANY if weight.columns <= _SHORT else rows >= _VERY_MANY or rows in _FEW
    return weight.kind == "bf16" and is_faster


def _is_one_sequence(kind: StepClass, ops: Sequence[Op]) -> bool:
    return kind.sequences == 1


def _are_few(kind: StepClass, ops: Sequence[Op]) -> bool:
    return kind.rows <= 8


LATE: Final = (
    Fusion(("head_norms", "append", "turn", "attend"), "attend_new", attend_new, _are_few),
    Fusion(("append", "turn", "attend"), "attend_new_plain", attend_new_plain, _are_few),
)
"""Attention that appends nothing: `late` does that for all layers at once. Seen to be faster for 1 text and for 8."""
_EVERYWHERE: Final = (
    Fusion(("linear", "add"), "linear_add", linear_add, _is_one_row),
    Fusion(("add", "norm"), "add_norm", add_norm, _has_rows, keeps=True),
    Fusion(("head_norms", "append", "turn"), "heads", heads_of),
    Fusion(("append", "turn"), "plain_heads", plain_heads_of),
)
ON_CPU: Final = (
    Fusion(("norm", "linear", "silu_mul"), "norm_linear_silu", norm_linear_silu, _is_one_row),
    Fusion(("norm", "linear"), "norm_linear", norm_linear, _is_one_row),
    *_EVERYWHERE,
)
"""What is fused on a CPU, where the norm of one row costs each program next to nothing."""
ON_GPU: Final = (
    Fusion(
        ("linear", "add", "norm", "parts"), "linear_add_norm_parts", linear_add_norm_parts, _is_parted, keeps=True,
        scratch=_pieces,
    ),
    Fusion(("linear", "silu_mul", "parts"), "linear_silu_parts", linear_silu_parts, _is_parted),
    Fusion(("norm", "parts"), "norm_parts", norm_parts),
    Fusion(("linear", "silu_mul"), "linear_silu", linear_silu, _is_gated_row),
    Fusion(("linear", "silu_mul"), "rows_linear_silu", rows_linear_silu, _is_gated_product_of_rows),
    Fusion(("attend_rows",), "attend_prompt", attend_prompt, _is_one_sequence),
    *LATE,
    *_EVERYWHERE,
)
"""What is fused on a GPU, whose programs take so few rows of weights that a norm in each costs more than one apart."""


def fusions_of(device: str) -> tuple[Fusion, ...]:
    """What is fused on a device, by default. Whatever is not in a table is done one by one."""
    return ON_CPU if device == "cpu" else ON_GPU
