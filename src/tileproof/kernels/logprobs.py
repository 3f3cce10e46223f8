"""Logprobs: the log_softmax of logits at one token of each row, or at the likeliest tokens.

Everything is computed in f32. A row that is all -inf, or contains NaN or +inf, has logprobs of NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, Out, Schedule, T, f32, i32
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from . import arrays
from .arrays import choose
from .heuristics import direct, is_split, lane_choice, lane_space, split_size, tile_size
from .reductions import element_of, keys_of, lane_step, position_of, without_key
from .softmaxes import merge_rows

# Of one token.


def row_step(state: Any, part: Any) -> Any:
    """The greatest logit, and the sum of exp(x - greatest), with one more tile."""
    top, total = state
    higher = tp.maximum(top, part.max())
    return higher, total * tp.exp(top - higher) + tp.exp(part - higher).sum()


def logprob_of(logit: Any, token: Any, state: Any) -> Any:
    """The logprob of a token with this logit; NaN if it is none."""
    top, total = state
    return tp.where(token >= 0, logit - top - tp.log(total), tp.inf - tp.inf)


@tp.kernel(deny_checks=True)
def token_logprobs_kernel(
    y: Out[f32, "R"], logits: In[T, "R V"], tokens: In[Index["V"], "R"], *, SV: int = 0, BV: int = 2048
) -> None:
    """The logprob of the token of each row; each SV columns may be taken by programs of their own."""
    for r, z in tp.parallel(R=tp.each, V=tp.split(SV)):
        state: Any = tp.lowest, 0.0  # finite: a first tile of all -inf must not make NaN
        for v in z.tiles(BV):
            state = row_step(state, logits[r, v].to(f32))
        state = tp.join(state, over=z, by=merge_rows)
        y[r] = logprob_of(logits.get((r, tokens[r]), 0).to(f32), tokens[r], state)


def token_logprobs(logits: Any, tokens: Any, vocabulary: int | None = None, out: Any = None) -> Any:
    """The logprob of token tokens[r] in row r of logits, "R V", as f32: the log_softmax of the row there.

    Columns from `vocabulary` on do not take part. A token of -1 has a logprob of NaN.

    Example:
        >>> logprobs = tk.token_logprobs(np.zeros((1, 4), np.float32), np.array([2], np.int32))
        >>> np.exp(logprobs).round(3).tolist()
        [0.25]
    """
    rows = logits if vocabulary is None else logits[:, :vocabulary]
    y = arrays.output_for(out, logits, (rows.shape[0],), f32)
    choose(TOKEN_LOGPROBS, rows, R=rows.shape[0], V=rows.shape[1])(y, rows, tokens)
    return y


# Of the likeliest.


@tp.kernel(deny_checks=True)
def top_logprobs_kernel(
    logprob: Out[f32, "R K"], token: Out[Index["V"], "R K"], logits: In[T, "R V"], *, K: int, BV: int = 1024,
    BL: int = 256,
) -> None:  # fmt: skip
    """The logprobs of the K greatest of each row in falling order, taken out as in `top_k_kernel`, and their tokens."""
    for r in tp.parallel(R=tp.each):
        lanes: Any = tp.full((BV,), -tp.inf, f32), tp.zeros((BV,), i32)
        for v in tp.tiles(V=BV):
            lanes = lane_step(lanes, logits[r, v].to(f32).fill(-tp.inf), v.number)
        top, total = lanes[0].max(), 0.0
        for v in tp.tiles(V=BV):
            total += tp.exp(logits[r, v].to(f32) - top).sum()
        keys = keys_of(lanes, BV, tp.dim("V"))
        for k in tp.tiles(K=tp.each):
            best = keys.max()
            logprob[r, k] = element_of(best, lanes[0]) - top - tp.log(total)
            token[r, k] = tp.where(best == 0, -1, tp.clip(position_of(best), 0, tp.dim("V") - 1))  # type: ignore[index]
            keys = without_key(keys, best, (logits, r, f32), BL)


def top_logprobs(
    logits: Any, count: int, vocabulary: int | None = None, out: tuple[Any, Any] | None = None
) -> tuple[Any, Any]:
    """The greatest logprobs of each row of logits, "R V", in falling order as f32, "R K", and their tokens as i32.

    Of equal logits the lower token comes first. Columns from `vocabulary` on do not take part.

    Example:
        >>> logprobs, tokens = tk.top_logprobs(np.array([[0, 9, 0, 9]], np.float32), 3)
        >>> tokens.tolist()
        [[1, 3, 0]]
    """
    if arrays.element_of(logits).bits > 32:
        raise arrays.launch_error(Code.ARGUMENT_DTYPE, "top_logprobs takes up to 32 bits", "cast to f32 first")
    rows = logits if vocabulary is None else logits[:, :vocabulary]
    length, columns = rows.shape
    if not 0 <= count <= columns:
        raise arrays.launch_error(
            Code.DIMENSION_DIFFERS, f"the {count} likeliest of {columns} tokens", f"ask for 0 to {columns}"
        )
    arguments = (None, None) if out is None else out
    logprob, token = (
        arrays.output_for(each, logits, (length, count), kind) for each, kind in zip(arguments, (f32, i32), strict=True)
    )
    if count:
        choose(TOP_LOGPROBS, rows, R=length, V=columns, K=count)(logprob, token, rows)
    return logprob, token


# Choices.


def _default(sizes: Sizes, target: str) -> Choice:
    rows, columns = sizes["R"], sizes["V"]
    if target != "cpu" and is_split(rows, columns):
        return Choice(token_logprobs_kernel, {"SV": split_size(rows, columns, 2048), "BV": 2048}, direct(8))
    held = Schedule() if target == "cpu" else direct(8)
    return Choice(token_logprobs_kernel, {"BV": tile_size(columns, 2048)}, held)


def _space(sizes: Sizes, target: str) -> Iterator[Choice]:
    if target == "cpu":
        yield from choices(token_logprobs_kernel, "BV=512 BV=1024 BV=2048 BV=4096")
        return
    yield from choices(token_logprobs_kernel, "BV=1024 BV=2048 BV=4096", direct(4), direct(8))
    pieces = "SV=4096,BV=2048 SV=8192,BV=2048 SV=16384,BV=2048 SV=16384,BV=4096"
    yield from choices(token_logprobs_kernel, pieces, direct(4), direct(8))


def _top_default(sizes: Sizes, target: str) -> Choice:
    most, schedule = (1024, Schedule()) if target == "cpu" else (2048, Schedule(warps=8))
    return lane_choice(top_logprobs_kernel, "V", sizes["V"], most, schedule)


def _tokens(rng: Any, arguments: dict[str, Any]) -> None:
    """Any tokens."""
    tokens = arguments["tokens"]
    tokens[...] = rng.integers(0, arguments["logits"].shape[1], tokens.shape)


TOKEN_LOGPROBS: Final = Tunable("token_logprobs", (token_logprobs_kernel,), _default, _space, inputs=_tokens)
TOP_LOGPROBS: Final = Tunable(
    "top_logprobs", (top_logprobs_kernel,), _top_default,
    lambda sizes, target: lane_space(top_logprobs_kernel, "V", sizes["V"], target), exact=("K",),
)  # fmt: skip
TUNABLES: Final = (TOKEN_LOGPROBS, TOP_LOGPROBS)
