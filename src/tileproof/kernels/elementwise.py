"""Elementwise: sums, products, activations and their gradients, dropout, casts, copies and transposes.

Arrays may have any number of axes. Contiguous arrays are viewed as one long vector, others as matrices with any
strides; nothing is copied first. 16-bit floats are computed in f32 and rounded once. NaN and infinity propagate as in
IEEE arithmetic, unless a function states otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import tileproof as tp
from tileproof import In, Kernel, Out, Schedule, T, U, f32, f64, i64
from tileproof.diagnostics.codes import Code
from tileproof.diagnostics.errors import KernelError
from tileproof.language.dtypes import BOOL, DType
from tileproof.tuning import Choice, Sizes, Tunable, choices, with_constants

from .arrays import (
    as_matrix,
    choose,
    element_of,
    is_dense,
    launch_error,
    merged_shape,
    output_for,
    shape_error,
    view,
)
from .heuristics import direct, occupied
from .numerics import silu, wide

_SMALL: Final = 1 << 18
"""Up to so many elements, what counts is that all processors have some."""
_PLAIN: Final = (Schedule(), *occupied(4, 8))
_LASTING: Final = occupied(4, 8, persistent=True)
_DIRECT: Final = (Schedule(tma=False), direct(8))
"""Without the copy engine: straight to registers."""


@dataclass(frozen=True, slots=True)
class Work:
    """The same work on vectors and on matrices."""

    vector: Tunable
    matrix: Tunable


def vector(name: str, kernel: Kernel, **scalars: float) -> Tunable:
    """Of a vector N in tiles of BN."""

    def default(sizes: Sizes, target: str) -> Choice:
        is_small = sizes["N"] <= _SMALL
        if target == "cpu":
            return Choice(kernel, {"BN": 1024 if is_small else 16384})
        return Choice(kernel, {"BN": 512 if is_small else 1024}, _DIRECT[1])

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BN=1024 BN=4096 BN=16384 BN=65536")
            return
        yield from choices(kernel, "BN=1024 BN=2048 BN=4096", *_PLAIN, *_LASTING, *_DIRECT)
        yield from choices(kernel, "BN=512", Schedule(), Schedule(occupancy=16), *_DIRECT)
        yield from choices(kernel, "BN=512 BN=1024 BN=2048", direct(16), direct(16, 8))
        yield from choices(kernel, "BN=8192", Schedule(), Schedule(occupancy=2), Schedule(persistent=True, occupancy=2))

    return Tunable(name, (kernel,), default, space, scalars=scalars)


def plane(name: str, kernel: Kernel, *, rows: bool = True, **scalars: float) -> Tunable:
    """Of a matrix M N in tiles of BM rows (one, if `rows` says so) and BN columns.

    A tile of 16 x 128 is read in pieces that memory likes whichever way an array lies.
    """

    def default(sizes: Sizes, target: str) -> Choice:
        if not rows:
            return Choice(kernel, {"BN": 1024})
        if target == "cpu" and sizes["M"] * sizes["N"] > _SMALL:
            return Choice(kernel, {"BM": 64, "BN": 256})
        return Choice(kernel, {"BM": 16, "BN": 128})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        tiles = "BM=16,BN=128 BM=1,BN=2048 BM=4,BN=512 BM=8,BN=256 BM=32,BN=64 BM=64,BN=64 BM=64,BN=256"
        schedules = () if target == "cpu" else (*_PLAIN, *_DIRECT)
        yield from choices(kernel, tiles if rows else "BN=512 BN=1024 BN=2048 BN=4096", *schedules)

    return Tunable(name, (kernel,), default, space, scalars=scalars)


def square(name: str, kernel: Kernel) -> Tunable:
    """Of a matrix M N in tiles of BM rows and BN columns, read one way and written the other."""

    def default(sizes: Sizes, target: str) -> Choice:
        if target == "cpu" and sizes["M"] * sizes["N"] > _SMALL:
            return Choice(kernel, {"BM": 256, "BN": 16})
        return Choice(kernel, {"BM": 64, "BN": 64})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BM=16,BN=16 BM=32,BN=32 BM=64,BN=64 BM=16,BN=256 BM=256,BN=16 BM=128,BN=128")
            return
        tiles = "BM=64,BN=64 BM=32,BN=64 BM=64,BN=32 BM=128,BN=64 BM=64,BN=128 BM=32,BN=32"
        yield from choices(kernel, tiles, *_PLAIN, _LASTING[0], _DIRECT[1])

    return Tunable(name, (kernel,), default, space)


def gated(name: str, kernel: Kernel) -> Tunable:
    """Of rows N with two halves of I, in tiles of BN rows and BI columns."""

    def default(sizes: Sizes, target: str) -> Choice:
        rows, columns = sizes["N"], sizes["I"]
        if target == "cpu":
            return Choice(kernel, {"BN": 8, "BI": 1024} if rows * columns > _SMALL else {"BN": 1, "BI": 512})
        return Choice(kernel, {"BN": 1, "BI": 1024 if rows * columns > _SMALL else 512})

    def space(sizes: Sizes, target: str) -> Iterator[Choice]:
        if target == "cpu":
            yield from choices(kernel, "BN=1,BI=512 BN=1,BI=4096 BN=8,BI=1024 BN=8,BI=4096 BN=32,BI=1024")
            return
        yield from choices(kernel, "BN=1,BI=512 BN=1,BI=1024 BN=1,BI=2048", *_PLAIN, *_LASTING, _DIRECT[1])
        yield from choices(kernel, "BN=2,BI=512 BN=4,BI=512 BN=2,BI=1024 BN=8,BI=256 BN=1,BI=4096", *_PLAIN)

    return Tunable(name, (kernel,), default, space)


_SLOPE: Final = 2 * math.sqrt(2 / math.pi)
_CUBE: Final = 0.044715
_DENSITY: Final = 1 / math.sqrt(2 * math.pi)
_ROOT: Final = math.sqrt(0.5)


# What is computed of elements.


def gelu_of(v: Any) -> Any:
    """v times the standard normal distribution function at v."""
    return 0.5 * v * (1.0 + tp.erf(v * _ROOT))


def gelu_tanh_of(v: Any) -> Any:
    """The approximation by tanh. (1 + tanh(z)) / 2 is sigmoid(2 z), which keeps its digits where tanh is near -1."""
    return v * tp.sigmoid(_SLOPE * v * (1.0 + _CUBE * v * v))


def gelu_slope(v: Any) -> Any:
    """The derivative of gelu: the share below v, and v times the density there."""
    return 0.5 * (1.0 + tp.erf(v * _ROOT)) + v * _DENSITY * tp.exp(-0.5 * v * v)


def gelu_tanh_slope(v: Any) -> Any:
    """The derivative of the approximation by tanh."""
    share = tp.sigmoid(_SLOPE * v * (1.0 + _CUBE * v * v))
    return share + v * share * (1.0 - share) * _SLOPE * (1.0 + 3.0 * _CUBE * v * v)


# Kernels. A vector is one without leading axes; matrices are for arrays with gaps between their rows.


@tp.kernel(deny_checks=True)
def add_kernel(z: Out[T, "M... N"], x: In[T, "M... N"], y: In[T, "M... N"], *, BM: int = 16, BN: int = 2048) -> None:
    """z = x + y."""
    for m, n in tp.parallel(M=BM, N=BN):
        z[m, n] = x[m, n] + y[m, n]


@tp.kernel(deny_checks=True)
def mul_kernel(z: Out[T, "M... N"], x: In[T, "M... N"], y: In[T, "M... N"], *, BM: int = 16, BN: int = 2048) -> None:
    """z = x * y."""
    for m, n in tp.parallel(M=BM, N=BN):
        z[m, n] = x[m, n] * y[m, n]


@tp.kernel(deny_checks=True)
def gelu_kernel(
    y: Out[T, "M... N"], x: In[T, "M... N"], *, BM: int = 16, BN: int = 2048, TANH: int = 0
) -> None:
    """y = gelu(x), exactly or approximated by tanh."""
    for m, n in tp.parallel(M=BM, N=BN):
        y[m, n] = gelu_tanh_of(wide(x[m, n])) if TANH == 1 else gelu_of(wide(x[m, n]))


@tp.kernel(deny_checks=True)
def gelu_backward_kernel(
    dx: Out[T, "M... N"], dy: In[T, "M... N"], x: In[T, "M... N"], *, BM: int = 16, BN: int = 2048, TANH: int = 0
) -> None:
    """dx = dy * gelu'(x)."""
    for m, n in tp.parallel(M=BM, N=BN):
        slope = wide(dy[m, n])
        dx[m, n] = slope * (gelu_tanh_slope(wide(x[m, n])) if TANH == 1 else gelu_slope(wide(x[m, n])))


