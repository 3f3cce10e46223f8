"""What numpy and other kernel languages call things, and what is written here instead."""

from __future__ import annotations

from collections.abc import Mapping

_ATOMIC = "declare the tensor {0} and write `tp.update(x, i, t)`: an update is combined, whoever makes it"
_WALK = "walk a dimension: `for n in tp.parallel(N=B):` gives each program its tile `n`"
_NO_BARRIER = "leave it out: within a program accesses happen in order, and programs share nothing"

FUNCTIONS: Mapping[str, str] = {
    "program_id": _WALK,
    "num_programs": '`tp.cdiv(tp.dim("N"), B)` programs walk N in tiles of B',
    "bid": _WALK,
    "load": "index the tensor: `x[n]`, or `x.get(index, fill)` where it may be outside",
    "store": "assign to the tensor: `y[n] = t`",
    "dot": "write `a @ b`, or `tp.mma(a, b, acc)`",
    "matmul": "write `a @ b`, or `tp.mma(a, b, acc)`",
    "atomic_add": "declare the tensor Sum and write `x[i] += t`: an update is combined, whoever makes it",
    "atomic_max": _ATOMIC.format("Max"),
    "atomic_min": _ATOMIC.format("Min"),
    "debug_barrier": _NO_BARRIER,
    "syncthreads": _NO_BARRIER,
    "barrier": _NO_BARRIER,
    "static_range": "write `range(n)`; its variable is an index, not a constant",
    "constexpr": "make it a keyword-only parameter: `*, B: int = 64`",
    "associative_scan": "write `tp.scan(t, by=combine)`",
    "rand": "write `tp.random(seed, offset)`",
    "relu": "write `tp.maximum(t, 0)`",
    "silu": "write `t * tp.sigmoid(t)`",
    "softmax": "write `e = tp.exp(t - t.max())` and `e / e.sum()`",
    "square": "write `t * t`",
    "sqr": "write `t * t`",
    "expm1": "write `tp.exp(t) - 1`",
    "log1p": "write `tp.log(1 + t)`",
    "power": "write `a ** b`",
    "pow": "write `a ** b`",
    "logical_and": "write `a & b`",
    "logical_or": "write `a | b`",
    "logical_not": "write `~a`",
    "concatenate": "write `tp.cat((a, b), axis=0)`",
    "concat": "write `tp.cat((a, b), axis=0)`",
    "zeros_like": "write `tp.zeros(shape, dtype)` with constants and walkers: `tp.zeros((i, j), t.dtype)`",
    "full_like": "write `tp.full(shape, value, dtype)` with constants and walkers: `tp.full((i, j), 1.0)`",
    "expand_dims": "write `t[:, None]`",
    "transpose": "write `t.T`",
    "trans": "write `t.T`",
}
"""Functions of a module, by name."""

ATTRIBUTES: Mapping[str, str] = {
    "astype": "cast it: `.to(f32)`",
    "type": "cast it: `.to(f32)`",
    "float": "cast it: `.to(f32)`",
    "half": "cast it: `.to(f16)`",
    "int": "cast it: `.to(i32)`",
    "transpose": "write `.T`, which reverses the axes",
    "permute": "write `.T`, which reverses the axes",
    "view": "write `.reshape(...)`",
    "flatten": "write `.reshape(n)`",
    "unsqueeze": "write `t[:, None]`",
    "expand": "write `t[:, None]`; what meets it stretches it",
    "item": "a scalar is a tile without axes, and used as it is",
    "size": 'write `.shape`, or `tp.dim("N")` for the extent of a dimension',
}
"""Attributes of tiles, by name."""
