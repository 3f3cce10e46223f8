"""What a launch works out on the host for compiled code, whatever it was compiled for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tileproof.ir import ops
from tileproof.ir.types import TileType, Walker, evaluate, size_of
from tileproof.ir.walk import uses
from tileproof.language.dtypes import DType
from tileproof.lowering.split_join import recomputed


def places(walker: Walker, dimensions: Mapping[str, int]) -> int:
    """How many places a walker of the parallel space has, where it does not go by segments."""
    count = -(-dimensions[walker.type.dimension] // evaluate(size_of(walker), dimensions))
    return max(count, 1) if walker.type.is_piece else count


def bits_of(dtype: DType, given: Any) -> int:
    """A scalar as a word of 64 bits."""
    from .interpreter import semantics  # most kernels take no scalars

    value = semantics.constant(np.asarray(given).item(), dtype)
    return int.from_bytes(value.tobytes().ljust(8, b"\0"), "little")


def segment_table(borders: npt.NDArray[Any], size: int) -> npt.NDArray[np.int64]:
    """Start, stop, number and segment of every tile of a ragged walk."""
    starts, stops = borders[:-1], borders[1:]
    counts = -(-(stops - starts) // size)
    segment = np.repeat(np.arange(len(counts)), counts)
    turn = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = starts[segment] + turn * size
    return np.ascontiguousarray(np.stack([begin, np.minimum(begin + size, stops[segment]), turn, segment], axis=1))


def requires_scalars(kernel: ops.KernelIR) -> bool:
    """Whether a contract of a kernel looks at scalars: then it may hold for one launch and not for the next."""
    conditions = [ops.Block((), (op.condition,)) for op in kernel.body.ops if isinstance(op, ops.Require)]
    if not conditions:
        return False
    outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
    seen = uses(recomputed(outer, *conditions)).union(*map(uses, conditions))
    return any(parameter.value in seen for parameter in kernel.parameters)


def require(kernel: ops.KernelIR, scalars: Mapping[str, Any], dimensions: Mapping[str, int]) -> None:
    """Tests the contracts of a kernel, which look at dimensions and scalars alone."""
    required = [op for op in kernel.body.ops if isinstance(op, ops.Require)]
    if not required:
        return
    from .interpreter import semantics
    from .interpreter.machine import Machine
    from .interpreter.reports import Reporter
    from .points import Space

    outer = ops.Block(tuple(op for op in kernel.body.ops if not isinstance(op, ops.Parallel)))
    needed = recomputed(outer, *(ops.Block((), (op.condition,)) for op in required))
    given = {
        parameter.value: semantics.constant(np.asarray(scalars[parameter.name]).item(), parameter.value.type.dtype)
        for parameter in kernel.parameters
        if isinstance(parameter.value.type, TileType)
    }
    space = Space()
    report = Reporter(kernel, space, dimensions)
    machine = Machine({}, given, dimensions, space, "forward", report, None)
    machine.block(needed)
    for op in required:
        machine.execute(op)
