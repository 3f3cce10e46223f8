"""Rows of tables by index (embedding, gather, scatter), and convolution: addresses are computed from positions.

Indices are i32 or i64; the launch checks that the rows exist. Rows are copied bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import tileproof as tp
from tileproof import In, Index, InOut, Out, Schedule, Sum, T, Unique, f32
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, Sizes, Tunable, choices

from .arrays import as_matrix, choose, launch_error, output_for, view
from .heuristics import FULL, occupied, power_of_two
from .numerics import accumulator


def embedding(ids: Any, table: Any, out: Any = None) -> Any:
    """Row `ids[...]` of table, "V D", for each id: an array of the shape of ids, and one axis more.

    Example:
        x = tk.embedding(tokens, table)
    """
    length = table.shape[-1]
    y, numbers = output_for(out, table, (*ids.shape, length)), _flat(ids)
    choice = choose(EMBEDDING, table, N=numbers.shape[0], V=table.shape[0], D=length)
    choice(as_matrix(y), table, numbers)
    return y


def embedding_backward(dy: Any, ids: Any, rows: int, out: Any = None) -> Any:
    """The gradient of a table of so many rows, in f32, from dy, that of y = embedding(ids, table).

    An id of -1 adds nothing. On a GPU the order in which rows with the same id are added is not fixed, so that the
    last bits may differ from call to call; on the CPU they do not.

    Example:
        dtable = tk.embedding_backward(dy, ids, rows=len(table))
    """
    length = dy.shape[-1]
    total, numbers = output_for(out, dy, (rows, length), f32), _flat(ids)
    choice = choose(EMBEDDING_BACKWARD, dy, N=numbers.shape[0], V=rows, D=length)
    choice(total, as_matrix(dy), numbers)
    return total


def gather_rows(x: Any, ids: Any, out: Any = None) -> Any:
    """Rows of x, "V D", by number, "N D"; an id of -1 gives a row of zeros.

    Its gradient is `embedding_backward`, and where no id is named twice `scatter_rows` puts the rows back.

    Example:
        rows = tk.gather_rows(x, order)
    """
    y = output_for(out, x, (ids.shape[0], x.shape[1]))
    choose(GATHER_ROWS, x, N=ids.shape[0], V=x.shape[0], D=x.shape[1])(y, x, ids)
    return y


def scatter_rows(x: Any, ids: Any, out: Any) -> Any:
    """Puts row n of x, "N D", to row ids[n] of out, "V D"; the others keep their values. Gives `out`.

    No row may be named twice, which the launch makes sure of; an id of -1 puts its row nowhere.

    Example:
        tk.scatter_rows(new, places, table)
    """
    choose(SCATTER_ROWS, x, N=x.shape[0], V=out.shape[0], D=x.shape[1])(out, x, ids)
    return out


def conv2d(x: Any, w: Any, stride: int = 1, padding: int = 0, out: Any = None) -> Any:
    """The convolution of images, "B C H W", with filters, "O C R S": "B O OH OW", as torch's conv2d gives it.

    What lies outside an image is 0, and is not stored. Arrays may have any strides; on a GPU filters stream best if C
    is the axis that is dense in memory.

    Example:
        y = tk.conv2d(x, w, stride=2, padding=1)
    """
    if len(x.shape) != 4 or len(w.shape) != 4:
        raise launch_error(
            Code.ARGUMENT_RANK,
            f"images of shape {tuple(x.shape)} and filters of shape {tuple(w.shape)}",
            "pass images of shape (B, C, H, W) and filters of shape (O, C, R, S)",
        )
    if stride < 1 or padding < 0:
        raise launch_error(
            Code.CONSTANT_VALUE, f"a stride of {stride} and a padding of {padding}", "strides are 1 or more, padding 0"
        )
    (images, channels, *extents), (filters, _, *sizes) = x.shape, w.shape
    high, wide = ((extent + 2 * padding - size) // stride + 1 for extent, size in zip(extents, sizes, strict=True))
    if high < 0 or wide < 0:
        raise launch_error(
            Code.DIMENSION_DIFFERS,
            f"filters of {tuple(sizes)} are larger than images of {tuple(extents)} with {padding} around",
            "pass more padding, or smaller filters",
        )
    y = output_for(out, x, (images, filters, high, wide))
    (H, W), (R, S) = extents, sizes
    choose(CONV2D, x, B=images, C=channels, H=H, W=W, O=filters, R=R, S=S, STRIDE=stride, PAD=padding)(y, x, w)
    return y


def _flat(ids: Any) -> Any:
    return ids if len(ids.shape) == 1 else view(ids, (math.prod(ids.shape),))


@tp.kernel(deny_checks=True)
def embedding_kernel(y: Out[T, "N D"], table: In[T, "V D"], ids: In[Index["V"], "N"], *, BD: int = 4096) -> None:
    """y[n] = table[ids[n]]."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[n, d] = table[ids[n], d]