@tp.kernel(deny_checks=True)
def cast_kernel(y: Out[U, "M... N"], x: In[T, "M... N"], *, BM: int = 16, BN: int = 2048) -> None:
    """y = x in the element type of y."""
    for m, n in tp.parallel(M=BM, N=BN):
        y[m, n] = x[m, n].to(y.dtype)


@tp.kernel(deny_checks=True)
def copy_kernel(y: Out[T, "M... N"], x: In[T, "M... N"], *, BM: int = 16, BN: int = 2048) -> None:
    """y = x."""
    for m, n in tp.parallel(M=BM, N=BN):
        y[m, n] = x[m, n]


@tp.kernel(deny_checks=True)
def dropout_kernel(
    y: Out[T, "N"], x: In[T, "N"], p: f32, scale: f64, seed: i64, offset: i64, *, BN: int = 2048
) -> None:
    """Element n becomes 0 if random number offset + n is below p, and is multiplied by `scale` otherwise."""
    for n in tp.parallel(N=BN):
        values = wide(x[n])
        is_kept = tp.random(seed, offset + n.elements) >= p
        y[n] = tp.where(is_kept, values * scale.to(values.dtype), 0)


@tp.kernel(deny_checks=True)
def dropout_matrix_kernel(
    y: Out[T, "M N"], x: In[T, "M N"], p: f32, scale: f64, seed: i64, offset: i64, *, BN: int = 1024
) -> None:
    """Dropout with the elements counted row by row, as in the vector of the same elements."""
    for m, n in tp.parallel(M=tp.each, N=BN):
        values = wide(x[m, n])
        is_kept = tp.random(seed, offset + m * tp.dim("N") + n.elements) >= p
        y[m, n] = tp.where(is_kept, values * scale.to(values.dtype), 0)


