"""Tile sizes and schedules of elementwise work: what is taken where nothing was tuned, and what is worth a try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tileproof import Kernel, Schedule
from tileproof.tuning import Choice, Sizes, Tunable, choices

_SMALL: Final = 1 << 18
"""Up to so many elements, what counts is that all processors have some."""
_PLAIN: Final = (Schedule(), Schedule(occupancy=4), Schedule(occupancy=8))
_LASTING: Final = (Schedule(persistent=True, occupancy=4), Schedule(persistent=True, occupancy=8))
_DIRECT: Final = (Schedule(tma=False), Schedule(tma=False, occupancy=8))
"""Without the copy engine: straight to registers."""


@dataclass(frozen=True, slots=True)
class Work:
    """The same work on vectors and on matrices."""

    vector: Tunable
    matrix: Tunable


def vector(kernel: Kernel, **scalars: float) -> Tunable:
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
        full = [Schedule(tma=False, occupancy=16), Schedule(tma=False, occupancy=16, warps=8)]
        yield from choices(kernel, "BN=512 BN=1024 BN=2048", *full)
        yield from choices(kernel, "BN=8192", Schedule(), Schedule(occupancy=2), Schedule(persistent=True, occupancy=2))

    return _tunable(kernel, default, space, scalars)


def plane(kernel: Kernel, *, rows: bool = True, **scalars: float) -> Tunable:
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

    return _tunable(kernel, default, space, scalars)


def square(kernel: Kernel) -> Tunable:
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

    return _tunable(kernel, default, space, {})


def gated(kernel: Kernel) -> Tunable:
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

    return _tunable(kernel, default, space, {})


def _tunable(
    kernel: Kernel,
    default: Callable[[Sizes, str], Choice],
    space: Callable[[Sizes, str], Iterator[Choice]],
    scalars: Mapping[str, float],
) -> Tunable:
    return Tunable(kernel.name.removesuffix("_kernel"), (kernel,), default, space, scalars=scalars)
