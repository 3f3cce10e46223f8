"""What to write instead of names that other languages and libraries have: Triton, CUDA, numpy, torch, Python."""

from __future__ import annotations

from collections.abc import Mapping

_ATOMIC = "declare the tensor {0} and write `tp.update(x, i, t)`: an update is combined, whoever makes it"
_WALK = "walk a dimension: `for n in tp.parallel(N=B):` gives each program its tile `n`"
_NO_BARRIER = "leave it out: within a program accesses happen in order, and programs share nothing"
_NO_SORT = "tiles are not sorted: sort before the launch, or take the greatest of what is left with `argmax` in a loop"
_NO_BUFFER = "leave it out: a tile is a value, `t = x[n]`, and the compiler chooses where it lies"
_NO_PROMISE = "leave it out: what can be known of an index is proved"

FUNCTION_HINTS: Mapping[str, str] = {
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
    "static_iter": "write `tp.static_range(n)`",
    "constexpr": "make it a keyword-only parameter: `*, B: int = 64`",
    "sort": _NO_SORT,
    "argsort": _NO_SORT,
    "topk": _NO_SORT,
    "shared": _NO_BUFFER,
    "shared_memory": _NO_BUFFER,
    "alloc": _NO_BUFFER,
    "empty": "write `tp.zeros(shape, dtype)`, or use the value that was to be put there",
    "empty_like": "write `tp.zeros(shape, dtype)`, or use the value that was to be put there",
    "ones": "write `tp.full(shape, 1.0)`",
    "ones_like": "write `tp.full(shape, 1.0)`, with constants and walkers: `tp.full((i, j), 1.0)`",
    "array": "write a tuple of constants outside the kernel, or pass a tensor",
    "flip": 'load from the other end: `x[tp.dim("N") - 1 - n.elements]`',
    "roll": 'load from where the element was: `x[(n.elements + s) % tp.dim("N")]`',
    "pad": "read past the edge with `x.get(index, fill)`",
    "outer": "write `a[:, None] * b[None, :]`",
    "einsum": "write `a @ b`, or multiply and reduce: `(a * b).sum(axis=1)`",
    "inner": "write `(a * b).sum()`",
    "vdot": "write `(a * b).sum()`",
    "prod": "write `tp.reduce(t, by=lambda a, b: a * b, identity=1.0)`",
    "cumprod": "write `tp.scan(t, by=lambda a, b: a * b)`",
    "stack": "write `tp.cat((a[None, :], b[None, :]), axis=0)`",
    "squeeze": "index the axis of length 1 of the tensor by 0, or reduce it: `t.sum(axis=1)`",
    "broadcast_to": "leave it out: what meets a longer axis repeats",
    "multiple_of": _NO_PROMISE,
    "max_contiguous": _NO_PROMISE,
    "cast": "write `t.to(f32)`",
    "float16": "write `f16`",
    "float32": "write `f32`",
    "float64": "write `f64`",
    "bfloat16": "write `bf16`",
    "int8": "write `i8`",
    "int32": "write `i32`",
    "int64": "write `i64`",
    "uint8": "write `u8`",
    "nonzero": "write `tp.where(condition, a, b)`: a tile has as many elements whatever they hold",
    "gather": "index the tensor: `x[ids[n], :]`",
    "take": "index the tensor: `x[ids[n], :]`",
    "scatter_add": "declare the tensor Sum and write `s[ids[n]] += t`",
    "associative_scan": "write `tp.scan(t, by=combine)`",
    "rand": "write `tp.random(seed, offset)`",
    "relu": "write `tp.maximum(t, 0)`",
    "silu": "write `t * tp.sigmoid(t)`",
    "softmax": "write `e = tp.exp(t - t.max())` and `e / e.sum()`",
    "norm": "write `tp.sqrt((t * t).sum())`",
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
    "transpose": "write `t.T`, or `tp.permute(t, (0, 2, 1))`",
    "trans": "write `t.T`",
}
"""What to write instead of functions that other languages have, by name."""

ATTRIBUTE_HINTS: Mapping[str, str] = {
    "astype": "cast it: `.to(f32)`",
    "type": "cast it: `.to(f32)`",
    "float": "cast it: `.to(f32)`",
    "half": "cast it: `.to(f16)`",
    "int": "cast it: `.to(i32)`",
    "transpose": "write `.T`, which reverses the axes, or `.permute(0, 2, 1)`",
    "view": "write `.reshape(...)`",
    "flatten": "write `.reshape(n)`",
    "unsqueeze": "write `t[:, None]`",
    "expand": "write `t[:, None]`; what meets it stretches it",
    "item": "a scalar is a tile without axes, and used as it is",
    "clone": "leave it out: tiles are immutable values",
    "copy": "leave it out: tiles are immutable values",
    "contiguous": "leave it out: tiles are immutable values",
    "size": 'write `.shape`, or `tp.dim("N")` for the extent of a dimension',
}
"""What to write instead of attributes that tiles of other languages have, by name."""

_DTYPES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u"}


def dtype_hint(value: object) -> str:
    """What to write instead of an element type of numpy or torch; empty if it is none."""
    name = (getattr(value, "__name__", None) or str(value)).rpartition(".")[2]
    letters = name.rstrip("0123456789")
    return f"write `{_DTYPES[letters]}{name[len(letters) :]}`" if letters in _DTYPES and letters != name else ""


NAME_HINTS: Mapping[str, str] = {
    "threadIdx": _WALK,
    "blockIdx": _WALK,
    "blockDim": _WALK,
    "gridDim": _WALK,
    "cuda": _WALK,
    "tl": "write `tp` instead of `tl`",
}
"""What to write instead of names that are always there in other languages."""

BUILTIN_HINTS: Mapping[str, str] = {
    "float": "cast it: `x.to(f32)`",
    "int": "cast it: `x.to(i32)`",
    "bool": "compare it: `x != 0`",
    "len": '`x.shape[0]` is the length of an axis, `tp.dim("N")` the extent of a dimension',
    "pow": "write `a ** b`",
    "divmod": "write `a // b` and `a % b`",
    "sorted": _NO_SORT,
    "list": "write the items out, in parentheses",
    "tuple": "write the items out, in parentheses",
    "isinstance": "leave it out: `x.dtype` is known while compiling",
    "slice": "write `start:stop` in the brackets, with constants",
}
"""What to write instead of Python's own functions."""

_LISTS = "lists do not grow: carry a value through the loop, `total = total + t`, or write the items out"
LIST_HINTS: Mapping[str, str] = dict.fromkeys(("append", "extend", "insert", "pop"), _LISTS)
"""What to write instead of methods of lists."""