@tp.kernel(deny_checks=True)
def embedding_whole_kernel(
    y: Out[T, "N D"], table: In[T, "V D"], ids: In[Index["V"], "N"], *, D: int, BN: int = 2
) -> None:
    """The same, BN whole rows in a tile."""
    for n in tp.parallel(N=BN):
        y[n, :] = table[ids[n], :]


@tp.kernel(deny_checks=True)
def embedding_backward_kernel(
    dtable: Sum[f32, "V D"], dy: In[T, "N D"], ids: In[Index["V"], "N"], *, BN: int = 1, BD: int = 1024
) -> None:
    """Adds row n of dy to row ids[n] of dtable, where there is one."""
    for n, d in tp.parallel(N=BN, D=BD):
        dtable[ids[n], d] += dy[n, d].to(f32)


@tp.kernel(deny_checks=True)
def gather_rows_kernel(y: Out[T, "N D"], x: In[T, "V D"], ids: In[Index["V"], "N"], *, BD: int = 4096) -> None:
    """y[n] = x[ids[n]], or 0 where ids[n] is -1."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[n, d] = x.get((ids[n], d), 0)


@tp.kernel(deny_checks=True)
def gather_rows_whole_kernel(
    y: Out[T, "N D"], x: In[T, "V D"], ids: In[Index["V"], "N"], *, D: int, BN: int = 2
) -> None:
    """The same, BN whole rows in a tile. Row 0 is read in place of none, so that no load waits for a test."""
    tp.require(tp.dim("V") >= 1)
    for n in tp.parallel(N=BN):
        at: Any = ids[n]
        y[n, :] = tp.where((at >= 0)[:, None], x[tp.maximum(at, 0), :], tp.zeros((1, 1), x.dtype))


@tp.kernel(deny_checks=True)
def scatter_rows_kernel(y: InOut[T, "V D"], x: In[T, "N D"], ids: In[Unique["V"], "N"], *, BD: int = 4096) -> None:
    """y[ids[n]] = x[n], but for rows without a place; the other rows of y keep their values."""
    for n, d in tp.parallel(N=tp.each, D=BD):
        y[ids[n], d] = x[n, d]


@tp.kernel(deny_checks=True)
def scatter_rows_whole_kernel(
    y: InOut[T, "V D"], x: In[T, "N D"], ids: In[Unique["V"], "N"], *, D: int, BN: int = 2
) -> None:
    """The same, BN whole rows in a tile."""
    for n in tp.parallel(N=BN):
        y[ids[n], :] = x[n, :]


@tp.kernel(deny_checks=True)
def conv2d_kernel(
    y: Out[T, "B O OH=(H+2*PAD-R+1)/STRIDE OW=(W+2*PAD-S+1)/STRIDE"], x: In[T, "B C H W"], w: In[T, "O C R S"], *,
    STRIDE: int = 1, PAD: int = 0, BO: int = 64, BH: int = 4, BW: int = 32, BC: int = 32,
) -> None:  # fmt: skip
    """An implicit GEMM: filters by channels times channels by pixels, for each place of a filter.

    Pixels outside the image are read as 0. BH x BW pixels are the columns of the product.
    """
    for b, o, i, j in tp.parallel(B=tp.each, O=BO, OH=BH, OW=BW):
        acc = tp.zeros((o, BH * BW), accumulator(x.dtype))
        for r in tp.tiles(R=tp.each):
            for s in tp.tiles(S=tp.each):
                rows, columns = i.elements * STRIDE + (r - PAD), j.elements * STRIDE + (s - PAD)
                for c in tp.tiles(C=BC):
                    pixels = x.get((b, c, rows, columns), 0.0).fill(0).reshape(BC, BH * BW)
                    acc = tp.mma(w[o, c, r, s], pixels, acc)
        y[b, o, i, j] = acc.fill(0).reshape(BO, BH, BW)


# Which sizes.


def _rows_default(one: tp.Kernel, whole: tp.Kernel, sizes: Sizes, target: str) -> Choice:
    """Whole rows of 8192 elements together for each program; on the CPU long rows in tiles, in one compiled form."""
    length = power_of_two(sizes["D"])
    if not 1 <= sizes["D"] <= (256 if target == "cpu" else 8192) or not sizes["V"]:
        return Choice(one, {"BD": min(length, 4096)}, Schedule(occupancy=8))
    rows = min(power_of_two(-(-sizes["N"] // FULL)), (2048 if target == "cpu" else 8192) // length)
    return Choice(whole, {"BN": rows}, Schedule(occupancy=8, tma=False))


def _rows_space(one: tp.Kernel, whole: tp.Kernel, sizes: Sizes, target: str) -> Iterator[Choice]:
    held = [Schedule()] if target == "cpu" else [Schedule(occupancy=8), Schedule(occupancy=8, tma=False)]
    direct = [Schedule()] if target == "cpu" else occupied(4, 8, 16, tma=False)
    length = power_of_two(sizes["D"])
    for size in (256, 1024, 4096, 8192):
        if size < 2 * length or size == 256:
            yield from choices(one, f"BD={size}", *held)
    for rows in (1, 2, 4, 8, 16, 32, 64):
        if sizes["D"] and sizes["V"] and rows * length <= 16384:
            yield from choices(whole, f"BN={rows}", *direct)


def _sum_default(sizes: Sizes, target: str) -> Choice:
    length = min(power_of_two(sizes["D"]), 1024)
    rows = min(power_of_two(-(-sizes["N"] // FULL)), max(1024 // length, 1))
    return Choice(embedding_backward_kernel, {"BN": rows, "BD": length}, Schedule(occupancy=8))


def _sum_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    held = [Schedule()] if target == "cpu" else occupied(4, 8)
    tiles = "BN=1,BD=256 BN=1,BD=512 BN=1,BD=1024 BN=1,BD=2048 BN=2,BD=512 BN=4,BD=256 BN=8,BD=128 BN=16,BD=64"
    return choices(embedding_backward_kernel, tiles, *held)


def _conv_default(sizes: Sizes, target: str) -> Choice:
    """Up to 128 pixels of some rows of an image, times 64 filters, which is what tensor cores take at once."""
    is_cpu = target == "cpu"
    columns = min(_pixels(sizes, "W", "S"), 32)
    rows = max(min(_pixels(sizes, "H", "R"), 128 // columns), 1 if is_cpu else 16 // columns)
    filters = min(power_of_two(sizes["O"]), 64) if is_cpu else 64
    channels = min(power_of_two(sizes["C"]), 64) if is_cpu else min(max(power_of_two(sizes["C"]), 16), 32)
    return _conv(sizes, filters, rows, columns, channels, Schedule(occupancy=2))


def _conv_space(sizes: Sizes, target: str) -> Iterator[Choice]:
    held = [Schedule()] if target == "cpu" else [*occupied(1, 2), Schedule(warps=8)]
    wide = _pixels(sizes, "W", "S")
    for filters, pixels, channels in ((64, 64, 32), (64, 128, 32), (128, 64, 32), (128, 128, 32), (128, 128, 64)):
        for columns in {min(wide, 64), min(wide, 16)}:
            for schedule in held:
                yield _conv(sizes, filters, pixels // columns, columns, channels, schedule)


def _pixels(sizes: Sizes, extent: str, size: str) -> int:
    """A power of two of pixels that a row or a column of the result fits."""
    return power_of_two((sizes[extent] + 2 * sizes["PAD"] - sizes[size]) // sizes["STRIDE"] + 1)


def _conv(sizes: Sizes, filters: int, rows: int, columns: int, channels: int, schedule: Schedule) -> Choice:
    tiles = {"BO": filters, "BH": rows, "BW": columns, "BC": channels}
    return Choice(conv2d_kernel, {"STRIDE": sizes["STRIDE"], "PAD": sizes["PAD"], **tiles}, schedule)


def _numbers(rng: Any, arguments: dict[str, Any]) -> None:
    """Numbers of rows."""
    table = next(arguments[name] for name in ("table", "dtable", "x") if name in arguments)
    arguments["ids"][...] = rng.integers(0, max(table.shape[0], 1), arguments["ids"].shape)


def _places(rng: Any, arguments: dict[str, Any]) -> None:
    """Numbers of rows that differ, as far as there are so many."""
    ids, count = arguments["ids"], min(arguments["ids"].shape[0], arguments["y"].shape[0])
    ids[...] = -1
    ids[:count] = rng.permutation(arguments["y"].shape[0])[:count]


def _rows(name: str, one: tp.Kernel, whole: tp.Kernel, inputs: Any) -> Tunable:
    default, space = partial(_rows_default, one, whole), partial(_rows_space, one, whole)
    return Tunable(name, (one, whole), default, space, exact=("D",), inputs=inputs)


EMBEDDING: Final = _rows("embedding", embedding_kernel, embedding_whole_kernel, _numbers)
GATHER_ROWS: Final = _rows("gather_rows", gather_rows_kernel, gather_rows_whole_kernel, _numbers)
SCATTER_ROWS: Final = _rows("scatter_rows", scatter_rows_kernel, scatter_rows_whole_kernel, _places)
EMBEDDING_BACKWARD: Final = Tunable(
    "embedding_backward", (embedding_backward_kernel,), _sum_default, _sum_space, exact=("D",), inputs=_numbers
)
CONV2D: Final = Tunable(
    "conv2d", (conv2d_kernel,), _conv_default, _conv_space, exact=("C", "O", "R", "S", "STRIDE", "PAD"),
)  # fmt: skip
TUNABLES: Final = (EMBEDDING, EMBEDDING_BACKWARD, GATHER_ROWS, SCATTER_ROWS, CONV2D)
