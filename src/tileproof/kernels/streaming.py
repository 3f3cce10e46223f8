"""What kernels that multiply by weights share: how a row is added up, and which choices are worth a try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import tileproof as tp
from tileproof import Schedule, f32, f64
from tileproof.diagnostics.codes import Code
from tileproof.tuning import Choice, choices

from . import arrays

# Inside functions.


def extents(weights: Any) -> tuple[int, int]:
    """How many rows and columns a matrix of weights has."""
    if len(weights.shape) != 2:
        raise arrays.refused(
            Code.ARGUMENT_RANK, f"weights of shape {arrays.shown(weights.shape)} are no matrix",
            "pass a matrix with a row for each output",
        )  # fmt: skip
    rows, columns = weights.shape
    return rows, columns


def rows_of(x: Any, columns: int) -> Any:
    """x as a matrix of rows that weights with so many columns take."""
    if not x.shape or x.shape[-1] != columns:
        raise arrays.refused(
            Code.DIMENSION_DIFFERS, f"x has shape {arrays.shown(x.shape)}, and the weights have {columns} columns",
            f"pass x with a last axis of {columns}",
        )  # fmt: skip
    return arrays.matrix(x)


# Inside kernels.


def start(shape: Any, dtype: Any) -> Any:
    """Zeros that products of this element type are added up in."""
    return tp.zeros(shape, f64 if dtype == f64 else f32)


def sum_type(w: Any, x: Any) -> Any:
    """The type that products are added up in."""
    return f64 if w.dtype == f64 or x.dtype == f64 else f32


def lane_sums(w: Any, x: Any, n: Any, BK: int) -> Any:
    """The sums of some rows: those of each lane are carried through the loop and added up once, behind it."""
    kind = sum_type(w, x)
    acc = tp.zeros((n, BK), kind)
    for k in tp.tiles(K=BK):
        acc += (w[n, k].to(kind) * x[k].to(kind)).fill(0)
    return acc.sum(axis=1)


# Choices.

LASTING: Final = Schedule(persistent=True, occupancy=2)
AHEAD: Final = (Schedule(occupancy=2, latency=6), Schedule(persistent=True, latency=8))
LONGEST: Final = 1 << 15
"""Whole rows in one tile are not worth a try beyond."""


def streaming(lanes: tp.Kernel, rows: tp.Kernel, n: int, k: int, target: str, name: str = "BN") -> Choice:
    """What was found to stream best on an H200 and on a CPU with AVX2."""
    if target == "cpu":
        if 512 <= k <= LONGEST:
            return Choice(rows, {name: share_of(n)})
        return Choice(lanes, {name: 16, "BK": fitting(512, k)})
    direct = Schedule(tma=False, occupancy=8)
    if 1 <= k <= 8192:
        # Two rows at once, unless that makes so few programs that the last of them run alone.
        return Choice(rows, {name: 2 if k <= 4096 <= n and name == "BN" else 1}, direct)
    return Choice(lanes, {name: 2, "BK": fitting(1024, k)}, direct)


def share_of(n: int) -> int:
    """Rows of weights for each program of a CPU: what is loaded ahead at the end of a share is wasted on others."""
    return max(min(n // 8 // 8 * 8, 256), 16)


def fitting(size: int, extent: int, least: int = 32) -> int:
    """A tile size, halved while half of it would do."""
    while size > least and size // 2 >= extent:
        size //= 2
    return size


def on_cpu(name: str, lanes: tp.Kernel, rows: tp.Kernel, k: int) -> Iterator[Choice]:
    yield from choices(lanes, f"{name}=16,BK=512 {name}=8,BK=1024 {name}=4,BK=4096")
    if 1 <= k <= LONGEST:
        yield from choices(rows, " ".join(f"{name}={size}" for size in (4, 8, 16, 32, 64)))


def streaming_space(lanes: tp.Kernel, rows: tp.Kernel, k: int, target: str) -> Iterator[Choice]:
    """What is worth a try for a matrix with so many columns and a vector."""
    if target == "cpu":
        yield from on_cpu("BN", lanes, rows, k)
    else:
        yield from by_lanes(lanes)
        yield from by_rows("BN", rows, k)


def by_lanes(kernel: tp.Kernel) -> Iterator[Choice]:
    """Tiles of which the copy engine moves at least 1 KB at a time, and as much as a multiprocessor holds."""
    large = "BN=8,BK=512 BN=16,BK=256 BN=4,BK=1024 BN=8,BK=1024"
    yield from choices(kernel, large, LASTING, Schedule(occupancy=2), *AHEAD)
    direct = Schedule(occupancy=4, tma=False), Schedule(occupancy=8, tma=False)
    yield from choices(kernel, "BN=2,BK=1024 BN=4,BK=1024 BN=2,BK=2048", *direct)
    yield from choices(
        kernel, "BN=8,BK=256 BN=4,BK=512 BN=4,BK=256", Schedule(occupancy=4), Schedule(occupancy=4, latency=6)
    )
    yield from choices(kernel, "BN=32,BK=128 BN=2,BK=2048", LASTING)
    yield from choices(kernel, "BN=16,BK=512", Schedule(occupancy=2, cluster=2))


def by_rows(name: str, kernel: tp.Kernel, k: int) -> Iterator[Choice]:
    """So many programs at once that nothing has to be loaded ahead."""
    for size in (1, 2, 4):
        if k and 2048 <= size * (1 << (k - 1).bit_length()) <= 16384:
            yield from choices(
                kernel, f"{name}={size}", *(Schedule(occupancy=each, tma=False) for each in (4, 8, 16)),
                Schedule(occupancy=4), Schedule(occupancy=2, warps=8, tma=False),
            )  # fmt: skip


# Layers of several rows, with weights that are taken apart on their way to the tensor cores.

_FEW: Final = "BM=16,BN=32 BM=16,BN=64 BM=16,BN=128"
_SOME: Final = "BM=32,BN=64 BM=64,BN=64 BM=64,BN=128 BM=32,BN=128"
_MANY: Final = "BM=128,BN=128 BM=64,BN=128 BM=128,BN=64"
_WIDE: Final = Schedule(group=8, warps=8)
"""For sums and operands that are too large for the registers of four warps."""


def layer_default(kernel: tp.Kernel, m: int, n: int, target: str, **rest: int) -> Choice:
    """Tiles that fit the rows, and leave enough programs for a GPU."""
    if target == "cpu":
        return Choice(kernel, {"BM": fitting(256, m, 8), "BN": fitting(64, n, 16), **rest})
    if m <= 16:
        return Choice(kernel, {"BM": 16, "BN": fitting(64, n), **rest}, Schedule(occupancy=4))
    if m <= 64 or n <= 4096:
        return Choice(kernel, {"BM": fitting(64, m, 16), "BN": fitting(64, n), **rest}, Schedule(occupancy=2))
    return Choice(kernel, {"BM": 128, "BN": 128, **rest}, _WIDE)


def layer_space(kernel: tp.Kernel, m: int, target: str, rest: str) -> Iterator[Choice]:
    """`rest` has the constants that all choices share, as `,G=64`."""
    if target == "cpu":
        tiles = "BM=8,BN=64 BM=32,BN=64 BM=64,BN=64 BM=256,BN=64 BM=128,BN=128 BM=256,BN=256"
        yield from choices(kernel, _with(tiles, rest))
        return
    if m <= 16:
        yield from choices(
            kernel, _with(_FEW, rest), Schedule(occupancy=2), Schedule(occupancy=4), Schedule(occupancy=2, latency=4),
            Schedule(occupancy=2, latency=6),
        )  # fmt: skip
    elif m <= 128:
        yield from choices(
            kernel, _with(_SOME, rest), Schedule(occupancy=2), Schedule(occupancy=2, group=8), Schedule(warps=8)
        )
    else:
        yield from choices(kernel, _with(_MANY, rest), Schedule(group=8), Schedule(group=8, occupancy=2), _WIDE)
        yield from choices(kernel, _with("BM=64,BN=256 BM=128,BN=256", rest), _WIDE)


def _with(tiles: str, rest: str) -> str:
    return " ".join(each + rest for each in tiles.split())