@tp.kernel(deny_checks=True)
def copy_blocks_kernel(y: Out[T, "A B M N"], x: In[T, "A B M N"], *, BM: int = 16, BN: int = 128) -> None:
    """y = x, for layouts that no matrix has: heads that were moved before positions, for instance."""
    for a, b, m, n in tp.parallel(A=tp.each, B=tp.each, M=BM, N=BN):
        y[a, b, m, n] = x[a, b, m, n]


@tp.kernel(deny_checks=True)
def transpose_kernel(y: Out[T, "N M"], x: In[T, "M N"], *, BM: int = 64, BN: int = 64) -> None:
    """y = x.T."""
    for m, n in tp.parallel(M=BM, N=BN):
        y[n, m] = x[m, n].T


# Gated activations, on rows of which the first half is the gate.


@tp.kernel(deny_checks=True)
def silu_mul_kernel(y: Out[T, "N I"], x: In[T, "N 2 I"], *, BN: int = 1, BI: int = 2048) -> None:
    """y = silu(gate) * up, where silu(t) = t * sigmoid(t)."""
    for n, i in tp.parallel(N=BN, I=BI):
        gate, up = wide(x[n, 0, i]), wide(x[n, 1, i])
        y[n, i] = silu(gate) * up


@tp.kernel(deny_checks=True)
def silu_mul_backward_kernel(
    dx: Out[T, "N 2 I"], dy: In[T, "N I"], x: In[T, "N 2 I"], *, BN: int = 1, BI: int = 2048
) -> None:
    """From dy, the gradient of silu(gate) * up, those of gate and up."""
    for n, i in tp.parallel(N=BN, I=BI):
        gate, up, grad = wide(x[n, 0, i]), wide(x[n, 1, i]), wide(dy[n, i])
        share = tp.sigmoid(gate)
        dx[n, 0, i] = grad * up * share * (1.0 + gate * (1.0 - share))
        dx[n, 1, i] = grad * gate * share


# How each is cut into tiles.

def _work(name: str, kernel: Kernel) -> Work:
    return Work(vector(name, kernel.with_leading(0)), plane(f"{name}_matrix", kernel))


def _by_tanh(name: str, work: Work) -> Work:
    return Work(with_constants(name, work.vector, TANH=1), with_constants(f"{name}_matrix", work.matrix, TANH=1))


_ADD, _MUL, _CAST, _COPY = (
    _work("add", add_kernel), _work("mul", mul_kernel), _work("cast", cast_kernel), _work("copy", copy_kernel)
)  # fmt: skip
_GELU, _GELU_BACKWARD = _work("gelu", gelu_kernel), _work("gelu_backward", gelu_backward_kernel)
_GELU_TANH, _GELU_BACKWARD_TANH = _by_tanh("gelu_tanh", _GELU), _by_tanh("gelu_backward_tanh", _GELU_BACKWARD)
_DROPOUT: Final = Work(
    vector("dropout", dropout_kernel, p=0.1, scale=1 / 0.9, seed=1, offset=0),
    plane("dropout_matrix", dropout_matrix_kernel, rows=False, p=0.1, scale=1 / 0.9, seed=1, offset=0),
)
_COPY_BLOCKS: Final = plane("copy_blocks", copy_blocks_kernel)
_TRANSPOSE: Final = square("transpose", transpose_kernel)
_SILU_MUL: Final = gated("silu_mul", silu_mul_kernel)
_SILU_MUL_BACKWARD: Final = gated("silu_mul_backward", silu_mul_backward_kernel)

TUNABLES: Final[tuple[Tunable, ...]] = (
    *(
        each
        for work in (_ADD, _MUL, _GELU, _GELU_TANH, _GELU_BACKWARD, _GELU_BACKWARD_TANH, _DROPOUT, _CAST, _COPY)
        for each in (work.vector, work.matrix)
    ),
    _COPY_BLOCKS, _TRANSPOSE, _SILU_MUL, _SILU_MUL_BACKWARD,
)  # fmt: skip


# Functions.


def add(x: Any, y: Any, out: Any = None) -> Any:
    """x + y, of arrays of one shape and one element type. Integers wrap.

    Example:
        z = tk.add(x, y)
    """
    return _each(_ADD, output_for(out, x, x.shape), x, y)


def mul(x: Any, y: Any, out: Any = None) -> Any:
    """x * y, of arrays of one shape and one element type. Integers wrap.

    Example:
        z = tk.mul(x, y)
    """
    return _each(_MUL, output_for(out, x, x.shape), x, y)


def gelu(x: Any, approximate: Literal["none", "tanh"] = "none", out: Any = None) -> Any:
    """x times the standard normal distribution function at x, exactly or in the approximation by tanh.

    At -inf it is NaN, a product of zero and infinity, as in torch.

    Example:
        y = tk.gelu(x, approximate="tanh")
    """
    work = _GELU_TANH if _is_tanh(approximate) else _GELU
    return _each(work, output_for(out, x, x.shape), x)


def gelu_backward(dy: Any, x: Any, approximate: Literal["none", "tanh"] = "none", out: Any = None) -> Any:
    """The gradient of x from dy, that of `gelu(x, approximate)`. It is NaN where x is infinite.

    Example:
        dx = tk.gelu_backward(dy, x)
    """
    work = _GELU_BACKWARD_TANH if _is_tanh(approximate) else _GELU_BACKWARD
    return _each(work, output_for(out, x, x.shape), dy, x)


def dropout(x: Any, p: float, seed: int, offset: int = 0, out: Any = None) -> Any:
    """Each element becomes 0 with probability p, NaN and infinity too, and is divided by 1 - p otherwise.

    Which ones follows from `seed` and from the number of an element, counted row by row from `offset`, alone: not from
    the device, the layout or the tiles. The gradient is the same function of dy. A call uses up as many numbers as x
    has elements: let the next begin after them, or give it another seed.

    Example:
        y = tk.dropout(x, 0.1, seed=42)
        dx = tk.dropout(dy, 0.1, seed=42)
    """
    if not 0 <= p <= 1:
        raise launch_error(Code.CONTRACT, f"the probability of a dropout is {p}", "pass a number from 0 to 1")
    scale = 1 / (1 - p) if p < 1 else 0.0
    return _each(_DROPOUT, output_for(out, x, x.shape), x, scalars=(p, scale, seed, offset))


def cast(x: Any, dtype: DType | type[bool], out: Any = None) -> Any:
    """x in another element type. Floats round to nearest even; integers and 8-bit floats saturate, and NaN becomes 0
    as an integer.

    Example:
        y = tk.cast(x, tp.bf16)
    """
    element = dtype if isinstance(dtype, DType) else BOOL
    y = output_for(out, x, x.shape, element)
    if element_of(y) != element:
        raise launch_error(
            Code.ARGUMENT_DTYPE,
            f"`out` holds {element_of(y)}, and the result is {element}",
            f"pass an array of {element}, or none: then one is made",
        )
    return _each(_CAST, y, x)


def copy(x: Any, out: Any = None) -> Any:
    """A copy of x, whose elements lie in a row unless `out` lies otherwise.

    Example:
        y = tk.copy(x.T)
    """
    y = output_for(out, x, x.shape)
    if len(x.shape) <= 2 or (is_dense(x) and is_dense(y)):
        return _each(_COPY, y, x)
    shape = merged_shape(x, y)
    if len(shape) <= 2:
        _launch_work(_COPY, (view(y, shape), view(x, shape)), ())
        return y
    if len(shape) > 4:
        raise launch_error(
            Code.ARGUMENT_RANK, f"x has {len(shape)} axes that do not follow each other in memory", "copy it in parts"
        )
    shape = (*(1,) * (4 - len(shape)), *shape)
    sizes = dict(zip("ABMN", shape, strict=True))
    launch(_COPY_BLOCKS, x, view(y, shape), view(x, shape), **sizes)
    return y


def transpose(x: Any, out: Any = None) -> Any:
    """x.T of a matrix, with its rows in a row.

    Example:
        y = tk.transpose(x)
    """
    if len(x.shape) != 2:
        raise launch_error(
            Code.ARGUMENT_RANK, f"x has shape {tuple(x.shape)}, and a matrix has two axes", "transpose one matrix of it"
        )
    rows, columns = x.shape
    y = output_for(out, x, (columns, rows))
    launch(_TRANSPOSE, x, y, x, M=rows, N=columns)
    return y


def silu_mul(x: Any, out: Any = None) -> Any:
    """silu(gate) * up, where the first half of each row of x is the gate and the second is up.

    So x is what one GEMM with the weights of both gives. silu(t) = t * sigmoid(t), NaN at -inf as in torch.

    Example:
        y = tk.silu_mul(tk.linear(x, w))  # w has 2 I rows, y has I columns
    """
    y = output_for(out, x, (*x.shape[:-1], _half(x)))
    flat = as_matrix(y)
    rows, columns = flat.shape
    launch(_SILU_MUL, x, flat, view(x, (rows, 2, columns)), N=rows, I=columns)
    return y


def silu_mul_backward(dy: Any, x: Any, out: Any = None) -> Any:
    """The gradient of x from dy, that of `silu_mul(x)`.

    Example:
        dx = tk.silu_mul_backward(dy, x)
    """
    dx = output_for(out, x, x.shape)
    shape = (*x.shape[:-1], _half(x))
    if tuple(dy.shape) != shape:
        raise shape_error(dy.shape, shape)
    grad = as_matrix(dy)
    rows, columns = grad.shape
    halves = (rows, 2, columns)
    launch(_SILU_MUL_BACKWARD, x, view(dx, halves), grad, view(x, halves), N=rows, I=columns)
    return dx


# How arrays are seen.


def _each(work: Work, output: Any, *inputs: Any, scalars: tuple[float, ...] = ()) -> Any:
    """Does work on arrays of one shape, and returns the output."""
    shape = tuple(output.shape)
    for each in inputs:
        if tuple(each.shape) != shape:
            raise shape_error(each.shape, shape)
    arguments = (output, *inputs)
    if len(shape) != 1:
        is_flat = all(map(is_dense, arguments))
        arguments = tuple(view(each, (math.prod(shape),)) if is_flat else as_matrix(each) for each in arguments)
    _launch_work(work, arguments, scalars)
    return output


def _launch_work(work: Work, arguments: tuple[Any, ...], scalars: tuple[float, ...]) -> None:
    shape, source = arguments[0].shape, arguments[-1]
    if len(shape) == 1:
        launch(work.vector, source, *arguments, *scalars, N=shape[0])
    else:
        launch(work.matrix, source, *arguments, *scalars, M=shape[0], N=shape[1])


def launch(work: Tunable, like: Any, *arguments: Any, **sizes: int) -> None:
    """Launches what is chosen for these sizes. What is wrong with a proved kernel is the element type it is given."""
    choice = choose(work, like, **sizes)
    try:
        choice(*arguments)
    except KernelError as error:
        raise launch_error(
            Code.ARGUMENT_DTYPE,
            f"`{work.name}` does not take arrays of {element_of(like)}",
            "cast them: `tk.cast(x, tp.f32)`",
        ) from error


def _is_tanh(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise launch_error(Code.CONTRACT, f"gelu has no approximation {approximate!r}", 'pass "none" or "tanh"')
    return approximate == "tanh"


def _half(x: Any) -> int:
    """How many columns the gate has."""
    if not x.shape or x.shape[-1] % 2:
        raise launch_error(
            Code.DIMENSION_DIFFERS,
            f"x has shape {tuple(x.shape)}, and its rows do not have two halves of one length",
            "pass rows of 2 I elements, the gate and then up",
        )
    return int(x.shape[-1]) // 2
